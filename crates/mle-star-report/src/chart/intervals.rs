//! Scores with their intervals, and with the scores on held-out rows.

use plotters::prelude::*;
use serde::Serialize;

use super::{About, Plane, Spot, draw_pointed, ink, range, whole, with};
use crate::figures::number;
use crate::sanitize::{escape, shortened};

/// A validation score, with what else is known about its script.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ScoreRow {
    /// The number of the script.
    pub x: f64,
    /// The score.
    pub score: f64,
    /// The interval of the score.
    pub interval: Option<[f64; 2]>,
    /// The score of the same script on held-out rows.
    pub held_out: Option<f64>,
    /// Whether it is the chosen solution.
    pub is_chosen: bool,
}

/// The score of the chosen solution on held-out rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Band {
    /// The score.
    pub score: f64,
    /// The interval of the score.
    pub interval: [f64; 2],
}

/// Draws scores as points with whiskers, and the holdout as a band; `None` if there is nothing to draw. Each score has its
/// spot.
pub fn intervals(
    about: &About<'_>,
    metric: &str,
    scores: &[ScoreRow],
    band: Option<Band>,
    spots: &[Spot],
) -> Option<String> {
    let (low, high) = bounds(scores, band)?;
    let y = |score: f64| score.clamp(low, high);
    let is_inside = |score: f64| (low..=high).contains(&score);
    let last = scores.iter().map(|one| one.x).fold(1.0, f64::max) + 0.5;
    draw_pointed(about, 300, spots, |area| {
        let metric = shortened(&escape(metric), 30);
        let plane = Plane {
            ranges: [0.5..last, low..high],
            titles: ["scored scripts, in order", &metric],
            labels: [8, 6],
            shown: [&|x| whole(*x), &|y| number(*y)],
        };
        let mut chart = plane.draw(area)?;
        if let Some(Band { score, interval: [from, to] }) = band {
            let corners = [(0.5, y(from)), (last, y(to))];
            chart.draw_series([Rectangle::new(corners, ink::WAY.mix(0.15).filled())])?;
            let line = is_inside(score).then_some([(0.5, score), (last, score)]);
            chart.draw_series(line.map(|line| PathElement::new(line, ink::WAY.stroke_width(1))))?;
        }
        let inside = || scores.iter().filter(|one| is_inside(one.score));
        let colour = |one: &ScoreRow| if one.is_chosen { ink::GOOD } else { ink::LINE };
        chart.draw_series(inside().filter_map(|one| {
            let [from, to] = one.interval?;
            let ends = [(one.x, y(from)), (one.x, y(to))];
            Some(PathElement::new(ends, colour(one).stroke_width(2)))
        }))?;
        // The chosen solution is drawn above the others.
        let (chosen, other): (Vec<&ScoreRow>, Vec<&ScoreRow>) = inside().partition(|one| one.is_chosen);
        for one in other.into_iter().chain(chosen) {
            let size = if one.is_chosen { 6 } else { 3 };
            chart.draw_series([Circle::new((one.x, one.score), size, colour(one).filled())])?;
        }
        // Beside the validation score, which it may equal.
        let diamond = |(x, score)| {
            let corners = vec![(9, -6), (14, 0), (9, 6), (4, 0)];
            EmptyElement::at((x, score)) + Polygon::new(corners, ink::WAY.filled())
        };
        let held_out = scores.iter().filter_map(|one| Some((one.x, one.held_out?)));
        chart.draw_series(held_out.filter(|(_, score)| is_inside(*score)).map(diamond))?;
        let drawn = scores.iter().enumerate().filter(|(_, one)| is_inside(one.score));
        Ok(drawn.map(|(index, one)| (index, chart.backend_coord(&(one.x, one.score)))).collect())
    })
}

/// The number of scores that are not drawn because they are outliers.
pub fn outside(scores: &[ScoreRow], band: Option<Band>) -> usize {
    let drawn = |(low, high): (f64, f64)| move |one: &&ScoreRow| (low..=high).contains(&one.score);
    bounds(scores, band).map_or(0, |bounds| scores.len() - scores.iter().filter(drawn(bounds)).count())
}

/// Bounds of the vertical axis: those of scores and intervals without outliers. The chosen solution and the interval of the
/// holdout are always inside.
fn bounds(scores: &[ScoreRow], band: Option<Band>) -> Option<(f64, f64)> {
    let ends = scores.iter().filter_map(|one| one.interval).flatten();
    let known = scores.iter().flat_map(|one| [one.score].into_iter().chain(one.held_out)).chain(ends);
    let bounds = range(known.chain(band.map(|band| band.score)))?;
    let chosen = scores.iter().filter(|one| one.is_chosen);
    let chosen = chosen.flat_map(|one| [one.score].into_iter().chain(one.interval.into_iter().flatten()));
    Some(with(bounds, chosen.chain(band.into_iter().flat_map(|band| band.interval))))
}
