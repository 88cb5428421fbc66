//! Ctrl-C, SIGTERM and the end of the terminal: the first asks the run to stop, the second ends the program at once.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

use crate::exit::Exit;
use crate::output;

/// SIGXFSZ.
const TOO_LARGE: i32 = nix::libc::SIGXFSZ;

/// What the user or the system asked for.
pub struct Signals {
    cancel: watch::Receiver<bool>,
    terminated: Arc<AtomicBool>,
}

/// Begins to listen; needs a runtime.
///
/// # Errors
/// The system refuses.
pub fn listen() -> io::Result<Signals> {
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    // Under nohup a run shall outlive its terminal.
    let mut hangup = if ignores_hangup() { None } else { Some(signal(SignalKind::hangup())?) };
    // Where `ulimit -f` is, a file that grows too large is an error that is told, not the program's death.
    drop(signal(SignalKind::from_raw(TOO_LARGE))?);
    let (sender, cancel) = watch::channel(false);
    let terminated = Arc::new(AtomicBool::new(false));
    let heard = Arc::clone(&terminated);
    tokio::spawn(async move {
        for time in 0.. {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => heard.store(true, Ordering::Relaxed),
                () = heard_by(&mut hangup) => heard.store(true, Ordering::Relaxed),
            }
            if time > 0 {
                std::process::exit(i32::from(exit(&heard).code()));
            }
            // Nobody listens when the run is over already.
            let _ = sender.send(true);
            // A terminal or a pager that takes nothing must not keep the second signal from being heard.
            tokio::task::spawn_blocking(|| output::talk("\nstopping; once more to stop at once"));
        }
    });
    Ok(Signals { cancel, terminated })
}

impl Signals {
    /// Turns true when the run shall stop.
    pub fn cancel(&self) -> &watch::Receiver<bool> {
        &self.cancel
    }

    /// Waits until the run shall stop.
    pub async fn heard(&self) {
        let mut cancel = self.cancel.clone();
        if cancel.wait_for(|wanted| *wanted).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// The exit code of what was heard.
    pub fn exit(&self) -> Exit {
        exit(&self.terminated)
    }
}

async fn heard_by(signal: &mut Option<Signal>) {
    match signal {
        Some(signal) => drop(signal.recv().await),
        None => std::future::pending().await,
    }
}

/// Was this process started with SIGHUP ignored? Where the system does not tell, it was not.
fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}

fn exit(terminated: &AtomicBool) -> Exit {
    if terminated.load(Ordering::Relaxed) { Exit::Terminated } else { Exit::Interrupted }
}
