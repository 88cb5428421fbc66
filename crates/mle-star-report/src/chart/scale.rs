//! A horizontal axis in per cent of a width. Templates place marks on it, so that text keeps its size at any width.

use serde::Serialize;

use super::{range, with};
use crate::figures::round_ticks;

/// The room at both ends, in per cent.
const ROOM: f64 = 3.0;
/// About how many ticks an axis has.
const TICKS: f64 = 4.0;

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
