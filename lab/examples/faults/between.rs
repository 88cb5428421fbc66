//! A process between the program and a runner, which damages their connection once.
//!
//! The campaign's binary starts itself again as this process: `between FOLDER HOW WAY BYTES COMMAND…`.

use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::world::ended_within;

/// The argument that makes the binary such a process.
pub const NAME: &str = "between";

/// What happens to the connection.
pub const HOWS: [&str; 3] = ["cut", "silent", "trickle"];
/// The directions, of which one is counted.
pub const WAYS: [&str; 2] = ["outcomes", "data"];

/// Exists once a connection was chosen.
const CHOSEN: &str = "connection-chosen";
/// Exists once it was damaged.
const STRUCK: &str = "connection-struck";

/// What passes both directions of a damaged connection.
#[derive(Clone)]
struct Damage {
    how: String,
    bytes: usize,
    struck: Arc<AtomicBool>,
    folder: Arc<Path>,
}

/// The command of a runner whose first connection is damaged after this many bytes.
pub fn command(folder: &Path, how: &str, way: &str, bytes: usize, runner: &Value) -> io::Result<Value> {
    let own = std::env::current_exe()?;
    let mut words =
        vec![json!(own), json!(NAME), json!(folder), json!(how), json!(way), json!(bytes.to_string())];
    words.extend(runner.as_array().into_iter().flatten().cloned());
    Ok(json!(words))
}

/// Whether the connection was damaged.
pub fn has_struck(folder: &Path) -> bool {
    folder.join(STRUCK).exists()
}

/// Is this process, with these arguments.
pub fn main(arguments: &[String]) -> ExitCode {
    pass(arguments).unwrap_or_else(|error| {
        let _ = writeln!(io::stderr(), "between: {error}");
        ExitCode::from(2)
    })
}

fn pass(arguments: &[String]) -> io::Result<ExitCode> {
    let [folder, how, way, bytes, program, rest @ ..] = arguments else {
        return Err(io::Error::other("arguments are missing"));
    };
    let folder: Arc<Path> = Path::new(folder).into();
    let bytes: usize = bytes.parse().map_err(io::Error::other)?;
    let is_chosen = fs::create_dir(folder.join(CHOSEN)).is_ok();
    let mut child = Command::new(program).args(rest).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let (Some(to), Some(from)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(io::Error::other("the runner has no streams"));
    };
    let damage = Damage { how: how.clone(), bytes, struck: Arc::default(), folder };
    let counts = |direction: &str| is_chosen && direction == way;
    let (there, back) = (damage.clone(), damage);
    let [counted_there, counted_back] = [counts(WAYS[1]), counts(WAYS[0])];
    thread::spawn(move || there.copy(io::stdin(), to, counted_there));
    let returning = thread::spawn(move || back.copy(from, io::stdout(), counted_back));
    let _ = returning.join();
    // The runner may be on its way out.
    let has_ended = ended_within(&mut child, Duration::from_secs(2)).is_ok_and(|ended| ended);
    let succeeded = has_ended && child.wait()?.success();
    Ok(if succeeded { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

impl Damage {
    /// Copies until the end, or until the connection is cut.
    fn copy(&self, mut from: impl Read, mut to: impl Write, is_counted: bool) {
        let (mut passed, mut piece) = (0, vec![0; 4096]);
        loop {
            let is_struck = self.struck.load(Ordering::Relaxed);
            let most = match self.how.as_str() {
                "trickle" if is_struck => 512,
                _ if is_counted && !is_struck => self.bytes.saturating_sub(passed).clamp(1, piece.len()),
                _ => piece.len(),
            };
            let Ok(length @ 1..) = from.read(&mut piece[..most]) else { return };
            if is_counted && !is_struck && passed >= self.bytes {
                self.struck.store(true, Ordering::Relaxed);
                let _ = fs::write(self.folder.join(STRUCK), "");
            }
            if self.struck.load(Ordering::Relaxed) {
                match self.how.as_str() {
                    // Both sides see the end of their streams.
                    "cut" => std::process::exit(255),
                    "silent" => continue,
                    _ => thread::sleep(Duration::from_millis(20)),
                }
            }
            if to.write_all(&piece[..length]).and_then(|()| to.flush()).is_err() {
                return;
            }
            passed += length;
        }
    }
}
