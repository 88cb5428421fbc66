//! Charts of extreme numbers.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::*;
use crate::views::{Fate, Solution};

/// Solutions with these scores, each better than all before it.
fn solutions(scores: &[f64], ended: fn(usize) -> f64) -> Vec<Solution> {
    let solution = |(index, score): (usize, &f64)| Solution {
        ended: ended(index),
        score: Some(*score),
        improved: true,
        did: "n".to_owned(),
        from: (0..index).collect(),
        ..Solution::default()
    };
    scores.iter().enumerate().map(solution).collect()
}

/// Positions on a scale, and of bars.
fn on_scales(values: &[f64]) {
    let scale = Scale::of(values.iter().copied(), values.iter().copied());
    let marks = values.iter().filter_map(|value| Some(scale.as_ref()?.mark(*value, Some([-value, *value]))));
    let marks = marks.flat_map(|mark| mark.ends.into_iter().flatten().chain([mark.at]).collect::<Vec<_>>());
    let bars: Vec<_> = values.iter().map(|value| (*value, Some([-value, *value]))).collect();
    let bars = strips(&bars).into_iter().flat_map(|bar| [bar.from, bar.width, bar.zero]);
    for at in marks.chain(bars) {
        assert!((0.0..=100.3).contains(&at), "{at}: {values:?}");
    }
}

/// Levels around the values, with a dot for each.
fn on_levels(values: &[f64]) -> Option<String> {
    let levels = levels(values.iter().copied())?;
    assert!(levels.len() < 9 && levels.windows(2).all(|both| both[0] <= both[1]), "{levels:?}: {values:?}");
    Some(texts(&levels).join(" ") + &dots(values.iter().map(|value| (0.5, share(*value, &levels)))))
}

/// Every chart that shows the values.
fn all(values: &[f64], x: fn(usize) -> f64) -> Vec<Option<String>> {
    let solutions = solutions(values, x);
    let story = Story {
        end: solutions.last().map_or(0.0, |one| one.ended),
        solutions: &solutions,
        lanes: vec![("n".to_owned(), (0..solutions.len()).collect())],
        references: values.iter().map(|score| ("r", *score)).collect(),
        ..Story::default()
    };
    let up = Story { is_up: true, ..story.clone() };
    vec![story.draw(WIDTHS[0], None), up.draw(WIDTHS[2], Some("")), on_levels(values)]
}

#[test]
fn every_chart_is_made_whatever_the_scores_are() {
    // A chart that is never finished must not block the end of the test.
    let check = |values: &'static [f64], x: fn(usize) -> f64, is_drawn: bool| {
        let (done, made) = mpsc::channel();
        thread::spawn(move || done.send(all(values, x)));
        let made =
            made.recv_timeout(Duration::from_secs(20)).unwrap_or_else(|error| panic!("{values:?}: {error}"));
        on_scales(values);
        let (lines, _) = made.split_at(2);
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

/// The areas of the labels in a picture, for a font whose letters are 7 pixels wide.
fn labels(svg: &str) -> Vec<[f64; 4]> {
    let area = |text: &str| {
        let number = |name: &str| -> f64 {
            let (_, rest) = text.split_once(&format!(" {name}=\"")).unwrap();
            rest.split_once('"').unwrap().0.parse().unwrap()
        };
        let words =
            text.split_once("gain\">").unwrap().1.split_once("</text>").unwrap().0.replace("</tspan>", "");
        #[expect(clippy::cast_precision_loss, reason = "a short text")]
        let (width, x, y) = (7.0 * words.chars().count() as f64, number("x"), number("y"));
        let left = if text.starts_with(" end") { x - width } else { x };
        [left, y - 11.0, left + width, y + 3.0]
    };
    svg.split("<text class=\"label").skip(1).filter(|text| text.contains("gain\">")).map(area).collect()
}

#[test]
fn labels_do_not_cover_each_other() {
    #[expect(clippy::cast_precision_loss, reason = "a small count")]
    for (width, is_up) in [(WIDTHS[0], true), (WIDTHS[1], false), (WIDTHS[2], true)] {
        let solution = |index: usize| Solution {
            ended: (index * 3 % 40) as f64 + index as f64,
            score: Some(if is_up { index as f64 } else { -(index as f64) }.cbrt()),
            gain: Some(0.012),
            did: format!("change {index} of the features"),
            improved: !index.is_multiple_of(3),
            fate: if index.is_multiple_of(4) { Fate::Dropped } else { Fate::Kept },
            led: index % 5 == 1,
            from: index.checked_sub(5).into_iter().collect(),
            ..Solution::default()
        };
        let solutions: Vec<Solution> = (0..40).map(solution).collect();
        let lanes = [0, 1].map(|first| (format!("lane {first}"), (first..40).step_by(2).collect()));
        let story =
            Story { end: 80.0, is_up, lanes: lanes.into(), solutions: &solutions, ..Story::default() };
        let areas = labels(&story.draw(width, None).unwrap());
        assert!(areas.len() > 3, "{} labels at {width}", areas.len());
        for (index, [left, top, right, bottom]) in areas.iter().enumerate() {
            assert!(*left >= 0.0 && *right <= width, "{width}: {left} to {right}");
            let apart =
                |one: &[f64; 4]| one[2] <= *left || *right <= one[0] || one[3] <= *top || *bottom <= one[1];
            assert!(areas[..index].iter().all(apart), "label {index} at {width}");
        }
    }
}
