//! Random numbers that depend on a seed only, and sets of rows.

/// Numbers that look random and are the same on every machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seeded([u8; 32]);

/// A set of row numbers, one bit for each row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RowSet(Vec<u64>);

/// The interleaving of held-out rows and test rows: for each row in turn, whether it is held out.
#[derive(Debug)]
pub(super) struct Turns {
    seeded: Seeded,
    held: u64,
    others: u64,
    come_first: bool,
    taken: u64,
}

impl Seeded {
    /// Other uses of a seed have other numbers.
    pub(crate) fn new(seed: u64, usage: &str) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&seed.to_le_bytes()).update(usage.as_bytes());
        Self(*hasher.finalize().as_bytes())
    }

    /// The number of a text.
    pub(crate) fn of(self, text: &[u8]) -> u64 {
        let [a, b, c, d, e, f, g, h, ..] = *blake3::keyed_hash(&self.0, text).as_bytes();
        u64::from_le_bytes([a, b, c, d, e, f, g, h])
    }

    /// The number at this place of a sequence, less than `limit`.
    pub(crate) fn below(self, limit: u64, place: u64) -> u64 {
        self.of(&place.to_le_bytes()) % limit.max(1)
    }
}

impl RowSet {
    /// Adds a row.
    pub(crate) fn insert(&mut self, row: u64) {
        let (word, bit) = place(row);
        if word >= self.0.len() {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= bit;
    }

    /// The rows, in ascending order.
    pub(super) fn rows(&self) -> impl Iterator<Item = u64> {
        (0..64 * self.0.len() as u64).filter(|row| self.contains(*row))
    }

    /// Whether the row was added.
    pub(crate) fn contains(&self, row: u64) -> bool {
        let (word, bit) = place(row);
        self.0.get(word).is_some_and(|bits| bits & bit != 0)
    }
}

fn place(row: u64) -> (usize, u64) {
    (usize::try_from(row / 64).unwrap_or(usize::MAX), 1 << (row % 64))
}

impl Turns {
    /// The interleaving of this many rows.
    pub(super) fn new(seed: u64, held: u64, others: u64, come_first: bool) -> Self {
        Self { seeded: Seeded::new(seed, "turns"), held, others, come_first, taken: 0 }
    }
}

impl Iterator for Turns {
    type Item = bool;

    fn next(&mut self) -> Option<bool> {
        let left = self.held + self.others;
        if left == 0 {
            return None;
        }
        self.taken += 1;
        let drawn = if self.come_first { 0 } else { self.seeded.below(left, self.taken) };
        let is_held = drawn < self.held;
        *(if is_held { &mut self.held } else { &mut self.others }) -= 1;
        Some(is_held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_the_same_on_every_machine() {
        let seeded = Seeded::new(7, "use");
        assert_eq!(seeded.of(b"a"), Seeded::new(7, "use").of(b"a"));
        assert_ne!(seeded.of(b"a"), Seeded::new(7, "other").of(b"a"));
        assert_ne!(seeded.of(b"a"), Seeded::new(8, "use").of(b"a"));
        assert_eq!(seeded.of(b"a"), 16_725_155_430_089_540_775);
    }
}
