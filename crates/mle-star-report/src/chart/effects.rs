//! Effects with their intervals, as bars with whiskers.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::{About, Mood, TextSize, WIDTH, draw, ink, label};
use crate::sanitize::{plain, shortened};

const ROW: i32 = 26;
const NAMES: i32 = 214;
const FIGURES: i32 = 110;

/// The effect of one thing.
#[derive(Clone, Debug, PartialEq)]
pub struct Effect {
    /// Its name.
    pub name: String,
    /// Its size.
    pub value: f64,
    /// The 95 % interval.
    pub interval: Option<[f64; 2]>,
    /// The size, for people.
    pub shown: String,
    /// Its meaning.
    pub mood: Mood,
}

/// Draws effects from top to bottom, with their intervals; `None` if there is nothing to draw.
pub fn effects(about: &About<'_>, effects: &[Effect]) -> Option<String> {
    let ends = |one: &Effect| one.interval.into_iter().flatten().chain([one.value]).collect::<Vec<_>>();
    let all = || effects.iter().flat_map(ends).filter(|end| end.is_finite());
    let (low, high) = (all().fold(0.0, f64::min), all().fold(0.0, f64::max));
    let span = high - low;
    if !(span > 0.0 && span.is_finite()) {
        return None;
    }
    let room = f64::from(i32::try_from(WIDTH).unwrap_or_default() - NAMES - FIGURES);
    let x = |value: f64| {
        #[expect(clippy::cast_possible_truncation, reason = "within the picture")]
        let offset = (room * (value.clamp(low, high) - low) / span).round() as i32;
        NAMES + offset
    };
    let rows = i32::try_from(effects.len()).ok()?;
    draw(about, u32::try_from(ROW * rows + 4).ok()?, |area| {
        let name_style = label(TextSize::Normal).pos(Pos::new(HPos::Right, VPos::Center));
        let figure_style = label(TextSize::Small).pos(Pos::new(HPos::Right, VPos::Center));
        let zero = x(0.0);
        area.draw(&PathElement::new(vec![(zero, 0), (zero, ROW * rows + 4)], ink::EDGE.stroke_width(1)))?;
        for (top, one) in (5..).step_by(26).zip(effects) {
            let (from, to) = (x(one.value.min(0.0)), x(one.value.max(0.0)));
            let colour = match one.mood {
                Mood::Plain => ink::LINE,
                Mood::Good => ink::GOOD,
                Mood::Bad => ink::BAD,
            };
            // Short bars stay visible.
            area.draw(&Rectangle::new([(from, top), (to.max(from + 1), top + 16)], colour.filled()))?;
            if let Some([low, high]) = one.interval {
                let (low, high, middle) = (x(low), x(high), top + 8);
                let whisker = [
                    vec![(low, middle), (high, middle)],
                    vec![(low, middle - 4), (low, middle + 4)],
                    vec![(high, middle - 4), (high, middle + 4)],
                ];
                for line in whisker {
                    area.draw(&PathElement::new(line, ink::TEXT.stroke_width(2)))?;
                }
            }
            let name = shortened(&plain(&one.name), 26);
            area.draw(&Text::new(name, (NAMES - 8, top + 8), name_style.clone()))?;
            let end = i32::try_from(WIDTH).unwrap_or_default() - 4;
            area.draw(&Text::new(one.shown.clone(), (end, top + 8), figure_style.clone()))?;
        }
        Ok(())
    })
}
