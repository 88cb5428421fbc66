//! The fault campaign: builds the binary and the example that disturbs it, and starts that.

use crate::command::{cargo, say, succeeds, target, watched};
use crate::report::Count;

/// Runs a campaign.
pub fn campaign(options: &[&str]) -> Count {
    // With the features of all packages and of their tests, so that nothing is compiled again for it.
    let is_built = succeeds(cargo("build --workspace --bin mle-star --example faults"));
    let mut command = std::process::Command::new(target().join("debug/examples/faults"));
    command.args(options);
    match watched(command) {
        Ok((ok, text)) => Count { skipped: skipped(&text), ..Count::check(ok && is_built) },
        Err(error) => {
            say(&format!("the fault campaign cannot be started: {error}"));
            Count::check(false)
        }
    }
}

/// The last line of the campaign's table sums up the others; its last columns are: skipped, failed, seconds.
fn skipped(text: &str) -> usize {
    let sums = text.lines().rfind(|line| line.starts_with("all "));
    sums.and_then(|line| line.split_whitespace().nth_back(2)?.parse().ok()).unwrap_or(0)
}
