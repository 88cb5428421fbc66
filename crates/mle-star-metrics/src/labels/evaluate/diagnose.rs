//! Where predictions are right and where they are wrong.

use std::collections::HashMap;

use csv::StringRecord;
use mle_star_domain::diagnostics::{Diagnostics, OfTarget, PartScore, Parts, WorstRow};
use mle_star_domain::metric::Direction;

use super::{Cells, Labels, Layout, Others, OwnedTruth, Predicted};
use crate::score::Unscorable;
use crate::table::{Table, key};

mod classes;
mod numbers;

/// The most targets that are told.
const MOST_TARGETS: usize = 4;
/// The most parts of one division that are told.
const MOST_PARTS: usize = 12;
/// The most rows that are told.
const WORST: usize = 10;

/// A way to divide rows.
#[derive(Clone, Debug)]
pub struct Division {
    /// What divides them.
    pub by: String,
    /// The part of each row, by its ID.
    pub part_of: HashMap<String, usize>,
    /// The names of the parts. Parts without a row are not told.
    pub names: Vec<String>,
    /// Whether the order of parts means something. Else the part with the worst score is the first.
    pub is_ordered: bool,
}

/// Files of predictions for the same rows, as CSV.
#[derive(Clone, Copy, Debug)]
pub struct Files<'a> {
    /// The predictions, in the layout of a submission.
    pub predictions: &'a [u8],
    /// Its layout.
    pub layout: Layout<'a>,
    /// The probability of each class behind predicted labels, with its layout.
    pub class_scores: Option<(&'a [u8], Layout<'a>)>,
}

impl Labels {
    /// Where predictions are right and where they are wrong. Weights count in scores only.
    ///
    /// # Errors
    /// As [`Labels::evaluate`].
    pub fn diagnose(
        &self,
        files: &Files<'_>,
        others: Others,
        divisions: &[Division],
    ) -> Result<Diagnostics, Unscorable> {
        let predicted = self.predicted(files.predictions, &files.layout, others)?;
        let scores = files.class_scores.and_then(|(text, layout)| self.predicted(text, &layout, others).ok());
        let rows = predicted.first().map_or(0, Predicted::rows);
        let mut targets: Vec<(OfTarget, Vec<(u64, WorstRow)>)> = Vec::new();
        for (at, (labels, own)) in self.targets().zip(&predicted).take(MOST_TARGETS).enumerate() {
            let likely = scores.as_ref().and_then(|all| all.get(at)).filter(|one| one.keys == own.keys);
            targets.push(labels.of_target(own, likely));
        }
        name_rows(files, targets.iter_mut().flat_map(|(_, worst)| worst))?;
        let named = |(target, worst): (OfTarget, Vec<(u64, WorstRow)>)| OfTarget {
            worst: worst.into_iter().map(|(_, row)| row).collect(),
            ..target
        };
        Ok(Diagnostics {
            rows: rows as u64,
            score: mean_score(&predicted),
            parts: divisions.iter().filter_map(|one| self.parts(&predicted, one)).collect(),
            targets: targets.into_iter().map(named).collect(),
            targets_left_out: predicted.len().saturating_sub(MOST_TARGETS) as u64,
            ..Diagnostics::default()
        })
    }

    fn of_target(&self, own: &Predicted, likely: Option<&Predicted>) -> (OfTarget, Vec<(u64, WorstRow)>) {
        let target = OfTarget { target: self.target.clone(), ..OfTarget::default() };
        match &own.truth {
            OwnedTruth::Numbers(truth) => numbers::of(target, own, truth),
            OwnedTruth::Classes { rows, .. } => classes::of(target, own, likely, rows),
        }
    }

    /// The scores of the parts; `None` if there are not several.
    fn parts(&self, predicted: &[Predicted], by: &Division) -> Option<Parts> {
        let first = predicted.first()?;
        let of_key: HashMap<u64, usize> = by.part_of.iter().map(|(id, part)| (key(id), *part)).collect();
        let mut places = vec![Vec::new(); by.names.len()];
        for (place, key) in first.keys.iter().enumerate() {
            if let Some(rows) = of_key.get(key).and_then(|part| places.get_mut(*part)) {
                rows.push(place);
            }
        }
        let mut filled: Vec<(usize, Vec<usize>)> =
            places.into_iter().enumerate().filter(|(_, rows)| !rows.is_empty()).collect();
        if filled.len() < 2 {
            return None;
        }
        let left_out = filled.len().saturating_sub(MOST_PARTS) as u64;
        filled.sort_by_key(|(part, rows)| (usize::MAX - rows.len(), *part));
        filled.truncate(MOST_PARTS);
        filled.sort_by_key(|(part, _)| *part);
        let part = |(part, rows): (usize, Vec<usize>)| {
            let own: Vec<Predicted> = predicted.iter().map(|one| one.at(&rows).in_folds(None)).collect();
            PartScore { name: by.names[part].clone(), rows: rows.len() as u64, score: mean_score(&own) }
        };
        let mut parts: Vec<PartScore> = filled.into_iter().map(part).collect();
        if !by.is_ordered {
            let badness = |part: &PartScore| match (part.score, self.metric.direction()) {
                (None, _) => f64::INFINITY,
                (Some(score), Direction::Maximize) => score,
                (Some(score), Direction::Minimize) => -score,
            };
            parts.sort_by(|one, other| badness(one).total_cmp(&badness(other)));
        }
        Some(Parts { by: by.by.clone(), parts, left_out, ..Parts::default() })
    }
}

/// The mean score over the targets.
fn mean_score(predicted: &[Predicted]) -> Option<f64> {
    let scores = predicted.iter().map(|one| one.score(&one.values).ok().filter(|score| score.is_finite()));
    let sum: f64 = scores.sum::<Option<f64>>()?;
    Some(sum / predicted.len().max(1) as f64)
}

/// The rows with the largest loss, without an ID, each with its key.
fn worst(
    own: &Predicted,
    loss: impl Fn(usize) -> f64,
    words: impl Fn(usize) -> [String; 2],
) -> Vec<(u64, WorstRow)> {
    let mut losses: Vec<(f64, usize)> = (0..own.rows()).map(|row| (loss(row), row)).collect();
    losses.retain(|(loss, _)| *loss > 0.0);
    losses.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
    let row = |(loss, row): (f64, usize)| {
        let [truth, predicted] = words(row);
        (own.keys[row], WorstRow { truth, predicted, loss, ..WorstRow::default() })
    };
    losses.into_iter().take(WORST).map(row).collect()
}

/// Gives rows the IDs that they have in the file.
fn name_rows<'a>(
    files: &Files<'_>,
    rows: impl Iterator<Item = &'a mut (u64, WorstRow)>,
) -> Result<(), Unscorable> {
    let mut wanted: HashMap<u64, Vec<&mut WorstRow>> = HashMap::new();
    for (key, row) in rows {
        wanted.entry(*key).or_default().push(row);
    }
    let mut table = Table::open(files.predictions).map_err(Unscorable::new)?;
    let id = files.layout.id_column.and_then(|id| table.column(id));
    let (mut row, mut number) = (StringRecord::new(), 0_u64);
    while !wanted.is_empty() && table.read(&mut row).map_err(Unscorable::new)? {
        let own =
            id.map_or_else(|| number.to_string(), |id| row.get(id).unwrap_or_default().trim().to_owned());
        number += 1;
        for row in wanted.remove(&key(&own)).into_iter().flatten() {
            row.id.clone_from(&own);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::labels::Columns;
    use crate::names::Metric;

    fn diagnosed(metric: Metric, truth: &str, file: &str, divisions: &[Division]) -> Diagnostics {
        let labels =
            Labels::read(truth.as_bytes(), &Columns::new(Some("id".to_owned()), "y"), metric).unwrap();
        let header = ["id", "y"].map(str::to_owned);
        let layout = Layout { header: &header, id_column: Some("id") };
        let files = Files { predictions: file.as_bytes(), layout, class_scores: None };
        labels.diagnose(&files, Others::Ignore, divisions).unwrap()
    }

    fn worst_of(target: &OfTarget) -> Vec<[&str; 3]> {
        target.worst.iter().map(|row| [&row.id, &row.truth, &row.predicted].map(String::as_str)).collect()
    }

    #[test]
    fn probabilities_of_two_classes_have_curves_and_are_counted_above_one_half() {
        let truth = "id,y\na,0\nb,0\nc,1\nd,1\n";
        let check = |file: &str, confusion: &[[u64; 2]], area: f64, precision: f64, worst: &str| {
            let found = diagnosed(Metric::RocAuc, truth, file, &[]);
            let classes = found.targets[0].classes.as_ref().unwrap();
            assert_eq!(classes.confusion, confusion, "{file}");
            assert_eq!((classes.threshold, classes.curves.len()), (Some(0.5), 1));
            let curve = &classes.curves[0];
            assert!((curve.area - area).abs() < 1e-12, "{curve:?}");
            assert!((curve.average_precision - precision).abs() < 1e-12, "{curve:?}");
            assert!((found.score.unwrap() - area).abs() < 1e-12);
            // Of rows with the same loss any is the first.
            let first = &found.targets[0].worst[0];
            assert!(worst.is_empty() || first.id == worst, "{first:?}");
        };
        // The figures of scikit-learn.
        check("id,y\na,0.1\nb,0.4\nc,0.35\nd,0.8\n", &[[2, 0], [1, 1]], 0.75, 0.833_333_333_333_333_3, "c");
        check("id,y\na,0.5\nb,0.5\nc,0.5\nd,0.5\n", &[[2, 0], [2, 0]], 0.5, 0.5, "");
        check("id,y\nd,0.9\nc,0.7\nb,0.2\na,0.6\n", &[[1, 1], [0, 2]], 1.0, 1.0, "a");
    }

    #[test]
    fn probabilities_are_compared_with_what_came_true() {
        let (mut truth, mut file) = ("id,y\n".to_owned(), "id,y\n".to_owned());
        for row in 0..1000_u32 {
            // Of every ten rows with the probability n/10, n are of the class.
            let (bin, place) = (row % 10, row / 10 % 10);
            truth += &format!("{row},{}\n", u8::from(place < bin));
            file += &format!("{row},{}\n", f64::from(bin) / 10.0);
        }
        let found = diagnosed(Metric::LogLoss, &truth, &file, &[]);
        let calibration = &found.targets[0].classes.as_ref().unwrap().calibration;
        assert_eq!(calibration.len(), 10);
        assert!(calibration.iter().all(|bin| bin.rows == 100 && (bin.predicted - bin.observed).abs() < 1e-9));
    }

    #[test]
    fn errors_of_numbers_are_binned_and_sampled() {
        let rows = 3000_u32;
        let (mut truth, mut file) = ("id,y\n".to_owned(), "id,y\n".to_owned());
        for row in 0..rows {
            truth += &format!("{row},{}\n", row % 100);
            let error = if row == 7 { 1000.0 } else { f64::from(row % 21) - 10.0 };
            file += &format!("{row},{}\n", f64::from(row % 100) + error);
        }
        let found = diagnosed(Metric::Rmse, &truth, &file, &[]);
        let numbers = found.targets[0].numbers.as_ref().unwrap();
        assert!((300..=500).contains(&numbers.points.len()), "{}", numbers.points.len());
        assert_eq!(numbers.errors.iter().map(|bin| bin.rows).sum::<u64>() + numbers.beyond, u64::from(rows));
        assert_eq!((numbers.beyond, numbers.median_size, numbers.most), (1, 5.0, 9.0));
        assert_eq!(worst_of(&found.targets[0])[0], ["7", "7", "1007"]);
        assert_eq!(found.targets[0].worst[0].loss, 1000.0);
        // All errors are the same.
        let found = diagnosed(Metric::Mae, "id,y\n1,1\n2,2\n", "id,y\n1,2\n2,3\n", &[]);
        assert!(found.targets[0].numbers.as_ref().unwrap().errors.is_empty());
    }

    #[test]
    fn parts_have_their_own_score() {
        let truth = "id,y\n1,1\n2,2\n3,3\n4,4\n5,5\n";
        let file = "id,y\n1,1\n2,2\n3,5\n4,6\n5,9\n";
        let check = |parts: &[usize], is_ordered: bool, expected: Option<&[(&str, u64, f64)]>| {
            let division = Division {
                by: "store".to_owned(),
                part_of: (1..).map(|id: u32| format!("{id}.0")).zip(parts.iter().copied()).collect(),
                names: ["a", "b", "c"].map(str::to_owned).to_vec(),
                is_ordered,
            };
            let found = diagnosed(Metric::Mae, truth, file, &[division]);
            let told = found.parts.first().map(|parts| {
                parts.parts.iter().map(|part| (part.name.as_str(), part.rows, part.score.unwrap())).collect()
            });
            let told: Option<Vec<(&str, u64, f64)>> = told;
            assert_eq!(told.as_deref(), expected);
        };
        check(&[0, 0, 1, 1, 2], true, Some(&[("a", 2, 0.0), ("b", 2, 2.0), ("c", 1, 4.0)]));
        check(&[0, 0, 1, 1, 2], false, Some(&[("c", 1, 4.0), ("b", 2, 2.0), ("a", 2, 0.0)]));
        check(&[1, 1, 1, 1, 1], true, None);
    }
}
