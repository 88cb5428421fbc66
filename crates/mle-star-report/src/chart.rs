//! Draws the charts as SVG with `plotters`. Text stays text, and the same figures give the same bytes.
//!
//! Colours are the fixed values in [`ink`]; the style sheet gives them other values where the page is dark. A
//! chart has a title and a description for screen readers; its figures belong in a table beside it.

mod diagnostics;
mod scale;
mod split;
mod story;

use std::ops::Range;

use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;

use crate::markup::escaped;

pub use diagnostics::{Line, scatter, shares};
pub use scale::{Scale, strips};
pub use split::{Part, PartKind, split};
pub use story::{Fate, Solution, Story, WIDTHS};

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

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error + Send + Sync>>;
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawing<'b, 'c> = ChartContext<'b, SVGBackend<'c>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

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
    fn draw<'b, 'c>(&self, area: &'b Area<'c>) -> Outcome<Drawing<'b, 'c>> {
        let [x, y] = self.ranges.clone();
        let mut chart = ChartBuilder::on(area)
            .margin(8)
            .margin_right(26)
            .x_label_area_size(44)
            .y_label_area_size(86)
            .build_cartesian_2d(x, y)?;
        let style = label();
        let mut mesh = chart.configure_mesh();
        mesh.disable_x_mesh().light_line_style(TRANSPARENT).bold_line_style(ink::GRID).axis_style(ink::GRID);
        mesh.label_style(style.clone()).axis_desc_style(style);
        mesh.x_desc(self.titles[0]).y_desc(self.titles[1]).x_labels(self.labels[0]).y_labels(self.labels[1]);
        mesh.x_label_formatter(self.shown[0]).y_label_formatter(self.shown[1]).draw()?;
        Ok(chart)
    }
}

fn label<'a>() -> TextStyle<'a> {
    ("sans-serif", 15).into_font().color(&ink::TEXT)
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

/// These bounds, so far apart that these values are inside with a margin.
fn with((low, high): (f64, f64), values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let drawable = values.into_iter().filter(|value| value.abs() <= MAX_SCORE);
    let (from, to) = drawable.fold((low, high), |(from, to), value| (from.min(value), to.max(value)));
    let margin = 0.03 * (to - from);
    (if from < low { from - margin } else { low }, if to > high { to + margin } else { high })
}

fn draw(about: &About<'_>, height: u32, picture: impl FnOnce(&Area<'_>) -> Outcome) -> Option<String> {
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (WIDTH, height)).into_drawing_area();
        picture(&area).ok()?;
        area.present().ok()?;
    }
    Some(headed(about, height, &svg))
}

/// The SVG with a title and a description instead of the opening tag of `plotters`.
fn headed(about: &About<'_>, height: u32, svg: &str) -> String {
    let body = svg.split_once('>').map_or("", |(_, body)| body);
    let About { id, title, description } = about;
    let (id, title, description) = (escaped(id), escaped(title), escaped(description));
    format!(
        "<svg class=\"chart\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" \
         aria-labelledby=\"{id}-title {id}-desc\">\n\
         <title id=\"{id}-title\">{title}</title>\n<desc id=\"{id}-desc\">{description}</desc>{body}"
    )
}

#[cfg(test)]
mod tests;
