//! Charts of extreme numbers.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::*;

const ABOUT: About<'static> = About { id: "c", title: "t", description: "d" };

fn points(scores: &[f64], ended: fn(usize) -> f64) -> Vec<ScoredScript> {
    let point = |(index, score): (usize, &f64)| {
        let (score, ended) = (*score, ended(index));
        ScoredScript { place: Place::default(), ended, score, best: score, improved: true }
    };
    scores.iter().enumerate().map(point).collect()
}

/// Every chart that shows the values.
fn all(values: &[f64], x: fn(usize) -> f64) -> Vec<Option<String>> {
    let points = points(values, x);
    let bar = |value: &f64| Bar::new("n", *value, String::new(), Mood::Plain);
    let of_bars: Vec<Bar> = values.iter().map(bar).collect();
    let measured = |point: &ScoredScript| ScoreRow {
        x: point.ended,
        score: point.score,
        interval: Some([-point.score, point.score]),
        held_out: Some(point.score),
        is_chosen: point.ended <= 1.0,
    };
    let of_scripts: Vec<ScoreRow> = points.iter().map(measured).collect();
    let pairs: Vec<[f64; 2]> = values.iter().map(|value| [*value, -*value]).collect();
    let intervals_of_pairs: Vec<[f64; 2]> = pairs.iter().map(|_| [0.0, 1.0]).collect();
    let band = values.first().map(|score| Band { score: *score, interval: [-score, *score] });
    vec![
        intervals(&ABOUT, "metric", &of_scripts, band, &[]),
        scores(&ABOUT, &points, Axis::Scripts, &[]),
        scores(&ABOUT, &points, Axis::Time, &[]),
        bars(&ABOUT, &of_bars),
        scatter(&ABOUT, &pairs),
        shares(
            &ABOUT,
            ["x", "y"],
            &[Line { name: "n".to_owned(), points: pairs, intervals: intervals_of_pairs }],
            true,
        ),
    ]
}

#[test]
fn every_chart_is_made_whatever_the_scores_are() {
    // A chart that is never finished must not block the end of the test.
    let check = |values: &'static [f64], x: fn(usize) -> f64, is_drawn: bool| {
        let (done, made) = mpsc::channel();
        thread::spawn(move || done.send(all(values, x)));
        let made =
            made.recv_timeout(Duration::from_secs(20)).unwrap_or_else(|error| panic!("{values:?}: {error}"));
        let (lines, _) = made.split_at(3);
        assert!(lines.iter().all(|chart| chart.is_some() == is_drawn), "{values:?}");
        assert!(made.iter().flatten().all(|svg| !svg.contains("NaN") && !svg.contains("inf")), "{values:?}");
    };
    #[expect(clippy::cast_precision_loss, reason = "a small count")]
    let in_order = |index: usize| (index + 1) as f64;
    check(&[0.5, 0.7, 0.6], in_order, true);
    check(&[f64::MAX, 0.5, 0.7], in_order, true);
    check(&[f64::MAX, f64::MAX, f64::MAX, f64::MAX, 0.5], in_order, true);
    check(&[f64::MAX, -f64::MAX], in_order, false);
    check(&[1e300, -1e300], in_order, true);
    check(&[f64::INFINITY, f64::NAN], in_order, false);
    check(&[1e-320, 2e-320, 0.0], in_order, true);
    check(&[-1e-320, 1e-320], in_order, true);
    check(&[f64::MIN_POSITIVE, 3e-17], in_order, true);
    check(&[0.5, 0.5, 0.5], in_order, true);
    check(&[0.0, 0.0], in_order, true);
    check(&[1e299, 1e299], in_order, true);
    // Adjacent floating-point numbers.
    check(&[1e16, 1e16 + 2.0], in_order, true);
    check(&[0.1, 0.1 + f64::EPSILON / 16.0], in_order, true);
    check(&[], in_order, false);
    // A journal with forged values.
    check(&[0.5, 0.6], |_| f64::MAX, true);
    check(&[0.5, 0.6], |_| f64::NAN, true);
    check(&[0.5, 0.6], |_| -f64::MAX, true);
}
