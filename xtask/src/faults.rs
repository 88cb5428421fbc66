//! The fault campaign: builds the binary and the example that disturbs it, and starts that.

use crate::command::{cargo, root, say, succeeds, watched};

/// What the gate has time for: about half a minute.
pub const SHORT: [&str; 4] = ["--count", "8", "--seed", "1"];

/// How a campaign ended.
pub struct Outcome {
    /// Every invariant held.
    pub ok: bool,
    /// Faults that could not be injected on this machine.
    pub skipped: usize,
}

/// Runs a campaign.
pub fn campaign(options: &[&str]) -> Outcome {
    // With the features of all packages and of their tests, so that nothing is compiled again for it.
    let is_built = succeeds(cargo("build --workspace --bin mle-star --example faults"));
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), Into::into);
    let mut command = std::process::Command::new(target.join("debug/examples/faults"));
    command.args(options);
    match watched(command) {
        Ok((ok, text)) => Outcome { ok: ok && is_built, skipped: skipped(&text) },
        Err(error) => {
            say(&format!("the fault campaign cannot be started: {error}"));
            Outcome { ok: false, skipped: 0 }
        }
    }
}

/// The last line of the campaign's table sums up the others; its last columns are: skipped, failed, seconds.
fn skipped(text: &str) -> usize {
    let sums = text.lines().rfind(|line| line.starts_with("all "));
    sums.and_then(|line| line.split_whitespace().nth_back(2)?.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skipped_faults_are_read_from_the_table() {
        let table = "fault   injected skipped failed      s\nthe volume full  1   1  0  1.2\nall   297  199  69  0  439   4   0  239.2\n";
        assert_eq!((skipped(table), skipped("the undisturbed run failed: no\n")), (4, 0));
    }
}
