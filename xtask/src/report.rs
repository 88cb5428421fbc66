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
#[derive(Default)]
pub struct Report {
    lines: Vec<String>,
    messages: Vec<String>,
    total: Count,
}

impl Count {
    /// One check.
    pub fn check(ok: bool) -> Self {
        Self { passed: usize::from(ok), failed: usize::from(!ok), skipped: 0 }
    }

    /// Adds another count.
    pub fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }

    fn in_words(self) -> String {
        let skipped = if self.skipped == 0 { String::new() } else { format!(", {} skipped", self.skipped) };
        format!("{} passed, {} failed{skipped}", self.passed, self.failed)
    }
}

impl Report {
    /// Runs a step that is one check.
    pub fn check(&mut self, name: &str, step: impl FnOnce() -> bool) {
        let began = Instant::now();
        self.add(name, began, Count::check(step()));
    }

    /// Adds a step that has ended.
    pub fn add(&mut self, name: &str, began: Instant, count: Count) {
        let is_one_check = count.passed + count.failed == 1 && count.skipped == 0;
        let outcome = match count.failed {
            0 if is_one_check => "ok".to_owned(),
            1 if is_one_check => "FAILED".to_owned(),
            _ => count.in_words(),
        };
        self.lines.push(format!("{name:<12} {outcome} ({:.1} s)", began.elapsed().as_secs_f64()));
        self.total.add(count);
    }

    /// Counts a step that is not run.
    pub fn skip(&mut self, name: &str, why: &str) {
        self.lines.push(format!("{name:<12} skipped: {why}"));
        self.total.skipped += 1;
    }

    /// Prints a message again before the results, so that whoever reads the end alone learns why a step failed.
    pub fn tell_at_the_end(&mut self, message: String) {
        self.messages.push(message);
    }

    /// Prints everything, with the total on the last line; `true` if nothing failed.
    pub fn close(&self, began: Instant) -> bool {
        self.messages.iter().for_each(|message| say(message));
        say(&format!("--- all steps ({} s)", began.elapsed().as_secs()));
        self.lines.iter().for_each(|line| say(line));
        say(&self.total.in_words());
        self.total.failed == 0
    }
}
