//! Diagnostics of the final solution: where its predictions are right and where they are wrong.

use mle_star_domain::diagnostics::{
    CalibrationBin, ClassCurves, ClassErrors, Course, CoursePoint, Courses, Diagnostics, Histogram, Span,
    TargetErrors,
};
use mle_star_domain::layout;
use mle_star_domain::place::{Place, Step};
use serde_json::{Value, json};

use super::data::bars;
use super::{Context, RunReport};
use crate::chart::{FAR, dots, levels, line, share, texts};
use crate::cut::line_of;

/// What was found in the predictions, with its pictures; `None` without a result, or without predictions that the program can
/// read.
pub fn diagnostics(context: &Context<'_>, report: &RunReport) -> Option<Value> {
    let is_combined = report.answer.as_ref().and_then(Place::step) == Some(Step::Selection);
    Some(charts(&found(context)?, is_combined))
}

/// What was found in the predictions.
pub fn found(context: &Context<'_>) -> Option<Diagnostics> {
    context.result()?;
    context.file(&[layout::HOLDOUT, layout::DIAGNOSTICS])
}

fn charts(found: &Diagnostics, is_combined: bool) -> Value {
    json!({
        "found": found,
        "is_combined": is_combined,
        "courses": courses(&found.courses),
        "targets": found.targets.iter().map(target_charts).collect::<Vec<_>>(),
    })
}

/// Lines of actual and predicted numbers, one pair a series.
fn courses(found: &Courses) -> Value {
    let at = |time: f64| share(time, &found.ends);
    let span = |one: &Span| json!({"name": one.name, "x": at(one.from), "width": (at(one.to) - at(one.from)).max(0.004)});
    let course = |one: &Course| {
        let levels =
            levels(one.points.iter().flat_map(|(_, actual, predicted)| [*actual, *predicted]).flatten())?;
        let drawn = |of: fn(&CoursePoint) -> Option<f64>| {
            line(one.points.iter().map(|point| Some((at(point.0), share(of(point)?, &levels)))))
        };
        Some(
            json!({"name": one.name, "levels": texts(&levels), "actual": drawn(|point| point.1), "predicted": drawn(|point| point.2)}),
        )
    };
    json!({
        "spans": found.spans.iter().map(span).collect::<Vec<_>>(),
        "series": found.series.iter().filter_map(course).collect::<Vec<_>>(),
    })
}

/// The pictures of a target.
fn target_charts(found: &TargetErrors) -> Value {
    let (classes, numbers) = (found.classes.as_ref(), found.numbers.as_ref());
    json!({
        "roc": classes.map(|classes| curves(classes, |one| (one.area, &one.roc))),
        "precision": classes.map(|classes| curves(classes, |one| (one.average_precision, &one.precision))),
        "calibration": classes.map(|classes| classes.calibration.as_slice()).filter(|bins| !bins.is_empty()).map(calibration),
        "scatter": numbers.and_then(|numbers| scatter(&numbers.points)),
        "spread": numbers.and_then(|numbers| numbers.spread.as_ref()).filter(|one| !one.labels.is_empty()).map(spread),
    })
}

/// The curve of each class, with its name.
fn curves(classes: &ClassErrors, curve: fn(&ClassCurves) -> (f64, &Vec<[f64; 2]>)) -> Vec<(String, String)> {
    let one = |class: &ClassCurves| {
        let (value, points) = curve(class);
        let points = points.iter().map(|[x, y]| Some((x.clamp(0.0, 1.0), y.clamp(0.0, 1.0))));
        (format!("{} ({value:.3})", line_of(&class.class)), line(points))
    };
    classes.curves.iter().map(one).collect()
}

fn calibration(bins: &[CalibrationBin]) -> Value {
    let points = || bins.iter().map(|bin| (bin.predicted, bin.observed));
    let whisker = |bin: &CalibrationBin| {
        let [low, high] = bin.interval.map(|end| 1.0 - end);
        format!("M{:.4} {low:.4}V{high:.4}", bin.predicted)
    };
    json!({
        "line": line(points().map(Some)),
        "dots": dots(points()),
        "whiskers": bins.iter().map(whisker).collect::<String>(),
    })
}

fn scatter(points: &[[f64; 2]]) -> Option<Value> {
    let near = || points.iter().filter(|point| point.iter().all(|value| value.abs() <= FAR));
    let levels = levels(near().flatten().copied())?;
    let dots = dots(near().map(|[x, y]| (share(*x, &levels), share(*y, &levels))));
    Some(json!({"levels": texts(&levels), "dots": dots}))
}

/// The bars of the errors, and where no error is.
fn spread(of: &Histogram) -> Value {
    let zero = of.ends.first() < Some(&0.0) && of.ends.last() > Some(&0.0);
    json!({"bars": bars(of), "zero": zero.then(|| share(0.0, &of.ends))})
}

#[cfg(test)]
mod tests {
    use mle_star_domain::diagnostics::{DiagnosedRows, PartScore, Parts, WorstRow};

    use super::*;
    use crate::page::{environment, section};
    use crate::run_report::tests::report;
    use crate::views::part;

    fn check(target: TargetErrors, expected: &[&str], pictures: usize) {
        let environment = environment().unwrap();
        let found = Diagnostics {
            of: DiagnosedRows::HeldOut,
            rows: 1234,
            score: Some(-0.5),
            parts: Vec::new(),
            targets: vec![target],
            ..Diagnostics::default()
        };
        let mut report = report(&json!({}));
        report.summary.run.metric = "rmse".to_owned();
        let more = minijinja::context! { report => minijinja::value::Serde(&report) };
        let page = section(&environment, part("diagnostics").unwrap(), &charts(&found, false), more).unwrap();
        for words in ["1,234 held-out rows."].iter().chain(expected) {
            assert!(page.contains(words), "{words}: {page}");
        }
        assert_eq!(page.matches("<svg").count(), pictures, "{page}");
        let ids: Vec<&str> = page.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        let unique: std::collections::HashSet<&&str> = ids.iter().collect();
        assert_eq!(unique.len(), ids.len(), "{ids:?}");
    }

    #[test]
    fn classes_have_a_table_and_curves() {
        let curve = ClassCurves {
            class: "yes".to_owned(),
            share: 0.25,
            roc: vec![[0.0, 0.0], [0.5, 1.0], [1.0, 1.0]],
            area: 0.75,
            precision: vec![[1.0, 0.5]],
            average_precision: 0.5,
        };
        let classes = ClassErrors {
            names: vec!["no".to_owned(), "yes".to_owned()],
            confusion: vec![vec![1500, 500], vec![0, 3]],
            threshold: Some(0.5),
            curves: vec![curve],
            calibration: vec![CalibrationBin {
                rows: 9,
                predicted: 0.2,
                observed: 0.3,
                interval: [0.1, 0.6],
            }],
            calibrated: Some("yes".to_owned()),
        };
        let row = WorstRow {
            id: "<7>".to_owned(),
            truth: "-1.5".to_owned(),
            predicted: "yes".to_owned(),
            loss: 2.5,
            cells: vec![["size".to_owned(), "10".to_owned()]],
        };
        check(
            TargetErrors {
                classes: Some(classes),
                worst: vec![row],
                loss: "large".to_owned(),
                ..TargetErrors::default()
            },
            &[
                "is-wrong\">500 <span class=\"share\">25 %",
                "is-right\">1,500 ",
                "above 0.5.",
                "0.7500",
                "How often the probability of yes came true",
                "&lt;7&gt;",
                "-1.5",
                "<bdi>size</bdi>",
                "The loss is large.",
            ],
            3,
        );
    }

    #[test]
    fn courses_are_drawn_over_folds_and_held_out_rows() {
        let course = |name: &str| Course {
            name: name.to_owned(),
            points: vec![(0.0, Some(2.0), None), (5.0, Some(4.0), Some(3.0)), (10.0, None, Some(4.0))],
        };
        let span = |name: &str, from, to| Span { name: name.to_owned(), from, to };
        let found = Courses {
            ends: vec![0.0, 10.0],
            spans: vec![span("fold 1", 5.0, 7.5), span("held out", 10.0, 10.0)],
            series: vec![course("a"), course("b")],
            ..Courses::default()
        };
        let drawn = courses(&found);
        assert_eq!(drawn["spans"][0], json!({"name": "fold 1", "x": 0.5, "width": 0.25}));
        assert_eq!(drawn["spans"][1]["width"], 0.004);
        let one = &drawn["series"][0];
        assert_eq!(one["levels"], json!(["2.0", "2.5", "3.0", "3.5", "4.0"]));
        assert_eq!(one["actual"], "M0.0000 1.0000h0L0.5000 0.0000");
        assert_eq!(one["predicted"], "M0.5000 0.5000h0L1.0000 0.0000");
        let part_of = |name: &str| PartScore { name: name.to_owned(), rows: 5, score: Some(0.5) };
        let folds = vec![part_of("1"), part_of("2")];
        let parts =
            vec![Parts { by: "fold".to_owned(), parts: folds, score: Some(0.75), ..Parts::default() }];
        let found = Diagnostics { courses: found, parts, ..Diagnostics::default() };
        let more = minijinja::context! { report => minijinja::value::Serde(report(&json!({}))) };
        let page =
            section(&environment().unwrap(), part("diagnostics").unwrap(), &charts(&found, true), more)
                .unwrap();
        let count = |words: &str| page.matches(words).count();
        assert_eq!((count("type=\"radio\""), count(" checked>")), (2, 1), "{page}");
        let combined =
            "and 0.75000 for all of them; the validated score, 0.8123, is of weights chosen on other rows";
        for words in ["validated: fold 1<", ">held out</span>", "<title>held out</title>", combined] {
            assert!(page.contains(words), "{words}: {page}");
        }
    }
}
