//! Where the predictions of the final solution are right and where they are wrong.

use mle_star_domain::diagnostics::{
    ClassCurves, ClassErrors, Diagnostics, NumberErrors, OfTarget, Parts, RowsOf, WorstRow,
};
use mle_star_domain::layout;
use serde::Serialize;

use super::context::Context;
use crate::chart::{self, About, Bar, Line, Mood};
use crate::cut::line_of;
use crate::figures::{grouped, number, rounded};
use crate::files;

/// The largest file that is read, in bytes.
const LARGEST: u64 = 4 << 20;

/// The part of a run's page about its predictions.
#[derive(Clone, Debug, Serialize)]
pub struct DiagnosticsView {
    /// Which rows, and their score.
    pub about: String,
    /// The scores of parts of the rows.
    pub parts: Vec<PartsView>,
    /// What is found for each target.
    pub targets: Vec<TargetView>,
    /// What is left out, in one sentence.
    pub left_out: Option<String>,
}

/// The scores of parts of the rows.
#[derive(Clone, Debug, Serialize)]
pub struct PartsView {
    /// The title.
    pub title: String,
    /// SVG: the scores.
    pub chart: Option<String>,
    /// The name of each part, the number of its rows and its score.
    pub rows: Vec<[String; 3]>,
    /// The number of parts that are not listed.
    pub left_out: u64,
}

/// What is found for a target.
#[derive(Clone, Debug, Serialize)]
pub struct TargetView {
    /// Its place among the targets.
    pub number: usize,
    /// Its name, if there are several.
    pub name: Option<String>,
    /// True and predicted classes.
    pub confusion: Option<Confusion>,
    /// The pictures.
    pub figures: Vec<Figure>,
    /// The columns of the table of worst rows.
    pub columns: Vec<String>,
    /// Its rows: ID, truth, prediction, loss, and further cells.
    pub worst: Vec<[String; 4]>,
    /// The further cells of each of these rows.
    pub cells: Vec<Vec<String>>,
    /// What the loss is.
    pub loss: String,
}

/// True and predicted classes.
#[derive(Clone, Debug, Serialize)]
pub struct Confusion {
    /// The classes.
    pub names: Vec<String>,
    /// For each true class the cells of the predicted classes.
    pub rows: Vec<Vec<Cell>>,
    /// How classes come from probabilities.
    pub about: String,
}

/// The rows of a true class that are predicted as a class.
#[derive(Clone, Debug, Serialize)]
pub struct Cell {
    /// Their number.
    pub rows: String,
    /// Their share of the true class.
    pub share: String,
    /// `right`, `wrong` if it is a tenth of the true class or more, or nothing.
    pub mood: &'static str,
}

/// A picture.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    /// Its title.
    pub title: String,
    /// SVG.
    pub chart: String,
    /// What it shows.
    pub caption: String,
    /// Its figures as a table: the header first.
    pub table: Vec<Vec<String>>,
}

/// Creates the view of a run; `None` without a result, or without predictions that the program can read.
pub fn diagnostics(context: &Context<'_>) -> Option<DiagnosticsView> {
    let result = context.result()?;
    let file = format!("{}/{}", layout::HOLDOUT, layout::DIAGNOSTICS);
    let text = files::read(&context.run.folder, &file, LARGEST).ok()?;
    let found: Diagnostics = serde_json::from_str(&text).ok()?;
    Some(of(&found, &line_of(&result.task.evaluation_metric)))
}

fn of(found: &Diagnostics, metric: &str) -> DiagnosticsView {
    let rows = grouped(found.rows);
    let score = found.score.map_or_else(String::new, |score| format!("; {metric} {}", shown(score)));
    let several = found.targets.len() > 1;
    DiagnosticsView {
        about: format!("What the final solution predicted for {rows} {} rows{score}.", of_rows(found.of)),
        parts: found.parts.iter().enumerate().map(|(at, parts)| of_parts(at, parts, metric)).collect(),
        targets: found
            .targets
            .iter()
            .enumerate()
            .map(|(at, target)| of_target(at, target, several))
            .collect(),
        left_out: (found.targets_left_out > 0)
            .then(|| format!("{} further targets are not shown.", found.targets_left_out)),
    }
}

fn of_rows(of: RowsOf) -> &'static str {
    match of {
        RowsOf::HeldOut => "held-out",
        RowsOf::Validation => "validation",
    }
}

fn of_parts(at: usize, parts: &Parts, metric: &str) -> PartsView {
    let by = line_of(&parts.by);
    let title = format!("{metric} by {by}, {} rows", of_rows(parts.of));
    let bars: Vec<Bar> = parts
        .parts
        .iter()
        .filter_map(|part| {
            let score = part.score?;
            Some(Bar { name: part.name.clone(), value: score, shown: shown(score), mood: Mood::Plain })
        })
        .collect();
    let rows: Vec<[String; 3]> = parts
        .parts
        .iter()
        .map(|part| {
            let score = part.score.map_or_else(|| "none".to_owned(), shown);
            [line_of(&part.name), grouped(part.rows), score]
        })
        .collect();
    let description = format!("{} parts; the table has their scores.", rows.len());
    let id = format!("diagnostics-parts-{at}");
    let about = About { id: &id, title: &title, description: &description };
    PartsView { chart: chart::bars(&about, &bars), title, rows, left_out: parts.left_out }
}

fn of_target(at: usize, found: &OfTarget, several: bool) -> TargetView {
    let classes = found.classes.iter().flat_map(|classes| of_classes(at, classes));
    let numbers = found.numbers.iter().flat_map(|numbers| of_numbers(at, numbers));
    let columns = found.worst.first().map(|row| row.cells.iter().map(|[name, _]| line_of(name)).collect());
    TargetView {
        number: at,
        name: several.then(|| line_of(&found.target)),
        confusion: found.classes.as_ref().and_then(confusion),
        figures: classes.chain(numbers).collect(),
        columns: columns.unwrap_or_default(),
        worst: found.worst.iter().map(|row| worst(row, found.numbers.is_some())).collect(),
        cells: found.worst.iter().map(cells).collect(),
        loss: found.loss.clone(),
    }
}

fn worst(row: &WorstRow, of_numbers: bool) -> [String; 4] {
    // A class may be called -1.
    let is_number = |text: &str| of_numbers && text.parse::<f64>().is_ok();
    let figure = |text: &str| if is_number(text) { minus(&line_of(text)) } else { line_of(text) };
    [line_of(&row.id), figure(&row.truth), figure(&row.predicted), rounded(row.loss)]
}

fn cells(row: &WorstRow) -> Vec<String> {
    row.cells.iter().map(|[_, cell]| line_of(cell)).collect()
}

fn confusion(classes: &ClassErrors) -> Option<Confusion> {
    let size = classes.names.len();
    if classes.confusion.len() != size || size == 0 {
        return None;
    }
    let row = |(truth, counts): (usize, &Vec<u64>)| {
        let all = counts.iter().sum::<u64>();
        let cell = |(predicted, count): (usize, &u64)| {
            let share = if all == 0 { 0.0 } else { *count as f64 / all as f64 };
            let mood = match (truth == predicted, share >= 0.1) {
                (true, _) => "right",
                (false, true) => "wrong",
                (false, false) => "",
            };
            let share = if all == 0 { String::new() } else { format!("{:.0} %", 100.0 * share) };
            Cell { rows: grouped(*count), share, mood }
        };
        counts.iter().enumerate().map(cell).collect()
    };
    Some(Confusion {
        names: classes.names.iter().map(|name| line_of(name)).collect(),
        rows: classes.confusion.iter().enumerate().map(row).collect(),
        about: match classes.threshold {
            Some(threshold) => format!(
                "A row is counted as of the class that the metric is about if its probability is above {threshold}."
            ),
            None => "Shares are of the true class.".to_owned(),
        },
    })
}

fn of_classes(at: usize, classes: &ClassErrors) -> Vec<Figure> {
    let curve = |what: &str,
                 title: &str,
                 axes,
                 has_diagonal,
                 figure: fn(&ClassCurves) -> (f64, &Vec<[f64; 2]>)| {
        let lines: Vec<Line> = classes
            .curves
            .iter()
            .map(|one| {
                let (value, points) = figure(one);
                let name = format!("{} ({value:.3})", line_of(&one.class));
                Line { name, points: points.clone(), intervals: Vec::new() }
            })
            .collect();
        let table = classes.curves.iter().map(|one| {
            vec![line_of(&one.class), format!("{:.1} %", 100.0 * one.share), format!("{:.4}", figure(one).0)]
        });
        let header = ["class", "share of rows", what].map(str::to_owned).to_vec();
        let id = format!("diagnostics-{}-{at}", what.replace(' ', "-"));
        let description = format!("One line a class; the table has the {what} of each.");
        let about = About { id: &id, title, description: &description };
        let chart = chart::shares(&about, axes, &lines, has_diagonal)?;
        let others = classes.names.len().saturating_sub(lines.len());
        let cut = if lines.len() > 1 && others > 0 {
            format!(" {others} rarer classes are not drawn.")
        } else {
            String::new()
        };
        let caption = match classes.curves.as_slice() {
            [one] if classes.names.len() <= 2 => {
                format!(
                    "At every threshold of the probability of {}; in brackets the {what}.",
                    line_of(&one.class)
                )
            }
            _ => format!("Each class against the others; in brackets the {what}.{cut}"),
        };
        Some(Figure {
            title: title.to_owned(),
            chart,
            caption,
            table: std::iter::once(header).chain(table).collect(),
        })
    };
    let roc =
        curve("area", "ROC curve", ["rate of false positives", "rate of true positives"], true, |one| {
            (one.area, &one.roc)
        });
    let precision =
        curve("average precision", "Precision and recall", ["recall", "precision"], false, |one| {
            (one.average_precision, &one.precision)
        });
    roc.into_iter().chain(precision).chain(calibration(at, classes)).collect()
}

fn calibration(at: usize, classes: &ClassErrors) -> Option<Figure> {
    let bins = &classes.calibration;
    let line = Line {
        name: String::new(),
        points: bins.iter().map(|bin| [bin.predicted, bin.observed]).collect(),
        intervals: bins.iter().map(|bin| bin.interval).collect(),
    };
    let id = format!("diagnostics-calibration-{at}");
    let about = match &classes.calibrated {
        Some(class) => format!("the probability of {}", line_of(class)),
        None => "the probability of the most probable class".to_owned(),
    };
    let title = "Calibration".to_owned();
    let description = format!("How often {about} came true, in {} bins of rows.", bins.len());
    let picture = About { id: &id, title: &title, description: &description };
    let chart = chart::shares(&picture, ["mean probability", "share that came true"], &[line], true)?;
    let header = ["mean probability", "came true", "95 % interval", "rows"].map(str::to_owned).to_vec();
    let row = |bin: &mle_star_domain::diagnostics::Calibrated| {
        let [low, high] = bin.interval;
        vec![
            format!("{:.3}", bin.predicted),
            format!("{:.3}", bin.observed),
            format!("[{low:.3}, {high:.3}]"),
            grouped(bin.rows),
        ]
    };
    let caption = format!(
        "How often {about} came true. On the diagonal it means what it says; whiskers are 95 % intervals."
    );
    Some(Figure {
        title,
        chart,
        caption,
        table: std::iter::once(header).chain(bins.iter().map(row)).collect(),
    })
}

fn of_numbers(at: usize, numbers: &NumberErrors) -> Vec<Figure> {
    let (drawn, id) = (grouped(numbers.points.len() as u64), format!("diagnostics-actual-{at}"));
    let title = "Predicted against actual".to_owned();
    let all = numbers.errors.iter().map(|bin| bin.rows).sum::<u64>() + numbers.beyond;
    let caption = match numbers.points.len() as u64 {
        points if points < all => format!(
            "{drawn} of {} rows, drawn at random. Right predictions are on the diagonal.",
            grouped(all)
        ),
        _ => format!("{drawn} rows. Right predictions are on the diagonal."),
    };
    let about = About { id: &id, title: &title, description: &caption };
    let scatter = chart::scatter(&about, &numbers.points).map(|chart| Figure {
        title: title.clone(),
        chart,
        caption: caption.clone(),
        table: Vec::new(),
    });
    let id = format!("diagnostics-errors-{at}");
    let title = "Errors".to_owned();
    let beyond = match numbers.beyond {
        0 => String::new(),
        beyond => format!(" {} rows beyond both ends are not drawn.", grouped(beyond)),
    };
    let caption = format!(
        "The mean error is {}, half of the errors are at most {}, nine of ten at most {}.{beyond}",
        shown(numbers.mean),
        rounded(numbers.median_size),
        rounded(numbers.most)
    );
    let bins: Vec<[f64; 3]> = numbers.errors.iter().map(|bin| [bin.from, bin.to, bin.rows as f64]).collect();
    let about = About { id: &id, title: &title, description: &caption };
    let header = ["from", "to", "rows"].map(str::to_owned).to_vec();
    let rows = numbers.errors.iter().map(|bin| vec![shown(bin.from), shown(bin.to), grouped(bin.rows)]);
    let table = std::iter::once(header).chain(rows).collect();
    let histogram = chart::histogram(&about, &bins).map(|chart| Figure {
        title: title.clone(),
        chart,
        caption: caption.clone(),
        table,
    });
    scatter.into_iter().chain(histogram).collect()
}

/// A number with a minus sign that is one.
fn shown(value: f64) -> String {
    minus(&number(value))
}

fn minus(figure: &str) -> String {
    figure.strip_prefix('-').map_or_else(|| figure.to_owned(), |size| format!("−{size}"))
}

#[cfg(test)]
mod tests {
    use mle_star_domain::diagnostics::Calibrated;

    use super::*;
    use crate::page::{Part, environment, section};

    fn check(target: OfTarget, expected: &[&str], pictures: usize) {
        let environment = environment().unwrap();
        let found = Diagnostics {
            of: RowsOf::HeldOut,
            rows: 1234,
            score: Some(-0.5),
            parts: Vec::new(),
            targets: vec![target],
            targets_left_out: 0,
        };
        let part = Part { name: "diagnostics", title: "Diagnostics", is_over: true, logs: None };
        let page = section(&environment, &part, &of(&found, "rmse")).unwrap();
        for words in ["1,234 held-out rows; rmse −0.50000."].iter().chain(expected) {
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
            calibration: vec![Calibrated { rows: 9, predicted: 0.2, observed: 0.3, interval: [0.1, 0.6] }],
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
            OfTarget {
                classes: Some(classes),
                worst: vec![row],
                loss: "large".to_owned(),
                ..OfTarget::default()
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
}
