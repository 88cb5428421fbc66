//! Bars with their figures, and whiskers for intervals.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::{About, TextSize, WIDTH, draw, ink, label};
use crate::sanitize::{escape, shortened};

const ROW: i32 = 26;
const NAMES: i32 = 214;
const FIGURES: i32 = 110;

/// A bar: its name, its length, and the figure beside it.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// The label.
    pub name: String,
    /// The length. Bars go to both sides if some are negative.
    pub value: f64,
    /// The 95 % interval of the value.
    pub interval: Option<[f64; 2]>,
    /// The value, for people.
    pub shown: String,
    /// The meaning, which chooses the colour.
    pub mood: Mood,
}

/// The meaning of a bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mood {
    /// Neither good nor bad.
    Plain,
    /// Good.
    Good,
    /// Bad.
    Bad,
}

impl Bar {
    /// A bar without an interval.
    pub fn new(name: &str, value: f64, shown: String, mood: Mood) -> Self {
        Self { name: name.to_owned(), value, interval: None, shown, mood }
    }
}

/// Draws bars from top to bottom; `None` if there is nothing to draw.
pub fn bars(about: &About<'_>, bars: &[Bar]) -> Option<String> {
    let ends = |bar: &Bar| bar.interval.into_iter().flatten().chain([bar.value]).collect::<Vec<_>>();
    let all = || bars.iter().flat_map(ends).filter(|end| end.is_finite());
    let (low, high) = (all().fold(0.0, f64::min), all().fold(0.0, f64::max));
    let span = high - low;
    if !(span > 0.0 && span.is_finite()) {
        return None;
    }
    let width = i32::try_from(WIDTH).ok()?;
    let room = f64::from(width - NAMES - FIGURES);
    let x = |value: f64| {
        #[expect(clippy::cast_possible_truncation, reason = "within the picture")]
        let offset = (room * ((value.clamp(low, high) - low) / span)).round() as i32;
        NAMES + offset
    };
    let height = ROW * i32::try_from(bars.len()).ok()? + 4;
    draw(about, u32::try_from(height).ok()?, |area| {
        let name_style = label(TextSize::Normal).pos(Pos::new(HPos::Right, VPos::Center));
        let figure_style = label(TextSize::Small).pos(Pos::new(HPos::Right, VPos::Center));
        area.draw(&PathElement::new(vec![(x(0.0), 0), (x(0.0), height)], ink::EDGE.stroke_width(1)))?;
        for (top, bar) in (5..).step_by(26).zip(bars) {
            let (from, to, middle) = (x(bar.value.min(0.0)), x(bar.value.max(0.0)), top + 8);
            let colour = match bar.mood {
                Mood::Plain => ink::LINE,
                Mood::Good => ink::GOOD,
                Mood::Bad => ink::BAD,
            };
            // Short bars stay visible.
            area.draw(&Rectangle::new([(from, top), (to.max(from + 1), top + 16)], colour.filled()))?;
            if let Some([low, high]) = bar.interval.map(|ends| ends.map(x)) {
                let whisker = [
                    vec![(low, middle), (high, middle)],
                    vec![(low, middle - 4), (low, middle + 4)],
                    vec![(high, middle - 4), (high, middle + 4)],
                ];
                for line in whisker {
                    area.draw(&PathElement::new(line, ink::TEXT.stroke_width(2)))?;
                }
            }
            let name = shortened(&escape(&bar.name), 26);
            area.draw(&Text::new(name, (NAMES - 8, middle), name_style.clone()))?;
            area.draw(&Text::new(bar.shown.clone(), (width - 4, middle), figure_style.clone()))?;
        }
        Ok(())
    })
}
