//! The average of several files of predictions.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{Read, Write};

use csv::{StringRecord, Writer};

use crate::cell::{canonical_set, labels_of_set, separator};
use crate::labels::Layout;
use crate::labels::evaluate::predicted_columns;
use crate::names::{Kind, Metric};
use crate::score::Unscorable;
use crate::table::{Table, canonical, key, shown};

/// Writes a CSV file with the average predictions of several files of the same layout and with the same rows, in the
/// order of the first.
///
/// Numbers and probabilities are the mean. The one column of a metric of labels is the most frequent label, and the
/// first file's of equally frequent ones, or the next file's if it has none of them. Of guesses, the first counts one, the second
/// a half, and so on; those that count most are kept. Of sets, the most frequent one is kept.
///
/// # Errors
/// There is no file, a file does not have this layout, its rows differ from those of the first, a number is not
/// finite, or the result cannot be written.
pub fn average(
    metric: Metric,
    files: impl IntoIterator<Item = impl Read>,
    layout: &Layout<'_>,
    out: impl Write,
) -> Result<(), Unscorable> {
    weighted_average(metric, files.into_iter().map(|file| (1.0, file)), layout, out)
}

/// Like [`average`], with a positive weight for each file. The one column of a metric of labels is the label with the
/// largest weight.
///
/// # Errors
/// As for [`average`].
pub fn weighted_average(
    metric: Metric,
    files: impl IntoIterator<Item = (f64, impl Read)>,
    layout: &Layout<'_>,
    out: impl Write,
) -> Result<(), Unscorable> {
    average_of(metric, files, layout, out).map_err(Unscorable::new)
}

/// Like [`weighted_average`] for files that have a column with scores for each class. The one predicted column of
/// `layout` gets the class with the largest average, the first one of equals.
///
/// # Errors
/// As for [`average`].
pub fn weighted_labels(
    files: impl IntoIterator<Item = (f64, impl Read)>,
    classes: &Layout<'_>,
    layout: &Layout<'_>,
    out: impl Write,
) -> Result<(), Unscorable> {
    let largest = Cells::Largest(Vec::new());
    let averages = averages_of(largest, files, classes);
    averages.and_then(|averages| averages.write(layout, out)).map_err(Unscorable::new)
}

/// The columns of a CSV file with scores of classes. The first one names the row and counts only if `id_column` is
/// known.
///
/// # Errors
/// The file has no header.
pub fn class_columns(file: impl Read, id_column: Option<&str>) -> Result<Vec<String>, Unscorable> {
    let table = Table::open(file).map_err(Unscorable::new)?;
    let classes = table.header().skip(1).map(str::to_owned);
    Ok(id_column.map(str::to_owned).into_iter().chain(classes).collect())
}

fn average_of(
    metric: Metric,
    files: impl IntoIterator<Item = (f64, impl Read)>,
    layout: &Layout<'_>,
    out: impl Write,
) -> Result<(), String> {
    let elected = match metric.kind() {
        _ if predicted_columns(layout).len() != 1 => None,
        Kind::Labels => Some(Elected::Label),
        Kind::Guesses => Some(Elected::Guesses(usize::from(metric.guesses()))),
        Kind::Sets => Some(Elected::Set),
        _ => None,
    };
    let votes = |by| Cells::Votes { by, labels: Vec::new(), names: Vec::new(), known: HashMap::new() };
    let cells = elected.map_or_else(|| Cells::Sums(Vec::new()), votes);
    averages_of(cells, files, layout)?.write(layout, out)
}

fn averages_of(
    cells: Cells,
    files: impl IntoIterator<Item = (f64, impl Read)>,
    layout: &Layout<'_>,
) -> Result<Averages, String> {
    let mut averages = Averages::new(predicted_columns(layout), cells);
    for (at, (weight, file)) in files.into_iter().enumerate() {
        let whose = |why: String| format!("file {}: {why}", at + 1);
        let mut table = Table::open(file).map_err(whose)?;
        averages.weights.push(weight);
        averages.add(&mut table, layout).map_err(whose)?;
    }
    if let Cells::Votes { names, .. } = &averages.cells {
        averages.separator = separator(names);
    }
    if averages.weights.is_empty() { Err("there is no file to average".to_owned()) } else { Ok(averages) }
}

struct Averages {
    columns: Vec<String>,
    /// The IDs in the order of the first file.
    ids: Vec<String>,
    places: HashMap<u64, usize>,
    cells: Cells,
    /// The weights of the files so far.
    weights: Vec<f64>,
    /// What is between the labels of a cell that has several.
    separator: char,
}

enum Cells {
    /// The weighted sums of numbers, row after row.
    Sums(Vec<f64>),
    /// The weighted sums of the classes' scores, row after row; the class with the largest sum is predicted.
    Largest(Vec<f64>),
    /// The cells of each row, as places in the names, file after file.
    Votes { by: Elected, labels: Vec<Vec<u32>>, names: Vec<String>, known: HashMap<String, u32> },
}

/// What cells are elected from.
#[derive(Clone, Copy)]
enum Elected {
    Label,
    /// The most guesses of a row.
    Guesses(usize),
    Set,
}

impl Averages {
    fn new(columns: Vec<String>, cells: Cells) -> Self {
        Self { columns, ids: Vec::new(), places: HashMap::new(), cells, weights: Vec::new(), separator: ' ' }
    }

    fn add(&mut self, table: &mut Table<impl Read>, layout: &Layout<'_>) -> Result<(), String> {
        let names: Vec<&str> = self.columns.iter().map(String::as_str).collect();
        let columns = table.columns(&names)?;
        let id_column = match layout.id_column {
            Some(id) => Some(table.columns(&[id])?[0]),
            None => None,
        };
        if let Cells::Votes { labels, .. } = &mut self.cells {
            labels.push(vec![0; self.ids.len()]);
        }
        let is_first = self.weights.len() == 1;
        let mut seen = vec![false; self.ids.len()];
        let (mut row, mut number) = (StringRecord::new(), 0);
        while table.read(&mut row)? {
            let id =
                id_column.map_or_else(|| number.to_string(), |id| row.get(id).unwrap_or_default().to_owned());
            number += 1;
            let place = match self.places.get(&key(&id)) {
                Some(place) if !seen[*place] => *place,
                Some(_) => return Err(format!("the ID {} occurs more than once", shown(&id))),
                None if !is_first => return Err(format!("the ID {} is not in the first file", shown(&id))),
                None => self.new_row(&id, &mut seen),
            };
            seen[place] = true;
            self.add_row(&row, &columns, place)
                .map_err(|why| format!("the row with ID {} {why}", shown(&id)))?;
        }
        match seen.iter().position(|seen| !seen) {
            Some(place) => Err(format!("the ID {} is missing", shown(&self.ids[place]))),
            None if number == 0 => Err("the file has no rows".to_owned()),
            None => Ok(()),
        }
    }

    fn new_row(&mut self, id: &str, seen: &mut Vec<bool>) -> usize {
        let place = self.ids.len();
        self.places.insert(key(id), place);
        self.ids.push(id.to_owned());
        seen.push(false);
        match &mut self.cells {
            Cells::Sums(sums) | Cells::Largest(sums) => sums.extend(self.columns.iter().map(|_| 0.0)),
            Cells::Votes { labels, .. } => labels.iter_mut().for_each(|file| file.push(0)),
        }
        place
    }

    fn add_row(&mut self, row: &StringRecord, columns: &[usize], place: usize) -> Result<(), String> {
        let weight = self.weights.last().copied().unwrap_or(1.0);
        for (at, column) in columns.iter().enumerate() {
            let cell = row.get(*column).unwrap_or_default().trim();
            match &mut self.cells {
                Cells::Sums(sums) | Cells::Largest(sums) => match cell.parse::<f64>() {
                    Ok(number) if number.is_finite() => sums[place * columns.len() + at] += weight * number,
                    _ => return Err(format!("has {}, which is not a finite number", shown(cell))),
                },
                Cells::Votes { by, labels, names, known } => {
                    let next = names.len() as u32;
                    let form = match by {
                        Elected::Label => canonical(cell),
                        Elected::Guesses(_) => cell.into(),
                        Elected::Set => canonical_set(cell, ' ').into(),
                    };
                    let label = *known.entry(form.into_owned()).or_insert_with(|| {
                        names.push(cell.to_owned());
                        next
                    });
                    if let Some(file) = labels.last_mut() {
                        file[place] = label;
                    }
                }
            }
        }
        Ok(())
    }

    fn write(&self, layout: &Layout<'_>, out: impl Write) -> Result<(), String> {
        let broken = |error: &dyn std::fmt::Display| format!("the averages cannot be written: {error}");
        let mut writer = Writer::from_writer(out);
        writer.write_record(layout.header).map_err(|error| broken(&error))?;
        for (place, id) in self.ids.iter().enumerate() {
            let mut predicted = self.row(place).into_iter();
            let is_id = |name: &String| layout.id_column.map(str::trim) == Some(name.trim());
            let cell = |name| if is_id(name) { id.clone() } else { predicted.next().unwrap_or_default() };
            let row: Vec<String> = layout.header.iter().map(cell).collect();
            writer.write_record(row).map_err(|error| broken(&error))?;
        }
        writer.flush().map_err(|error| broken(&error))
    }

    /// The predictions of a row.
    fn row(&self, place: usize) -> Vec<String> {
        let width = self.columns.len();
        match &self.cells {
            Cells::Sums(sums) => {
                let total: f64 = self.weights.iter().sum();
                let mean = |sum: &f64| (sum / total).to_string();
                sums[place * width..(place + 1) * width].iter().map(mean).collect()
            }
            Cells::Largest(sums) => {
                let sums = &sums[place * width..(place + 1) * width];
                // Of equal maxima, `max_by` takes the last one.
                let largest = (0..width).rev().max_by(|one, two| sums[*one].total_cmp(&sums[*two]));
                vec![self.columns[largest.unwrap_or_default()].clone()]
            }
            Cells::Votes { by: Elected::Guesses(most), labels, names, .. } => {
                let cells = labels.iter().map(|file| names[file[place] as usize].as_str());
                let votes: Vec<(&str, f64)> = cells.zip(self.weights.iter().copied()).collect();
                vec![guessed(&votes, self.separator, *most)]
            }
            Cells::Votes { labels, names, .. } => {
                let votes: Vec<u32> = labels.iter().map(|file| file[place]).collect();
                let of_label = |label: u32| {
                    let files = votes.iter().zip(&self.weights).filter(|(vote, _)| **vote == label);
                    files.map(|(_, weight)| weight).sum::<f64>()
                };
                // Of equal maxima, `max_by` takes the last one.
                let winner =
                    votes.iter().rev().max_by(|one, two| of_label(**one).total_cmp(&of_label(**two)));
                let winner = winner.copied().unwrap_or_default();
                vec![names[winner as usize].clone()]
            }
        }
    }
}

/// The guesses that count most in the cells of several files with their weights. Equal labels may be written in different forms.
fn guessed(votes: &[(&str, f64)], separator: char, most: usize) -> String {
    let mut sums: Vec<(Cow<'_, str>, &str, f64)> = Vec::new();
    for (cell, weight) in votes {
        let guesses = labels_of_set(cell, separator).map(|guess| (canonical(guess), guess));
        let guesses: Vec<(Cow<'_, str>, &str)> = guesses.collect();
        let is_first = |(at, (form, _)): &(usize, &(Cow<'_, str>, &str))| {
            guesses[..*at].iter().all(|one| one.0 != *form)
        };
        for (place, (_, (form, guess))) in guesses.iter().enumerate().filter(is_first).enumerate() {
            let share = weight / (place + 1) as f64;
            match sums.iter_mut().find(|(known, ..)| known == form) {
                Some((.., sum)) => *sum += share,
                None => sums.push((form.clone(), guess, share)),
            }
        }
    }
    sums.sort_by(|one, two| two.2.total_cmp(&one.2));
    let guesses: Vec<&str> = sums.into_iter().take(most).map(|(_, guess, _)| guess).collect();
    guesses.join(&separator.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(metric: Metric, files: &[&str], expected: Result<&str, &str>) {
        let header = ["id".to_owned(), "y".to_owned()];
        let layout = Layout { header: &header, id_column: Some("id") };
        let mut out = Vec::new();
        let done = average(metric, files.iter().map(|file| file.as_bytes()), &layout, &mut out);
        let found = done.map(|()| String::from_utf8(out).unwrap()).map_err(|why| why.to_string());
        assert_eq!(found.as_deref().map_err(String::as_str), expected, "{files:?}");
    }

    #[test]
    fn numbers_have_a_mean_and_labels_a_majority() {
        check(Metric::Rmse, &["id,y\na,1\nb,2\n", "y,id\n5,b\n2,a\n"], Ok("id,y\na,1.5\nb,3.5\n"));
        let votes = ["id,y\n1,cat\n2,0\n", "id,y\n1,dog\n2,1.0\n", "id,y\n2,1\n1,dog\n"];
        check(Metric::Accuracy, &votes, Ok("id,y\n1,dog\n2,1.0\n"));
        check(Metric::Accuracy, &votes[..2], Ok("id,y\n1,cat\n2,0\n"));
        let guesses = ["id,y\n1,a b-1 c\n", "id,y\n1,b-1 a d\n", "id,y\n1,b-1 e\n"];
        check(Metric::MapAt(3), &guesses, Ok("id,y\n1,b-1 a e\n"));
        let sets = ["id,y\n1,x z\n2,w\n", "id,y\n1,y y\n2,\n", "id,y\n1,z x\n2,\n"];
        check(Metric::SampleF1, &sets, Ok("id,y\n1,x z\n2,\n"));
    }

    #[test]
    fn files_that_do_not_match_are_named() {
        check(Metric::Rmse, &[], Err("there is no file to average"));
        check(
            Metric::Rmse,
            &["id,y\na,1\n", "id,y\nb,1\n"],
            Err("file 2: the ID `b` is not in the first file"),
        );
        check(Metric::Rmse, &["id,y\na,1\nb,1\n", "id,y\nb,1\n"], Err("file 2: the ID `a` is missing"));
    }
}
