//! How long a period is, and how far it is from the rows that its models learn from.

/// At most so many periods are validated.
pub(super) const MOST_FOLDS: usize = 5;
/// The step of a series is the difference of times that so many in a hundred differences are smaller than.
const LOW: usize = 5;
/// A gap after the last training row counts if it is longer than this many steps.
const STEPS: f64 = 1.5;
/// Differences like a gap are usual, such as nights and weekends, if there are at least so many of them, and so often: one of so many
/// differences, or one in so many lengths of a period.
const FEWEST_USUAL: usize = 3;
const USUAL_AMONG: usize = 50;
const USUAL_LENGTHS: f64 = 4.0;

/// What a period is like, in the unit of the times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Shape {
    /// From its first to its last time.
    pub(super) span: f64,
    /// The usual difference between two times.
    pub(super) step: f64,
    /// From the last row that models learn from to its first time, if that is more than usual; else 0.
    pub(super) gap: f64,
}

/// The labelled rows of a period, by their places in the order of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    /// The number of rows that its models learn from.
    pub(super) learn: usize,
    pub(super) from: usize,
    pub(super) to: usize,
}

impl Shape {
    /// The shape of a test table whose rows lie between `first` and `last`, after training rows at these times, which ascend;
    /// `None` if all of these are equal.
    pub(super) fn of(times: &[f64], first: f64, last: f64) -> Option<Self> {
        let mut steps: Vec<f64> =
            times.windows(2).map(|pair| pair[1] - pair[0]).filter(|step| *step > 0.0).collect();
        steps.sort_unstable_by(f64::total_cmp);
        let step = *steps.get(steps.len() * LOW / 100)?;
        let shape = Self { span: last - first, step, gap: 0.0 };
        let (start, end) = (times.first()?, times.last()?);
        let gap = first - end;
        let is_gap = gap > STEPS * step && !shape.is_usual(gap, &steps, end - start);
        Some(Self { gap: if is_gap { gap } else { 0.0 }, ..shape })
    }

    /// How long a period is: the last step is a part of it.
    pub(super) fn length(&self) -> f64 {
        self.span + self.step
    }

    /// The gap without the step that is always there.
    pub(super) fn gap_beyond_step(&self) -> f64 {
        (self.gap - self.step).max(0.0)
    }

    /// The period that ends with the last of these times, which ascend; `None` if no row is left to learn from.
    pub(super) fn before(&self, times: &[f64]) -> Option<Stretch> {
        // Half a step, because months differ in length.
        let start = times.last()? - self.span - self.step / 2.0;
        let from = times.partition_point(|time| *time < start);
        let learn = match times.get(from).filter(|_| self.gap > 0.0) {
            Some(first) => times.partition_point(|time| *time < first - self.gap + self.step / 2.0),
            None => from,
        };
        (learn > 0).then_some(Stretch { learn, from, to: times.len() })
    }

    /// The periods that can be validated, the earliest first. The last one ends with the last of these times.
    pub(super) fn folds(&self, times: &[f64]) -> Vec<Stretch> {
        let mut folds = Vec::new();
        let mut end = times.len();
        while folds.len() < MOST_FOLDS
            && let Some(fold) = self.before(&times[..end]).filter(|fold| self.has_enough(*fold, times))
        {
            folds.push(fold);
            end = fold.from;
        }
        folds.reverse();
        folds
    }

    /// Whether the rows before a period are a quarter of all and reach as far as a period does.
    fn has_enough(&self, fold: Stretch, times: &[f64]) -> bool {
        let reaches = times[fold.learn - 1] - times[0] >= self.span - self.step / 2.0;
        reaches && fold.learn * 4 >= times.len()
    }

    /// Whether a gap is one of those that the training time has, too. `steps` are its differences, in ascending order.
    fn is_usual(&self, gap: f64, steps: &[f64], whole: f64) -> bool {
        let alike = steps.len() - steps.partition_point(|step| *step * STEPS < gap);
        let is_often =
            alike * USUAL_AMONG >= steps.len() || alike as f64 * USUAL_LENGTHS * self.length() >= whole;
        alike >= FEWEST_USUAL && is_often
    }
}
