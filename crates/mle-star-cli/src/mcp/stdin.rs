//! Standard input, and whether it has ended.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::watch;

/// Becomes true when the input has ended.
pub type InputEnd = watch::Receiver<bool>;

/// Standard input that says when it has ended: the server waits for calls that are in progress, which could otherwise
/// take minutes.
pub struct Stdin {
    input: tokio::io::Stdin,
    ended: watch::Sender<bool>,
}

impl Stdin {
    pub fn new() -> (Self, InputEnd) {
        let (ended, end) = watch::channel(false);
        (Self { input: tokio::io::stdin(), ended }, end)
    }
}

impl AsyncRead for Stdin {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = ready!(Pin::new(&mut self.input).poll_read(context, buffer));
        if read.is_err() || buffer.filled().len() == before {
            self.ended.send_replace(true);
        }
        Poll::Ready(read)
    }
}
