//! Curves of classes, predicted against actual numbers, and the spread of errors.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::{About, Plane, draw, ink, label};
use crate::figures::number;
use crate::sanitize::{escape, shortened};

const HEIGHT: u32 = 360;
/// Numbers beyond this are not drawn: their differences would overflow.
const FAR: f64 = 1e300;

/// The height of a name in a picture of shares.
const ROW: f64 = 0.06;

/// A line in a picture whose axes go from 0 to 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The name; empty if the line needs none.
    pub name: String,
    /// The points.
    pub points: Vec<[f64; 2]>,
    /// The interval of each point on the vertical axis; empty for lines without.
    pub intervals: Vec<[f64; 2]>,
}

/// Draws lines on axes from 0 to 1, with the diagonal if it means something; `None` without lines.
pub fn shares(about: &About<'_>, axes: [&str; 2], lines: &[Line], has_diagonal: bool) -> Option<String> {
    if lines.iter().all(|line| line.points.is_empty()) {
        return None;
    }
    draw(about, HEIGHT, |area| {
        let tenths = |value: &f64| format!("{value:.1}");
        let plane =
            Plane { ranges: [0.0..1.0, 0.0..1.0], titles: axes, labels: [6, 6], shown: [&tenths, &tenths] };
        let mut chart = plane.draw(area)?;
        if has_diagonal {
            chart.draw_series([PathElement::new(vec![(0.0, 0.0), (1.0, 1.0)], ink::EDGE.stroke_width(1))])?;
        }
        for (line, colour) in lines.iter().zip(ink::COURSES.iter().cycle()) {
            let at = || line.points.iter().map(|[x, y]| (x.clamp(0.0, 1.0), y.clamp(0.0, 1.0)));
            let whiskers = at().zip(&line.intervals).map(|((x, _), [low, high])| {
                PathElement::new(vec![(x, *low), (x, *high)], ink::TEXT.stroke_width(1))
            });
            chart.draw_series(whiskers)?;
            chart.draw_series(LineSeries::new(at(), colour.stroke_width(2)))?;
            if !line.intervals.is_empty() {
                chart.draw_series(at().map(|at| Circle::new(at, 4, colour.filled())))?;
            }
        }
        let named = lines.iter().zip(ink::COURSES.iter().cycle()).filter(|(line, _)| !line.name.is_empty());
        let left = Pos::new(HPos::Left, VPos::Center);
        // Where good curves do not pass.
        let (x, top) = if has_diagonal { (0.52, 0.36) } else { (0.04, 0.36) };
        for ((line, colour), row) in named.zip(0_u8..) {
            let y = top - f64::from(row) * ROW;
            chart.draw_series([PathElement::new(vec![(x, y), (x + 0.05, y)], colour.stroke_width(3))])?;
            let name = shortened(&escape(&line.name), 34);
            chart.draw_series([Text::new(name, (x + 0.065, y), label().pos(left))])?;
        }
        Ok(())
    })
}

/// Draws predicted against actual numbers; `None` if there is nothing to draw.
pub fn scatter(about: &About<'_>, points: &[[f64; 2]]) -> Option<String> {
    let all = || points.iter().flatten().copied().filter(|value| value.abs() <= FAR);
    let (low, high) = (all().reduce(f64::min)?, all().reduce(f64::max)?);
    let margin = (0.03 * (high - low)).max(1e-9 * low.abs().max(high.abs())).max(1e-12);
    let (low, high) = (low - margin, high + margin);
    draw(about, HEIGHT, |area| {
        let shown = |value: &f64| brief(*value);
        let titles = ["actual", "predicted"];
        let plane = Plane { ranges: [low..high, low..high], titles, labels: [5, 6], shown: [&shown, &shown] };
        let mut chart = plane.draw(area)?;
        chart.draw_series([PathElement::new(vec![(low, low), (high, high)], ink::EDGE.stroke_width(1))])?;
        let inside = points.iter().filter(|point| point.iter().all(|value| value.abs() <= FAR));
        chart.draw_series(inside.map(|[x, y]| Circle::new((*x, *y), 2, ink::LINE.filled())))?;
        Ok(())
    })
}

/// A number at an axis.
fn brief(value: f64) -> String {
    let shown = match value.abs() {
        0.0 => "0".to_owned(),
        size if size < 1e-12 => "0".to_owned(),
        size if (1e-3..1e7).contains(&size) => {
            let text = format!("{value:.4}");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        _ => number(value),
    };
    shown.replacen('-', "−", usize::from(value < 0.0))
}
