//! A horizontal axis in per cent of a width. Templates place marks on it, so that text keeps its size at any width.

use serde::Serialize;

use super::FAR;
use crate::figures::{round_step, round_ticks};

/// The room at both ends, in per cent.
const ROOM: f64 = 3.0;
/// About how many ticks an axis has.
const TICKS: f64 = 4.5;
/// Round steps of axes of time, in seconds.
const TIMES: [f64; 18] = [
    1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1800.0, 3600.0, 7200.0, 18_000.0,
    36_000.0, 86_400.0, 172_800.0,
];

/// An axis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scale {
    low: f64,
    high: f64,
    /// Round values with their positions.
    pub ticks: Vec<Tick>,
}

/// A round value.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tick {
    /// The position.
    pub at: f64,
    /// The value.
    pub label: String,
}

/// A value with its 95 % interval, as positions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mark {
    /// The value, at an end of the axis if it is beyond.
    pub at: f64,
    /// Whether it is beyond.
    pub is_beyond: bool,
    /// The ends of the interval, cut at those of the axis.
    pub ends: Option<[f64; 2]>,
}

/// A bar from zero, as positions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bar {
    /// Its left end.
    pub from: f64,
    /// Its length.
    pub width: f64,
    /// The position of zero.
    pub zero: f64,
    /// The ends of the interval of its value.
    pub ends: Option<[f64; 2]>,
}

impl Scale {
    /// An axis of values without outliers, and of others in any case; `None` if there are none that can be drawn.
    pub fn of(values: impl IntoIterator<Item = f64>, always: impl IntoIterator<Item = f64>) -> Option<Self> {
        let (low, high) = with(range(values)?, always);
        let mut axis = Self { low, high, ticks: Vec::new() };
        let ticks = round_ticks(low, high, TICKS).into_iter();
        axis.ticks = ticks.map(|(value, label)| Tick { at: axis.at(value), label }).collect();
        Some(axis)
    }

    /// The position of a value; that of an end if it is beyond.
    pub fn at(&self, value: f64) -> f64 {
        let share = ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0);
        (100.0 * (ROOM + share * (100.0 - 2.0 * ROOM))).round() / 100.0
    }

    /// A value with its interval.
    pub fn mark(&self, value: f64, interval: Option<[f64; 2]>) -> Mark {
        let is_beyond = !(self.low..=self.high).contains(&value);
        let ends = interval.filter(|_| !is_beyond).map(|ends| ends.map(|end| self.at(end)));
        Mark { at: self.at(value), is_beyond, ends }
    }
}

/// Bars of values with their intervals on one axis; empty if they cannot be drawn.
pub fn strips(values: &[(f64, Option<[f64; 2]>)]) -> Vec<Bar> {
    let ends = values.iter().flat_map(|(value, ends)| ends.iter().flatten().copied().chain([*value]));
    let (low, high) = ends
        .filter(|end| end.is_finite())
        .fold((0.0_f64, 0.0_f64), |(low, high), end| (low.min(end), high.max(end)));
    let span = high - low;
    if !(span > 0.0 && span.is_finite()) {
        return Vec::new();
    }
    let at = |value: f64| (10_000.0 * (value.clamp(low, high) - low) / span).round() / 100.0;
    let bar = |(value, ends): &(f64, Option<[f64; 2]>)| {
        let (from, to) = (at(value.min(0.0)), at(value.max(0.0)));
        // Short bars stay visible.
        Bar { from, width: (to - from).max(0.3), zero: at(0.0), ends: ends.map(|ends| ends.map(at)) }
    };
    values.iter().map(bar).collect()
}

/// Bounds of an axis. Outliers are left out, so that the other scores stay distinguishable.
/// Their distance is finite and large enough for the precision of the numbers.
pub fn range(scores: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    let mut scores: Vec<f64> = scores.into_iter().filter(|score| score.abs() <= FAR).collect();
    scores.sort_by(f64::total_cmp);
    let at = |part: usize| scores.get((scores.len().checked_sub(1)?) * part / 4).copied();
    let (first, third) = (at(1)?, at(3)?);
    let reach = 3.0 * (third - first);
    let near = |score: &&f64| reach <= 0.0 || (first - reach..=third + reach).contains(*score);
    let shown: Vec<f64> = scores.iter().filter(near).copied().collect();
    let low = shown.iter().copied().reduce(f64::min)?;
    let high = shown.iter().copied().reduce(f64::max)?;
    let margin = if high > low { 0.06 * (high - low) } else { (0.01 * high.abs()).max(1e-6) };
    let margin = margin.max(1e-12).max(1e-10 * low.abs().max(high.abs()));
    Some((low - margin, high + margin))
}

/// These bounds, so far apart that these values are inside with a margin.
pub fn with((low, high): (f64, f64), values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let drawable = values.into_iter().filter(|value| value.abs() <= FAR);
    let (from, to) = drawable.fold((low, high), |(from, to), value| (from.min(value), to.max(value)));
    let margin = 0.03 * (to - from);
    (if from < low { from - margin } else { low }, if to > high { to + margin } else { high })
}

/// A round step of an axis of so many seconds with at most so many steps.
pub fn time_step(seconds: f64, most: f64) -> f64 {
    TIMES.into_iter().find(|step| seconds / step <= most).unwrap_or_else(|| round_step(seconds / most))
}
