//! `predict`: predicts rows with a finished run.

use std::fs::File;
use std::io::{self, BufReader, Write as _};
use std::path::{Path, PathBuf};

use csv::Reader;
use mle_star_domain::trouble::Trouble;
use mle_star_run::predict::{Predictions, TableScore, predict as predict_rows};
use mle_star_run::runtime::drive_with_threads;
use serde_json::{Map, Value, json};
use tempfile::NamedTempFile;

use crate::args::PredictArgs;
use crate::exit::{Exit, Failure};
use crate::foreground::signals;
use crate::output;

/// Predicts the rows of a table.
///
/// # Errors
/// There is no such run, it cannot predict, or the table cannot be read or lacks a column.
pub fn predict(args: &PredictArgs) -> Result<Exit, Failure> {
    let folder = args.run.find()?;
    if let Some(folder) = args.output.as_ref().filter(|file| file.is_dir()) {
        let message = format!("{} is a folder", folder.display());
        return Err(Trouble::new(message, "name a file with --output").into());
    }
    let partial = PartialFile::new(args.output.as_deref())?;
    let done = drive_with_threads(async {
        let signals = signals::listen()?;
        let mut cancel = signals.cancel().clone();
        tokio::select! {
            done = predict_rows(&folder, &args.rows, partial.path(), args.score, &output::talk) => Ok(Ok(done?)),
            _ = cancel.wait_for(|wanted| *wanted) => Ok::<_, Failure>(Err(signals.exit())),
        }
    })?;
    let predicted = match done {
        Ok(predicted) => predicted,
        Err(stopped) => return Ok(stopped),
    };
    if let Some(file) = &args.output {
        partial.keep(file)?;
    }
    print(args, &predicted, &partial)?;
    Ok(Exit::Done)
}

/// The predictions, beside the file that they become.
struct PartialFile(NamedTempFile);

impl PartialFile {
    fn new(output: Option<&Path>) -> Result<Self, Failure> {
        let beside = output.map(|file| match file.parent() {
            Some(folder) if folder != Path::new("") => folder.to_owned(),
            _ => PathBuf::from("."),
        });
        let folder = beside.unwrap_or_else(std::env::temp_dir);
        let made = NamedTempFile::new_in(&folder);
        Ok(Self(made.map_err(|error| cannot_write(&folder, &error))?))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes the predictions into a file, which keeps its permissions if it is there.
    fn keep(&self, file: &Path) -> Result<(), Failure> {
        let mut copy = File::open(self.path()).map_err(|error| cannot_write(file, &error))?;
        let copied = File::create(file).and_then(|mut file| io::copy(&mut copy, &mut file));
        copied.map(drop).map_err(|error| cannot_write(file, &error))
    }
}

/// Prints the score, or else the predictions if they go into no file.
fn print(args: &PredictArgs, predicted: &Predictions, partial: &PartialFile) -> Result<(), Failure> {
    let cannot = |error: io::Error| cannot_write(partial.path(), &error);
    match (&predicted.score, &args.output, args.json) {
        (Some(score), _, true) => output::json(&with_notes(json!(score), predicted))?,
        (Some(score), _, false) => output::data(&line(score)),
        (None, Some(file), true) => {
            output::json(&with_notes(json!({"rows": predicted.rows, "file": file}), predicted))?;
        }
        (None, Some(file), false) => {
            output::talk(&format!("{} rows predicted: {}", predicted.rows, file.display()));
        }
        (None, None, true) => print_objects(partial.path()).map_err(cannot)?,
        (None, None, false) => print_csv(partial.path()).map_err(cannot)?,
    }
    Ok(())
}

/// What was odd about the rows is on stderr, too.
fn with_notes(mut object: Value, predicted: &Predictions) -> Value {
    object["notes"] = json!(predicted.notes);
    object
}

fn line(score: &TableScore) -> String {
    let TableScore { rows, metric, score, interval } = score;
    let interval =
        interval.map_or_else(String::new, |[low, high]| format!(" (95 % interval {low:.6} to {high:.6})"));
    format!("{metric} of {rows} rows: {score:.6}{interval}")
}

fn print_csv(file: &Path) -> io::Result<()> {
    let copied = io::copy(&mut BufReader::new(File::open(file)?), &mut io::stdout().lock());
    unless_unwanted(copied.map(drop).and_then(|()| io::stdout().lock().flush()))
}

/// The rows as a JSON list of objects, one a line; numbers are numbers.
fn print_objects(file: &Path) -> io::Result<()> {
    let mut reader = Reader::from_path(file)?;
    let header = reader.headers()?.clone();
    let mut out = io::stdout().lock();
    let mut write = |text: &str| unless_unwanted(out.write_all(text.as_bytes()));
    write("[")?;
    for (at, row) in reader.records().enumerate() {
        let row = row?;
        let cells = header.iter().zip(row.iter()).map(|(name, cell)| (name.to_owned(), value(cell)));
        let object = Value::Object(cells.collect::<Map<String, Value>>());
        write(&format!("{}{object}", if at == 0 { "\n" } else { ",\n" }))?;
    }
    write("\n]\n")
}

/// A cell as JSON. `007` is a name and not a number, and so is what would be printed otherwise than it was read. What
/// was computed has a point or a signed exponent.
fn value(cell: &str) -> Value {
    let is_computed = cell.contains(['.', '+', '-']);
    let number = serde_json::from_str::<serde_json::Number>(cell).ok();
    let number = number.filter(|number| is_computed || number.to_string() == cell);
    number.map_or_else(|| Value::from(cell), Value::Number)
}

/// A closed pipe means that the reader wants no more.
fn unless_unwanted(written: io::Result<()>) -> io::Result<()> {
    written.or_else(|error| if error.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) })
}

fn cannot_write(file: &Path, error: &io::Error) -> Failure {
    let message = format!("cannot write {}: {error}", file.display());
    Trouble::new(message, "choose another file with --output").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_look_like_numbers_stay_as_they_are() {
        for name in ["007", "89014103211118510720", "12e4", "nan"] {
            assert_eq!(value(name), Value::from(name));
        }
        assert_eq!([value("-3"), value("0.25"), value("1e-05")], [json!(-3), json!(0.25), json!(1e-5)]);
    }
}
