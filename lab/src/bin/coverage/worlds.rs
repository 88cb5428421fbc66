//! Worlds with hidden rows: times, groups and rows.

use std::collections::BTreeMap;
use std::f64::consts::TAU;
use std::fmt::Write as _;

use mle_star_tables::metrics::Metric;

use crate::models::{dot, fit};

/// A kind of worlds.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    pub(crate) metric: Metric,
    pub(crate) world: fn(u64) -> World,
}

/// A part of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Validation,
    HeldOut,
    Hidden,
}

/// A row.
struct Row {
    features: Vec<f64>,
    target: f64,
    /// Its group; for times, its step.
    unit: usize,
    /// For times, its series.
    series: usize,
    /// The fold that validates it; `None` if none does.
    fold: Option<usize>,
    part: Option<Part>,
}

/// All rows of a task.
pub(crate) struct World {
    pub(crate) is_by_time: bool,
    rows: Vec<Row>,
    folds: usize,
    /// The number of steps of a period.
    period: usize,
    /// For times, the number of steps of a season.
    season: usize,
    units: bool,
    /// For times, how many steps earlier each series ends.
    earlier: Vec<usize>,
    /// Whether intervals are for series rather than for one more period.
    pub(crate) by_series: bool,
}

/// Series with levels that wander and jump, together and each alone, seasons, events and noise.
struct Series {
    count: usize,
    period: usize,
    folds: usize,
    /// The steps before the first fold.
    before: usize,
    season: usize,
    /// The steps of a year.
    year: f64,
    walk: f64,
    /// How many jumps there are in a step, and how large they are.
    jumps: (f64, f64),
    /// The growth in a step.
    growth: f64,
    noise: f64,
    /// By how many steps a series may end earlier than others: each has its own last period then.
    ends: usize,
}

const DAYS: Series = Series {
    count: 3,
    period: 28,
    folds: 5,
    before: 560,
    season: 7,
    year: 365.25,
    walk: 0.006,
    jumps: (1.0 / 182.0, 0.15),
    growth: 0.0,
    noise: 0.1,
    ends: 0,
};

/// Groups with levels, slopes and noise of their own.
struct Groups {
    known: usize,
    hidden: usize,
    rows: f64,
    /// How unequal groups are: the standard deviation of the logarithm of their sizes.
    unequal: f64,
    level: f64,
}

/// The worlds: the first four are those of `worlds.py`, on which the rules were chosen.
pub(crate) const KINDS: [Kind; 23] = [
    kind("time", Metric::Mae, |seed| series(&DAYS, seed)),
    kind("10 groups", Metric::Mae, |seed| groups(&TEN, seed)),
    kind("100 groups", Metric::Mae, |seed| groups(&HUNDRED, seed)),
    kind("rows", Metric::Mae, |seed| rows(seed, 1_275, 225, 1_000, 0.4)),
    kind("three periods", Metric::Mae, |seed| series(&Series { folds: 2, ..DAYS }, seed + 1_000)),
    kind("time, SMAPE", Metric::Smape, |seed| series(&DAYS, seed + 2_000)),
    kind("weeks that grow", Metric::Mae, |seed| series(&WEEKS, seed)),
    kind("weeks that grow, RMSE", Metric::Rmse, |seed| series(&WEEKS, seed + 1_000)),
    kind("hours with jumps", Metric::Rmse, |seed| series(&HOURS, seed)),
    kind("hours with jumps, SMAPE", Metric::Smape, |seed| series(&HOURS, seed + 1_000)),
    kind("hours, above the median", Metric::RocAuc, |seed| series(&HOURS, seed + 2_000)),
    kind("months", Metric::Rmse, |seed| series(&MONTHS, seed)),
    kind("6 groups", Metric::Rmse, |seed| groups(&SIX, seed)),
    kind("25 unequal groups, 60 hidden", Metric::Mae, |seed| groups(&UNEQUAL, seed)),
    kind("300 small groups, 10 large hidden", Metric::Rmse, |seed| groups(&SMALL, seed)),
    kind("25 unequal groups, above the median", Metric::RocAuc, |seed| groups(&UNEQUAL, seed + 1_000)),
    kind("12 groups, above the median", Metric::RocAuc, |seed| groups(&TWELVE, seed)),
    kind("rows, RMSE", Metric::Rmse, |seed| rows(seed + 1_000, 1_700, 300, 400, 0.4)),
    kind("own ends", Metric::Mae, |seed| series(&OWN, seed)),
    kind("own ends that grow, RMSE", Metric::Rmse, |seed| {
        series(&Series { growth: 0.003, ..OWN }, seed + 1_000)
    }),
    kind("own ends, by series", Metric::Mae, |seed| World { by_series: true, ..series(&OWN, seed) }),
    kind("own ends, one fold, by series", Metric::Mae, |seed| World {
        by_series: true,
        ..series(&Series { folds: 1, ..OWN }, seed + 2_000)
    }),
    kind("rows, above the median", Metric::RocAuc, |seed| rows(seed + 2_000, 1_700, 300, 400, 0.4)),
];

const WEEKS: Series = Series {
    count: 12,
    period: 13,
    folds: 5,
    before: 104,
    season: 13,
    year: 52.0,
    walk: 0.03,
    jumps: (0.01, 0.2),
    growth: 0.004,
    noise: 0.2,
    ends: 0,
};
const HOURS: Series = Series {
    count: 5,
    period: 48,
    folds: 5,
    before: 480,
    season: 24,
    year: 168.0,
    walk: 0.01,
    jumps: (0.01, 0.2),
    growth: 0.0,
    noise: 0.15,
    ends: 0,
};
const MONTHS: Series = Series {
    count: 30,
    period: 6,
    folds: 4,
    before: 48,
    season: 12,
    year: 12.0,
    walk: 0.04,
    jumps: (0.02, 0.2),
    growth: -0.003,
    noise: 0.1,
    ends: 0,
};
const OWN: Series = Series { count: 20, period: 14, before: 150, ends: 90, ..DAYS };
const TEN: Groups = Groups { known: 10, hidden: 5, rows: 200.0, unequal: 0.0, level: 0.7 };
const HUNDRED: Groups = Groups { known: 100, hidden: 50, rows: 20.0, unequal: 0.0, level: 0.7 };
const SIX: Groups = Groups { known: 6, hidden: 4, rows: 300.0, unequal: 0.0, level: 0.5 };
const TWELVE: Groups = Groups { known: 12, hidden: 12, rows: 150.0, unequal: 0.0, level: 0.7 };
const UNEQUAL: Groups = Groups { known: 25, hidden: 60, rows: 80.0, unequal: 0.8, level: 0.7 };
const SMALL: Groups = Groups { known: 300, hidden: 10, rows: 10.0, unequal: 0.3, level: 0.7 };

const fn kind(name: &'static str, metric: Metric, world: fn(u64) -> World) -> Kind {
    Kind { name, metric, world }
}

/// Random numbers of a normal distribution.
struct Random(fastrand::Rng);

impl Random {
    fn normal(&mut self, deviation: f64) -> f64 {
        let (one, two) = (1.0 - self.0.f64(), self.0.f64());
        deviation * (-2.0 * one.ln()).sqrt() * (TAU * two).cos()
    }

    /// A random walk that jumps.
    fn wandering(&mut self, world: &Series, steps: usize) -> Vec<f64> {
        let mut level = 0.0;
        let step = |_| {
            level += self.normal(world.walk);
            if self.0.f64() < world.jumps.0 {
                level += self.normal(world.jumps.1);
            }
            level
        };
        (0..steps).map(step).collect()
    }
}

fn series(world: &Series, seed: u64) -> World {
    let random = &mut Random(fastrand::Rng::with_seed(seed));
    let known = world.before + (world.folds + 1) * world.period;
    let steps = known + world.period;
    let waves: Vec<f64> = (0..4).map(|_| random.normal(0.12)).collect();
    let season: Vec<f64> = (0..world.season).map(|_| random.normal(0.15)).collect();
    let together = random.wandering(world, steps);
    let mut rows = Vec::new();
    let earlier: Vec<usize> = match world.ends {
        0 => vec![0; world.count],
        ends => (0..world.count).map(|_| random.0.usize(0..=ends)).collect(),
    };
    for (series, own) in earlier.iter().enumerate() {
        let (base, alone) = (3.0 + random.normal(0.5), random.wandering(world, steps));
        let effect = 0.2 + random.normal(0.05);
        for step in 0..steps {
            let event = f64::from(u8::from(random.0.f64() < 0.2));
            let angle = TAU * step as f64 / world.year;
            let year = dot(&waves, &[angle.sin(), angle.cos(), (2.0 * angle).sin(), (2.0 * angle).cos()]);
            let level = base + together[step] + alone[step] + world.growth * step as f64;
            let expected = level + year + season[step % world.season] + effect * event;
            let target = (expected + random.normal(world.noise)).exp();
            let since = (step + own).checked_sub(world.before);
            let period = since.map(|since| since / world.period);
            let (fold, part) = match period {
                Some(period) if period < world.folds => (Some(period), Some(Part::Validation)),
                Some(period) if period == world.folds => (None, Some(Part::HeldOut)),
                Some(period) if period == world.folds + 1 => (None, Some(Part::Hidden)),
                // The series has ended.
                Some(_) => (None, None),
                None => (None, None),
            };
            rows.push(Row { features: vec![event], target, unit: step, series, fold, part });
        }
    }
    let (folds, period, season) = (world.folds, world.period, world.season);
    World { is_by_time: true, rows, folds, period, season, units: true, earlier, by_series: false }
}

fn groups(world: &Groups, seed: u64) -> World {
    const FOLDS: usize = 5;
    let random = &mut Random(fastrand::Rng::with_seed(seed));
    let held_out = ((world.known as f64 * 0.15).round() as usize).max(1);
    let mut rows = Vec::new();
    for unit in 0..world.known + world.hidden {
        let (area, level, slope) = (random.normal(1.0), random.normal(world.level), random.normal(0.4));
        let noise = (random.normal(0.4) - 0.5).exp();
        let count = (world.rows * random.normal(world.unequal).exp()).round().max(3.0) as usize;
        let part = if unit >= world.known {
            Part::Hidden
        } else if unit < held_out {
            Part::HeldOut
        } else {
            Part::Validation
        };
        for _ in 0..count {
            let x: Vec<f64> = (0..4).map(|_| random.normal(1.0)).collect();
            let target = relation(&x) + 0.6 * area + level + slope * x[1] + random.normal(noise);
            let fold = (part == Part::Validation).then_some(unit % FOLDS);
            let features = features(&x, area);
            rows.push(Row { features, target, unit, series: 0, fold, part: Some(part) });
        }
    }
    World {
        is_by_time: false,
        rows,
        folds: FOLDS,
        period: 0,
        season: 1,
        units: true,
        earlier: Vec::new(),
        by_series: false,
    }
}

/// The noise grows with one of the columns.
fn rows(seed: u64, validated: usize, held_out: usize, hidden: usize, unequal: f64) -> World {
    const FOLDS: usize = 5;
    let random = &mut Random(fastrand::Rng::with_seed(seed));
    let row = |at: usize| {
        let x: Vec<f64> = (0..4).map(|_| random.normal(1.0)).collect();
        let target = relation(&x) + random.normal(0.5) * (unequal * x[3]).exp();
        let part = match at {
            at if at < validated => Part::Validation,
            at if at < validated + held_out => Part::HeldOut,
            _ => Part::Hidden,
        };
        let fold = (part == Part::Validation).then_some(at % FOLDS);
        Row { features: features(&x, 0.0), target, unit: at, series: 0, fold, part: Some(part) }
    };
    let rows = (0..validated + held_out + hidden).map(row).collect();
    World {
        is_by_time: false,
        rows,
        folds: FOLDS,
        period: 0,
        season: 1,
        units: false,
        earlier: Vec::new(),
        by_series: false,
    }
}

fn relation(x: &[f64]) -> f64 {
    x[0] + (2.0 * x[1]).sin() + 0.5 * x[0] * x[2]
}

/// What a model may use; a simpler one uses the first of them.
fn features(x: &[f64], area: f64) -> Vec<f64> {
    vec![1.0, x[0], x[1], x[2], x[3], area, (2.0 * x[1]).sin(), x[0] * x[2], x[0] * x[0], x[3] * x[3]]
}

impl World {
    /// The predictions of three models for all rows of a part.
    pub(crate) fn models(&self) -> Vec<Vec<f64>> {
        match self.is_by_time {
            true => [1, 4, 13]
                .map(|quarters| self.forecasts((self.period * quarters).div_ceil(4).max(2)))
                .to_vec(),
            false => [6, 8, 10].map(|width| self.fits(width)).to_vec(),
        }
    }

    pub(crate) fn rows_of(&self, part: Part) -> impl Iterator<Item = usize> {
        (0..self.rows.len()).filter(move |at| self.rows[*at].part == Some(part))
    }

    fn has_own_ends(&self) -> bool {
        self.earlier.iter().any(|steps| *steps > 0)
    }

    pub(crate) fn has_units(&self) -> bool {
        self.units
    }

    /// How many rows each group of a part has.
    pub(crate) fn sizes(&self, part: Part) -> Vec<u64> {
        let mut sizes: BTreeMap<usize, u64> = BTreeMap::new();
        let unit = |row: &Row| if self.has_own_ends() { row.series } else { row.unit };
        self.rows_of(part).for_each(|at| *sizes.entry(unit(&self.rows[at])).or_default() += 1);
        sizes.into_values().collect()
    }

    /// The labels of a part: numbers, or whether they are above the median of all.
    pub(crate) fn table(&self, part: Part, metric: Metric) -> String {
        let mut targets: Vec<f64> = self.rows.iter().map(|row| row.target).collect();
        targets.sort_by(f64::total_cmp);
        let median = targets[targets.len() / 2];
        let mut table = "id,y,unit\n".to_owned();
        for at in self.rows_of(part) {
            let Row { target, series, .. } = &self.rows[at];
            let unit = if self.has_own_ends() { series } else { &self.rows[at].unit };
            let _ = match metric {
                Metric::RocAuc => writeln!(table, "{at},{},{unit}", u8::from(*target > median)),
                _ => writeln!(table, "{at},{target},{unit}"),
            };
        }
        table
    }

    /// A file with the predictions for a part.
    pub(crate) fn file(&self, predicted: &[f64], part: Part) -> String {
        let mut file = "id,y\n".to_owned();
        for at in self.rows_of(part) {
            let _ = writeln!(file, "{at},{}", predicted[at]);
        }
        file
    }

    /// The file of folds.
    pub(crate) fn folds(&self) -> String {
        let mut file = "id,fold\n".to_owned();
        for (at, row) in self.rows.iter().enumerate() {
            if let Some(fold) = row.fold {
                let _ = writeln!(file, "{at},{fold}");
            }
        }
        file
    }

    /// Least squares with so many features: each part is predicted from what is known before it.
    fn fits(&self, width: usize) -> Vec<f64> {
        let mut predicted = vec![f64::NAN; self.rows.len()];
        let predict =
            |is_known: &dyn Fn(&Row) -> bool, is_wanted: &dyn Fn(&Row) -> bool, into: &mut [f64]| {
                let known: Vec<&Row> = self.rows.iter().filter(|row| is_known(row)).collect();
                let rows: Vec<&[f64]> = known.iter().map(|row| &row.features[..width]).collect();
                let targets: Vec<f64> = known.iter().map(|row| row.target).collect();
                let model = fit(&rows, &targets);
                for (value, row) in into.iter_mut().zip(&self.rows).filter(|(_, row)| is_wanted(row)) {
                    *value = dot(&model, &row.features[..width]);
                }
            };
        for fold in 0..self.folds {
            let is_known = |row: &Row| row.fold.is_some_and(|own| own != fold);
            predict(&is_known, &|row| row.fold == Some(fold), &mut predicted);
        }
        predict(&|row| row.fold.is_some(), &|row| row.part == Some(Part::HeldOut), &mut predicted);
        predict(&|row| row.part != Some(Part::Hidden), &|row| row.part == Some(Part::Hidden), &mut predicted);
        predicted
    }

    /// Forecasts of each period from the steps before it: the level of the last `window` steps, with a season and the effect of
    /// events.
    fn forecasts(&self, window: usize) -> Vec<f64> {
        let mut predicted = vec![f64::NAN; self.rows.len()];
        let series = self.rows.last().map_or(0, |row| row.series) + 1;
        let steps = self.rows.len() / series;
        let periods = self.folds + 2;
        for last in (0..periods).map(|period| steps - (periods - period) * self.period) {
            for series in 0..series {
                let first = last - self.earlier[series];
                let rows = &self.rows[series * steps..(series + 1) * steps];
                let history = first.saturating_sub(26 * self.season.min(26))..first;
                let columns = |row: &Row| {
                    let mut columns = vec![0.0; self.season + 2];
                    columns[row.unit % self.season] = 1.0;
                    columns[self.season] = row.features[0];
                    columns[self.season + 1] = (row.unit as f64 - first as f64) / 100.0;
                    columns
                };
                let seen: Vec<Vec<f64>> = rows[history.clone()].iter().map(columns).collect();
                let targets: Vec<f64> = rows[history].iter().map(|row| row.target.ln()).collect();
                let mut model = fit(&seen.iter().map(Vec::as_slice).collect::<Vec<_>>(), &targets);
                // The level goes on as it was at the end.
                model[self.season + 1] = 0.0;
                let last = &rows[first - window..first];
                let level: f64 = last.iter().map(|row| row.target.ln() - dot(&model, &columns(row))).sum();
                for at in first..first + self.period {
                    let expected = dot(&model, &columns(&rows[at])) + level / window as f64;
                    predicted[series * steps + at] = expected.exp();
                }
            }
        }
        predicted
    }
}
