//! The counters of a campaign.

/// Counters of injected faults.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// Faults injected.
    pub injected: usize,
    /// Runs that ended with the undisturbed result afterwards.
    pub completed: usize,
    /// Files refused, untouched.
    pub refused: usize,
    /// Effects that had ended, were in the journal, and were done again.
    pub repeated: usize,
    /// Effects that were in progress at the fault, or lost with the end of a file, and were done again.
    pub redone: usize,
    /// Faults that this machine does not allow to be injected.
    pub skipped: usize,
    /// Descriptions of violated invariants.
    pub problems: Vec<String>,
}

impl Figures {
    /// The heading of [`Figures::line`].
    pub const HEAD: &str = "fault                                             injected completed refused repeated redone skipped failed";

    /// Counts one fault.
    pub fn one() -> Self {
        Self { injected: 1, ..Self::default() }
    }

    /// Counts a fault that could not be injected.
    pub fn broken(number: u64, why: &str) -> Self {
        Self { problems: vec![format!("number {number}: {why}")], ..Self::default() }
    }

    /// Counts an invariant that must hold.
    pub fn must(&mut self, holds: bool, problem: impl FnOnce() -> String) {
        if !holds {
            self.problems.push(problem());
        }
    }

    /// Adds other counters.
    pub fn add(&mut self, other: Self) {
        self.injected += other.injected;
        self.completed += other.completed;
        self.refused += other.refused;
        self.repeated += other.repeated;
        self.redone += other.redone;
        self.skipped += other.skipped;
        self.problems.extend(other.problems);
    }

    /// One line of a table.
    pub fn line(&self, name: &str) -> String {
        format!(
            "{name:<49} {:>8} {:>9} {:>7} {:>8} {:>6} {:>7} {:>6}",
            self.injected,
            self.completed,
            self.refused,
            self.repeated,
            self.redone,
            self.skipped,
            self.problems.len()
        )
    }
}
