//! Handles Ctrl-C, SIGTERM and SIGHUP: the first signal stops the run, the second ends the program at once.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mle_star_domain::trouble::Trouble;
use mle_star_process::ignores_hangup;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

use crate::exit::{Exit, Failure};
use crate::output;

/// SIGXFSZ.
const TOO_LARGE: i32 = nix::libc::SIGXFSZ;

/// The signals received so far.
#[derive(Clone)]
pub struct Signals {
    cancel: watch::Receiver<bool>,
    terminated: Arc<AtomicBool>,
}

/// Starts to listen; requires a runtime.
///
/// # Errors
/// A handler cannot be installed.
pub fn listen() -> Result<Signals, Failure> {
    handled().map_err(|error| {
        Failure::failed(Trouble::new(format!("cannot listen for signals: {error}"), "try again"))
    })
}

fn handled() -> io::Result<Signals> {
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    // Under nohup a run outlives its terminal.
    let mut hangup = if ignores_hangup() { None } else { Some(signal(SignalKind::hangup())?) };
    // With `ulimit -f` the default action would kill the program; with a handler the write fails with an error.
    drop(signal(SignalKind::from_raw(TOO_LARGE))?);
    let (sender, cancel) = watch::channel(false);
    let terminated = Arc::new(AtomicBool::new(false));
    let was_terminated = Arc::clone(&terminated);
    tokio::spawn(async move {
        for time in 0.. {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => was_terminated.store(true, Ordering::Relaxed),
                () = received_by(&mut hangup) => was_terminated.store(true, Ordering::Relaxed),
            }
            if time > 0 {
                std::process::exit(i32::from(exit(&was_terminated).code()));
            }
            // Fails if the run has ended already.
            let _ = sender.send(true);
            // A terminal or pager that blocks must not delay the second signal.
            tokio::task::spawn_blocking(|| output::talk("\nstopping; press Ctrl-C again to stop at once"));
        }
    });
    Ok(Signals { cancel, terminated })
}

impl Signals {
    /// Becomes true when the run should stop.
    pub fn cancel(&self) -> &watch::Receiver<bool> {
        &self.cancel
    }

    /// The exit code, if a signal was received.
    pub fn stopped(&self) -> Option<Exit> {
        self.cancel.borrow().then(|| self.exit())
    }

    /// The exit code for the first signal.
    pub fn exit(&self) -> Exit {
        exit(&self.terminated)
    }
}

async fn received_by(signal: &mut Option<Signal>) {
    match signal {
        Some(signal) => drop(signal.recv().await),
        None => std::future::pending().await,
    }
}

fn exit(terminated: &AtomicBool) -> Exit {
    if terminated.load(Ordering::Relaxed) { Exit::Terminated } else { Exit::Interrupted }
}
