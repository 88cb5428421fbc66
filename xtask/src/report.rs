//! The results of the gate: one line for each step, and a total.

use std::time::Instant;

use crate::command::say;

/// Checks and tests that passed, failed, and were not run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Passed.
    pub passed: usize,
    /// Failed; a build that failed counts once.
    pub failed: usize,
    /// Not run: this machine lacks something, or the command line leaves them out.
    pub skipped: usize,
}

/// The steps so far.
pub struct Report {
    began: Instant,
    lines: Vec<String>,
    total: Count,
}

impl Count {
    /// One check.
    pub fn check(ok: bool) -> Self {
        Self { passed: usize::from(ok), failed: usize::from(!ok), skipped: 0 }
    }

    /// The tests in the last line of nextest or pytest, such as `2 failed, 100 passed, 1 skipped`. Where the command
    /// failed, at least one did.
    pub fn in_summary(line: &str, ok: bool) -> Self {
        let words: Vec<&str> = line.split_whitespace().collect();
        let of = |outcomes: &[&str]| -> usize {
            let pairs = words.windows(2).filter(|pair| outcomes.contains(&pair[1].trim_end_matches(',')));
            pairs.filter_map(|pair| pair[0].parse::<usize>().ok()).sum()
        };
        // A test that is expected to fail has done what it should.
        let passed = of(&["passed", "xfailed"]);
        let failed = of(&["failed", "timed", "error", "errors"]);
        // A selection without a test is a mistake.
        let failed = failed.max(usize::from(!ok || passed == 0));
        Self { passed, failed, skipped: of(&["skipped"]) }
    }

    fn in_words(self) -> String {
        let skipped = if self.skipped == 0 { String::new() } else { format!(", {} skipped", self.skipped) };
        format!("{} passed, {} failed{skipped}", self.passed, self.failed)
    }
}

impl Report {
    /// No step yet.
    pub fn new() -> Self {
        Self { began: Instant::now(), lines: Vec::new(), total: Count::default() }
    }

    /// Runs a step that is one check; whether it passed.
    pub fn check(&mut self, name: &str, step: impl FnOnce() -> bool) -> bool {
        self.step(name, || Ok(Count::check(step()))).failed == 0
    }

    /// Runs a step, which is skipped where it says why.
    pub fn step(&mut self, name: &str, step: impl FnOnce() -> Result<Count, String>) -> Count {
        let began = Instant::now();
        let (count, outcome) = match step() {
            Ok(count @ Count { passed: 1, failed: 0, skipped: 0 }) => (count, "ok".to_owned()),
            Ok(count @ Count { passed: 0, failed: 1, skipped: 0 }) => (count, "FAILED".to_owned()),
            Ok(count) => (count, count.in_words()),
            Err(why) => (Count { skipped: 1, ..Count::default() }, format!("skipped: {why}")),
        };
        self.lines.push(format!("{name:<12} {outcome} ({:.1} s)", began.elapsed().as_secs_f64()));
        self.total.passed += count.passed;
        self.total.failed += count.failed;
        self.total.skipped += count.skipped;
        count
    }

    /// Prints everything, with the total on the last line; `true` if nothing failed.
    pub fn close(&self) -> bool {
        say(&format!("--- all steps ({} s)", self.began.elapsed().as_secs()));
        self.lines.iter().for_each(|line| say(line));
        say(&self.total.in_words());
        self.total.failed == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_counted_in_the_last_line() {
        let check = |line: &str, ok, [passed, failed, skipped]: [usize; 3]| {
            assert_eq!(Count::in_summary(line, ok), Count { passed, failed, skipped }, "{line}");
        };
        check("120 passed (3 slow), 2 failed, 1 timed out, 5 skipped", false, [120, 3, 5]);
        check("1 failed, 9 passed, 2 skipped, 1 xfailed in 12.30s", false, [10, 1, 2]);
        check("9 passed in 1.00s", true, [9, 0, 0]);
        check("9 passed in 1.00s", false, [9, 1, 0]);
        check("", true, [0, 1, 0]);
    }
}
