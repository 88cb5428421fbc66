//! The scores of several runs with their intervals, one below the other.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::{About, FAR, Point, TextSize, draw, ink, label, range};
use crate::figures::number;
use crate::sanitize::{plain, shortened};

/// The scores of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Compared<'a> {
    /// A letter or two.
    pub name: &'a str,
    /// The validation score, and its interval if that is known.
    pub validated: Option<WithInterval>,
    /// The score on held-out rows, and its interval.
    pub held_out: Option<WithInterval>,
}

/// A score and its interval.
pub type WithInterval = (f64, Option<[f64; 2]>);

/// Draws the scores of runs on one axis; `None` if there is nothing to draw. They must be comparable.
pub fn compared(about: &About<'_>, metric: &str, runs: &[Compared<'_>]) -> Option<String> {
    const ROW: usize = 44;
    let (low, high) = bounds(runs)?;
    let rows = runs.len();
    #[expect(clippy::cast_precision_loss, reason = "a handful of runs")]
    let top = rows as f64;
    draw(about, u32::try_from(rows * ROW + 56).ok()?, |area| {
        let mut chart = ChartBuilder::on(area)
            .margin(8)
            .margin_right(26)
            .x_label_area_size(40)
            .y_label_area_size(40)
            .build_cartesian_2d(low..high, 0.0..top)?;
        let style = label(TextSize::Small);
        let mut mesh = chart.configure_mesh();
        mesh.disable_y_mesh().light_line_style(TRANSPARENT).bold_line_style(ink::GRID);
        mesh.axis_style(ink::GRID).label_style(style.clone()).axis_desc_style(style).y_labels(0);
        mesh.x_desc(shortened(&plain(metric), 60)).x_label_formatter(&|x| number(*x)).x_labels(6).draw()?;
        let mut y = top - 0.5;
        for run in runs {
            let (x, at) = chart.backend_coord(&(low, y));
            let style = label(TextSize::Normal).pos(Pos::new(HPos::Right, VPos::Center));
            area.draw(&Text::new(run.name.to_owned(), (x - 10, at), style))?;
            for ((score, interval), y, colour) in [
                run.validated.map(|score| (score, y + 0.14, ink::LINE)),
                run.held_out.map(|score| (score, y - 0.14, ink::WAY)),
            ]
            .into_iter()
            .flatten()
            {
                let whisker = interval.map(|[from, to]| [(from.max(low), y), (to.min(high), y)]);
                chart.draw_series(whisker.map(|ends| PathElement::new(ends, colour.stroke_width(2))))?;
                let dot = (low..=high).contains(&score).then_some((score, y));
                chart.draw_series(dot.map(|dot| Circle::new(dot, 5, colour.filled())))?;
            }
            y -= 1.0;
        }
        Ok(())
    })
}

/// Bounds of the axis: all scores and intervals are inside.
fn bounds(runs: &[Compared<'_>]) -> Option<(f64, f64)> {
    let scores = runs.iter().flat_map(|run| [run.validated, run.held_out]).flatten();
    let ends = scores.flat_map(|(score, interval)| [score].into_iter().chain(interval.into_iter().flatten()));
    let ends: Vec<f64> = ends.filter(|end| end.abs() <= FAR).collect();
    let point = |score: f64| Point { x: 0.0, score, best: score, improved: false };
    // The margins, which an axis needs, are those of other charts.
    let low = ends.iter().copied().reduce(f64::min)?;
    let high = ends.iter().copied().reduce(f64::max)?;
    range(&[point(low), point(high)])
}
