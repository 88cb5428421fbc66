//! Draws the charts as SVG with `plotters`. Text stays text, and the same figures give the same bytes.
//!
//! Colours are the fixed values in [`ink`]; the style sheet gives them other values where the page is dark. A
//! chart has a title and a description for screen readers; its figures belong in a table beside it.

mod bars;
mod diagnostics;
mod intervals;
mod split;

use std::ops::Range;

use mle_star_domain::place::Place;
use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use serde::Serialize;

use crate::figures::{duration, number};
use crate::markup::escaped;

pub use bars::{Bar, Mood, bars};
pub use diagnostics::{Line, scatter, shares};
pub use intervals::{Band, ScoreRow, intervals, outside};
pub use split::{Part, PartKind, split};

/// The colours; the style sheet refers to these values.
mod ink {
    use plotters::style::RGBColor;

    pub const TEXT: RGBColor = RGBColor(0x46, 0x4f, 0x58);
    pub const GRID: RGBColor = RGBColor(0xd9, 0xde, 0xe3);
    pub const EDGE: RGBColor = RGBColor(0xae, 0xb6, 0xbe);
    pub const LINE: RGBColor = RGBColor(0x0b, 0x6b, 0xcb);
    pub const GOOD: RGBColor = RGBColor(0x1a, 0x7f, 0x37);
    pub const BAD: RGBColor = RGBColor(0xb3, 0x26, 0x1e);
    /// Held-out rows, the test table, and the way to the best solution.
    pub const WAY: RGBColor = RGBColor(0x8a, 0x5a, 0x00);
    pub const PLAIN: RGBColor = RGBColor(0x77, 0x80, 0x8a);
    /// The colours of lines, one after another.
    pub const COURSES: [RGBColor; 6] =
        [LINE, BAD, GOOD, WAY, RGBColor(0x7a, 0x3f, 0xb0), RGBColor(0x0b, 0x7a, 0x75)];
}

const WIDTH: u32 = 640;
/// Scores beyond this are not drawn: their differences would overflow.
const MAX_SCORE: f64 = 1e300;
/// Positions beyond this are not drawn.
const MAX_POSITION: f64 = 1e12;

/// The title and description of a chart, for screen readers.
pub struct About<'a> {
    /// A unique ID in the page, from which the IDs of title and description are derived.
    pub id: &'a str,
    /// The title.
    pub title: &'a str,
    /// The description.
    pub description: &'a str,
}

/// A script that has a score.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ScoredScript {
    /// The place of the script's run.
    pub place: Place,
    /// When it ended, in seconds since the start of the run.
    pub ended: f64,
    /// The score.
    pub score: f64,
    /// The best score up to here.
    pub best: f64,
    /// Whether it is better than all before it.
    pub improved: bool,
}

/// The horizontal axis of a score chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// The number of the script, in the order in which they ended.
    Scripts,
    /// Seconds into the run.
    Time,
}

/// A solution in the drawing of all solutions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dot {
    /// Column, from the left.
    pub column: usize,
    /// Row, from the top.
    pub row: usize,
    /// The outcome of the solution.
    pub fate: Fate,
    /// Whether it led to the best solution.
    pub on_way: bool,
    /// The indices of its parents' dots.
    pub from: Vec<usize>,
}

/// The outcome of a solution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The solution was kept.
    Kept,
    /// The solution was not kept.
    Dropped,
    /// The solution has no score.
    Failed,
    /// The solution is in progress.
    Open,
}

/// The tooltip of a dot, and the element that a click on it shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The ID of the element that a click shows.
    pub target: String,
    /// The text, of one line.
    pub says: String,
}

/// The positions of the dots of a chart, in its pixels, with their indices.
type Places = Vec<(usize, (i32, i32))>;
type DotPositions<T = ()> = Result<T, Box<dyn std::error::Error + Send + Sync>>;
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawing<'b, 'c> = ChartContext<'b, SVGBackend<'c>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// Draws scores as points and the best so far as a line; `None` if there is nothing to draw. Each point has its spot.
pub fn scores(about: &About<'_>, scored: &[ScoredScript], axis: Axis, spots: &[Spot]) -> Option<String> {
    let (low, high) = range_with_best(scored)?;
    #[expect(clippy::cast_precision_loss, reason = "a small count")]
    let x = |(index, one): (usize, &ScoredScript)| match axis {
        Axis::Scripts => (index + 1) as f64,
        Axis::Time => one.ended,
    };
    let points: Vec<(f64, &ScoredScript)> = scored.iter().enumerate().map(|one| (x(one), one.1)).collect();
    let last = points.iter().map(|(x, _)| *x).filter(|x| *x <= MAX_POSITION).fold(0.0, f64::max);
    let (first, last) = match axis {
        Axis::Scripts => (0.5, last + 0.5),
        Axis::Time => (0.0, last.max(1.0) * 1.02),
    };
    draw_pointed(about, 280, spots, |area| {
        let plane = Plane {
            ranges: [first..last, low..high],
            titles: [if axis == Axis::Time { "time into the run" } else { "scored scripts, in order" }, ""],
            labels: [8, 6],
            shown: [&|x| if axis == Axis::Time { duration(*x) } else { whole(*x) }, &|y| number(*y)],
        };
        let mut chart = plane.draw(area)?;
        let line =
            stairs(&points, last).into_iter().map(|(x, score)| (x.clamp(0.0, last), score.clamp(low, high)));
        chart.draw_series(LineSeries::new(line, ink::LINE.stroke_width(2)))?;
        let inside = |(_, (x, one)): &(usize, &(f64, &ScoredScript))| {
            (low..=high).contains(&one.score) && (0.0..=last).contains(x)
        };
        let drawn = || points.iter().enumerate().filter(inside).map(|(index, (x, one))| (index, *x, *one));
        // New bests are drawn above other scores at the same position.
        for (_, x, one) in drawn().filter(|(.., one)| !one.improved) {
            chart.draw_series([Circle::new((x, one.score), 3, ink::PLAIN.filled())])?;
        }
        for (_, x, one) in drawn().filter(|(.., one)| one.improved) {
            chart.draw_series([TriangleMarker::new((x, one.score), 7, ink::GOOD.filled())])?;
        }
        Ok(drawn().map(|(index, x, one)| (index, chart.backend_coord(&(x, one.score)))).collect())
    })
}

/// Draws solutions in columns, with lines from the parents of each. Each solution has its spot.
pub fn family(about: &About<'_>, columns: &[String], dots: &[Dot], spots: &[Spot]) -> Option<String> {
    const ROW: usize = 16;
    let rows = 1 + dots.iter().map(|dot| dot.row).max()?;
    let width = (usize::try_from(WIDTH).ok()? / columns.len().max(1)).min(90);
    let at = |column: usize, row: usize| {
        let number = |value: usize| i32::try_from(value).unwrap_or(i32::MAX);
        (number(column * width + width / 2), number(42 + row * ROW))
    };
    let place = |dot: &Dot| at(dot.column, dot.row);
    draw_pointed(about, u32::try_from(rows * ROW + 46).ok()?, spots, |area| {
        let name_style = label(TextSize::Small).pos(Pos::new(HPos::Center, VPos::Center));
        for (index, name) in columns.iter().enumerate() {
            let (x, _) = at(index, 0);
            // Many names are drawn in two rows.
            let y = if columns.len() > 9 && index % 2 == 0 { 8 } else { 24 };
            area.draw(&Text::new(name.as_str(), (x, y), name_style.clone()))?;
        }
        let lines =
            dots.iter().flat_map(|dot| dot.from.iter().filter_map(move |from| Some((dots.get(*from)?, dot))));
        // The lines to the best solution are drawn on top.
        let (way, other): (Vec<_>, Vec<_>) = lines.partition(|(from, to)| from.on_way && to.on_way);
        for (from, to) in other {
            area.draw(&PathElement::new(vec![place(from), place(to)], ink::EDGE.stroke_width(1)))?;
        }
        for (from, to) in way {
            area.draw(&PathElement::new(vec![place(from), place(to)], ink::WAY.stroke_width(3)))?;
        }
        for dot in dots {
            match dot.fate {
                Fate::Kept => area.draw(&Circle::new(place(dot), 5, ink::GOOD.filled()))?,
                Fate::Dropped => area.draw(&Circle::new(place(dot), 3, ink::PLAIN.filled()))?,
                Fate::Failed => area.draw(&Cross::new(place(dot), 4, ink::BAD.stroke_width(2)))?,
                Fate::Open => area.draw(&Circle::new(place(dot), 5, ink::LINE.stroke_width(2)))?,
            }
        }
        Ok(dots.iter().map(place).enumerate().collect())
    })
}

/// The axes of a chart, the horizontal one first.
struct Plane<'a> {
    /// Their ends.
    ranges: [Range<f64>; 2],
    /// What they mean.
    titles: [&'a str; 2],
    /// About how many figures stand at them.
    labels: [usize; 2],
    /// How these figures are written.
    shown: [&'a dyn Fn(&f64) -> String; 2],
}

impl Plane<'_> {
    /// Draws the axes, with horizontal lines.
    fn draw<'b, 'c>(&self, area: &'b Area<'c>) -> DotPositions<Drawing<'b, 'c>> {
        let [x, y] = self.ranges.clone();
        let mut chart = ChartBuilder::on(area)
            .margin(8)
            .margin_right(26)
            .x_label_area_size(44)
            .y_label_area_size(86)
            .build_cartesian_2d(x, y)?;
        let style = label(TextSize::Small);
        let mut mesh = chart.configure_mesh();
        mesh.disable_x_mesh().light_line_style(TRANSPARENT).bold_line_style(ink::GRID).axis_style(ink::GRID);
        mesh.label_style(style.clone()).axis_desc_style(style);
        mesh.x_desc(self.titles[0]).y_desc(self.titles[1]).x_labels(self.labels[0]).y_labels(self.labels[1]);
        mesh.x_label_formatter(self.shown[0]).y_label_formatter(self.shown[1]).draw()?;
        Ok(chart)
    }
}

#[derive(Clone, Copy)]
enum TextSize {
    Small,
    Normal,
}

fn label<'a>(size: TextSize) -> TextStyle<'a> {
    let size = match size {
        TextSize::Small => 15,
        TextSize::Normal => 16,
    };
    ("sans-serif", size).into_font().color(&ink::TEXT)
}

/// Bounds of the vertical axis. Outliers are left out, so that the other scores stay distinguishable.
///
/// Their distance is finite and large enough for the precision of the numbers; otherwise the search for round
/// labels may never end.
fn range(scores: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    let mut scores: Vec<f64> = scores.into_iter().filter(|score| score.abs() <= MAX_SCORE).collect();
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

/// Bounds of the vertical axis of one run's scores. Its best score is always inside.
pub fn range_with_best(scored: &[ScoredScript]) -> Option<(f64, f64)> {
    Some(with(range(scored.iter().map(|one| one.score))?, scored.last().map(|one| one.best)))
}

/// These bounds, so far apart that these values are inside with a margin.
fn with((low, high): (f64, f64), values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let drawable = values.into_iter().filter(|value| value.abs() <= MAX_SCORE);
    let (from, to) = drawable.fold((low, high), |(from, to), value| (from.min(value), to.max(value)));
    let margin = 0.03 * (to - from);
    (if from < low { from - margin } else { low }, if to > high { to + margin } else { high })
}

/// The best score so far as a step line to the end of the chart.
fn stairs(points: &[(f64, &ScoredScript)], last: f64) -> Vec<(f64, f64)> {
    let mut line: Vec<(f64, f64)> = Vec::new();
    for (x, one) in points {
        line.extend(line.last().map(|before| (*x, before.1)));
        line.push((*x, one.best));
    }
    line.extend(line.last().map(|before| (last, before.1)));
    line
}

fn draw(about: &About<'_>, height: u32, picture: impl FnOnce(&Area<'_>) -> DotPositions) -> Option<String> {
    draw_pointed(about, height, &[], |area| picture(area).map(|()| Places::new()))
}

/// Draws a picture whose dots are links with a text.
fn draw_pointed(
    about: &About<'_>,
    height: u32,
    spots: &[Spot],
    picture: impl FnOnce(&Area<'_>) -> DotPositions<Places>,
) -> Option<String> {
    let mut svg = String::new();
    let places = {
        let area = SVGBackend::with_string(&mut svg, (WIDTH, height)).into_drawing_area();
        let places = picture(&area).ok()?;
        area.present().ok()?;
        places
    };
    let links: String =
        places.into_iter().filter_map(|(index, at)| Some(link(spots.get(index)?, at))).collect();
    let svg = if links.is_empty() { svg } else { svg.replace("</svg>", &format!("{links}</svg>")) };
    Some(headed(about, height, &svg, !links.is_empty()))
}

/// A disc around a dot that can be pointed at.
fn link(spot: &Spot, (x, y): (i32, i32)) -> String {
    let (target, says) = (escaped(&spot.target), escaped(&spot.says));
    format!(
        "<a class=\"spot\" href=\"#{target}\" aria-label=\"{says}\"><title>{says}</title>\
         <circle cx=\"{x}\" cy=\"{y}\" r=\"9\"/></a>\n"
    )
}

/// The label of a script number; empty for values in between.
fn whole(x: f64) -> String {
    if (x - x.round()).abs() < 1e-6 { format!("{x:.0}") } else { String::new() }
}

/// The SVG with a title and a description instead of the opening tag of `plotters`.
///
/// With links, it is a group: what is inside an image does not exist for screen readers.
fn headed(about: &About<'_>, height: u32, svg: &str, has_links: bool) -> String {
    let role = if has_links { "group" } else { "img" };
    let body = svg.split_once('>').map_or("", |(_, body)| body);
    let About { id, title, description } = about;
    let (id, title, description) = (escaped(id), escaped(title), escaped(description));
    format!(
        "<svg class=\"chart\" viewBox=\"0 0 {WIDTH} {height}\" role=\"{role}\" \
         aria-labelledby=\"{id}-title {id}-desc\">\n\
         <title id=\"{id}-title\">{title}</title>\n<desc id=\"{id}-desc\">{description}</desc>{body}"
    )
}

#[cfg(test)]
mod tests;
