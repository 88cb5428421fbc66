//! The split of a task's rows along time, with the score of each part.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::{About, Area, Outcome, WIDTH, draw, ink, label, range, with};
use crate::figures::number;
use crate::sanitize::{escape, shortened};

/// A part of the rows, from left to right.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// What the search does with its rows.
    pub kind: PartKind,
    /// The name, of a word or two.
    pub name: String,
    /// The first time, or the number of its rows.
    pub begin: String,
    /// The width, in any unit. Wide ones are shortened.
    pub width: f64,
    /// The score of its rows.
    pub score: Option<f64>,
}

/// What the search does with rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// Scripts learn from them.
    Training,
    /// Scripts are validated on them, and later parts learn from them.
    Validated,
    /// Nobody uses them, as nobody has the rows between the training and the test table.
    Gap,
    /// No script sees their labels before the final choice.
    HeldOut,
    /// The rows to predict.
    Test,
}

const LEFT: i32 = 90;
const RIGHT: i32 = 12;
const STRIP: i32 = 26;
const NAMES: i32 = 18;
const SCORES: i32 = 170;
/// No part is wider than this share of the unshortened whole.
const MAX_SHARE: f64 = 0.3;

/// Draws the parts as a strip and their scores above it, with the interval of the score of the test part. `None` if there are
/// no parts.
pub fn split(about: &About<'_>, metric: &str, parts: &[Part], interval: Option<[f64; 2]>) -> Option<String> {
    let edges = edges(parts)?;
    let scores: Vec<f64> =
        parts.iter().filter_map(|part| part.score).filter(|score| score.is_finite()).collect();
    let top = if scores.is_empty() { 0 } else { SCORES };
    let height = u32::try_from(top + STRIP + 2 * NAMES + 8).ok()?;
    draw(about, height, |area| {
        strip(area, top + 4, parts, &edges)?;
        if scores.is_empty() { Ok(()) } else { points(area, metric, parts, &edges, interval) }
    })
}

/// The left and the right edge of each part, in pixels.
fn edges(parts: &[Part]) -> Option<Vec<(i32, i32)>> {
    let all: f64 = parts.iter().map(|part| part.width).sum();
    let widths: Vec<f64> = parts.iter().map(|part| part.width.min(MAX_SHARE * all).max(0.0)).collect();
    let sum: f64 = widths.iter().sum();
    let room = f64::from(i32::try_from(WIDTH).ok()? - LEFT - RIGHT);
    let mut so_far = 0.0;
    #[expect(clippy::cast_possible_truncation, reason = "within the picture")]
    let x = |share: f64| LEFT + (room * share / sum).round() as i32;
    let edge = |width: f64| {
        let from = x(so_far);
        so_far += width;
        (from, x(so_far))
    };
    (sum > 0.0 && sum.is_finite()).then(|| widths.into_iter().map(edge).collect())
}

fn strip(area: &Area<'_>, top: i32, parts: &[Part], edges: &[(i32, i32)]) -> Outcome {
    const LETTER: i32 = 7;
    let centre = label().pos(Pos::new(HPos::Center, VPos::Center));
    let left = label().pos(Pos::new(HPos::Left, VPos::Center));
    let fits = |(part, (from, to)): (&Part, &(i32, i32))| {
        usize::try_from((to - from - 2) / (LETTER - 1)).is_ok_and(|room| part.name.chars().count() <= room)
    };
    let is_narrow = |kind| parts.iter().zip(edges).any(|one| one.0.kind == kind && !fits(one));
    let end = i32::try_from(WIDTH).unwrap_or_default();
    let mut free = LEFT;
    for (part, (from, to)) in parts.iter().zip(edges) {
        let corners = [(*from, top), ((*to - 1).max(*from + 1), top + STRIP)];
        match part.kind {
            PartKind::Gap => area.draw(&Rectangle::new(corners, ink::EDGE.stroke_width(1)))?,
            kind => area.draw(&Rectangle::new(corners, colour(kind).mix(0.35).filled()))?,
        }
        // Parts of a kind all have a name, or none.
        if !is_narrow(part.kind) {
            area.draw(&Text::new(part.name.as_str(), ((from + to) / 2, top + STRIP / 2), centre.clone()))?;
        }
        // A text that would cover the one before is left out.
        let begin = shortened(&escape(&part.begin), 10);
        let length = LETTER * i32::try_from(begin.chars().count() + 1).unwrap_or_default();
        let at = (*from).min(end - length);
        if at >= free {
            area.draw(&Text::new(begin, (at, top + STRIP + NAMES / 2), left.clone()))?;
            free = at + length;
        }
    }
    Ok(())
}

fn points(
    area: &Area<'_>,
    metric: &str,
    parts: &[Part],
    edges: &[(i32, i32)],
    interval: Option<[f64; 2]>,
) -> Outcome {
    let known = || parts.iter().filter_map(|part| part.score);
    let Some(bounds) = range(known()) else { return Ok(()) };
    // An odd period and the interval are inside.
    let (low, high) = with(bounds, known().chain(interval.into_iter().flatten()));
    let (upper, _) = area.split_vertically(SCORES);
    let right = i32::try_from(WIDTH).unwrap_or_default() - RIGHT;
    let mut chart = ChartBuilder::on(&upper)
        .margin_top(8)
        .margin_right(RIGHT)
        .y_label_area_size(LEFT)
        .build_cartesian_2d(LEFT..right, low..high)?;
    let style = label();
    let mut mesh = chart.configure_mesh();
    mesh.disable_x_mesh().disable_x_axis().light_line_style(TRANSPARENT).bold_line_style(ink::GRID);
    mesh.axis_style(ink::GRID).label_style(style.clone()).axis_desc_style(style);
    mesh.y_desc(shortened(&escape(metric), 22)).y_label_formatter(&|y| number(*y)).y_labels(4).draw()?;
    // The interval is for the rows to predict.
    let tests = parts.iter().zip(edges).filter(|(part, _)| part.kind == PartKind::Test);
    let bands = tests.filter_map(|(_, (left, right))| {
        let [from, to] = interval?.map(|bound| bound.clamp(low, high));
        Some(Rectangle::new([(*left, from), (*right - 1, to)], ink::WAY.mix(0.3).filled()))
    });
    chart.draw_series(bands)?;
    let scored = parts.iter().zip(edges).filter_map(|(part, (from, to))| {
        let score = part.score.filter(|score| (low..=high).contains(score))?;
        Some(Circle::new(((from + to) / 2, score), 5, colour(part.kind).filled()))
    });
    chart.draw_series(scored)?;
    Ok(())
}

fn colour(kind: PartKind) -> RGBColor {
    match kind {
        PartKind::Training | PartKind::Gap => ink::PLAIN,
        PartKind::Validated => ink::LINE,
        PartKind::HeldOut => ink::GOOD,
        PartKind::Test => ink::WAY,
    }
}
