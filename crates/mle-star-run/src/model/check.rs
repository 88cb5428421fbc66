//! The check of a fitted model: without the data of the run, and on rows of the test table in another order, it gives the
//! submission.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::Duration;

use csv::{Reader, StringRecord, Writer};
use mle_star_domain::config::Config;
use mle_star_domain::layout;
use mle_star_tables::other_rows::{Names, TestTables};
use mle_star_tables::reading::Reading;

use super::parts;
use crate::error::RunError;
use crate::isolated::Isolated;
use crate::predict::read_rows;

/// Calls the script of a model with the files of its folder.
const CALL: &str = r#"import runpy, sys

sys.argv = ["predict.py", "./input/rows.csv", "./final/submission.csv"]
try:
    runpy.run_path("./input/predict.py", run_name="__main__")
except SystemExit as end:
    if end.code:
        raise RuntimeError(getattr(end, "message", f"predict.py ended with exit code {end.code}")) from None
"#;
/// Numbers that differ by less are equal.
const RELATIVE: f64 = 1e-6;
/// The rows that are left out, so that others have other neighbours: one of so many.
const LEFT_OUT: usize = 10;

/// A model that predicts as the run did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Checked {
    /// How many rows it predicted.
    pub rows: u64,
    /// For a row, without the start of Python.
    pub milliseconds_per_row: f64,
}

/// Predicts rows with the model in the folder `model`, in a process to which the run and its data are closed. Returns the file with the
/// predictions, and how long they took in seconds.
///
/// # Errors
/// The model does not predict these rows.
pub async fn call(
    isolated: &Isolated,
    model: &Path,
    rows: &Path,
    folder: &Path,
    longest: Duration,
) -> Result<(PathBuf, f64), RunError> {
    let data = folder.join("given");
    let fill = || {
        fs::create_dir_all(&data)?;
        for part in parts(&model.canonicalize()?) {
            symlink(&part, data.join(part.file_name().unwrap_or_default()))?;
        }
        fs::copy(rows, data.join("rows.csv")).map(drop)
    };
    fill().map_err(|error: std::io::Error| {
        RunError::failed(mle_star_domain::trouble::Trouble::io("write", &data, &error))
    })?;
    let (written, printed) = isolated.run(CALL, &data, layout::SUBMISSION, longest).await?;
    Ok((written, seconds(&printed).unwrap_or_default()))
}

/// The seconds in `200 rows predicted in 0.1 s`.
fn seconds(printed: &str) -> Option<f64> {
    printed.lines().last()?.rsplit_once(" in ")?.1.strip_suffix(" s")?.parse().ok()
}

/// Checks the model in the folder `model` against the submission that the run wrote.
///
/// # Errors
/// Why it is not used, in one sentence.
pub async fn check(
    isolated: &Isolated,
    (model, submission): (&Path, &Path),
    tables: &TestTables,
    folder: &Path,
    (longest, config): (Duration, &Config),
) -> Result<Checked, String> {
    let (rows, expected) = (folder.join("rows.csv"), folder.join("expected.csv"));
    let in_words = |error: RunError| error.trouble.message;
    let (test, reading) = (tables.test(), Reading::default());
    let names = read_rows(&tables.layout, (&test, &reading), Names::Own, &rows, (config, &|_| ()))
        .await
        .map_err(in_words)?;
    let ordered = tables.layout.write_in_order(submission, &names, Names::Own, &expected);
    ordered.map_err(|trouble| trouble.message)?;
    let order = other_order(names.len());
    let shuffled = folder.join("shuffled.csv");
    write(&read(&rows)?, &order, &shuffled)?;
    let (predicted, seconds) = call(isolated, model, &shuffled, folder, longest).await.map_err(in_words)?;
    let ((header, expected), (found_header, found)) = (read(&expected)?, read(&predicted)?);
    if header != found_header || found.len() != order.len() {
        return Err("it predicts other columns or rows than those of the submission".to_owned());
    }
    // The program knows the names of rows.
    let is_name: Vec<bool> = header.iter().map(|name| Some(name) == tables.layout.id.as_deref()).collect();
    let differs = |(at, row): (&usize, &StringRecord)| {
        let cells = expected[*at].iter().zip(row.iter()).zip(&is_name);
        cells.into_iter().any(|((one, other), is_name)| !is_name && !are_equal(one, other))
    };
    let different = order.iter().zip(&found).filter(|pair| differs((pair.0, pair.1))).count();
    if different > 0 {
        let rows = order.len();
        return Err(format!(
            "it predicts {different} of {rows} rows of the test table in another order differently"
        ));
    }
    Ok(Checked {
        rows: order.len() as u64,
        milliseconds_per_row: 1000.0 * seconds / order.len().max(1) as f64,
    })
}

/// Most rows in an order that has nothing to do with theirs.
fn other_order(rows: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rows).collect();
    order.sort_by_cached_key(|row| *blake3::hash(&row.to_le_bytes()).as_bytes());
    order.truncate(rows - rows / LEFT_OUT);
    order
}

fn are_equal(one: &str, other: &str) -> bool {
    let numbers = one.trim().parse::<f64>().ok().zip(other.trim().parse::<f64>().ok());
    let is_near = |(one, other): (f64, f64)| {
        (one - other).abs() <= RELATIVE * one.abs().max(other.abs()) || one.is_nan() && other.is_nan()
    };
    one == other || numbers.is_some_and(is_near)
}

fn read(file: &Path) -> Result<(StringRecord, Vec<StringRecord>), String> {
    let all = || -> csv::Result<(StringRecord, Vec<StringRecord>)> {
        let mut reader = Reader::from_path(file)?;
        let header = reader.headers()?.clone();
        Ok((header, reader.records().collect::<csv::Result<_>>()?))
    };
    all().map_err(|error| format!("its predictions cannot be read: {error}"))
}

fn write(
    (header, rows): &(StringRecord, Vec<StringRecord>),
    order: &[usize],
    into: &Path,
) -> Result<(), String> {
    let all = || -> csv::Result<()> {
        let mut out = Writer::from_path(into)?;
        out.write_record(header)?;
        order.iter().try_for_each(|row| out.write_record(&rows[*row]))?;
        Ok(out.flush()?)
    };
    all().map_err(|error| format!("the rows cannot be written: {error}"))
}

#[cfg(test)]
mod tests {
    use mle_star_backends::script::environment::{EnvironmentChoice, python_environment};
    use mle_star_domain::config::Config;

    use super::*;
    use crate::model::Record;

    /// A script as an agent writes it beside its folder `model`, and what it does with its rows.
    fn script(answers: &str) -> String {
        format!(
            r#"import csv, os, sys, time

here = os.path.dirname(os.path.abspath(__file__))
factor = float(open(os.path.join(here, "model", "factor.txt")).read())
with open(sys.argv[1], newline="") as file:
    rows = list(csv.DictReader(file))
answers = [[row["id"], factor * float(row["x"])] for row in rows]
out = sys.argv[2]
{answers}
with open(out, "w", newline="") as file:
    csv.writer(file).writerows([["id", "y"], *answers])
"#
        )
    }

    /// A run's data with its submission, and a model of a script.
    fn fitted(folder: &Path, answers: &str) -> (TestTables, PathBuf, PathBuf) {
        let write = |name: &str, text: &str| {
            let file = folder.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        let rows = |row: fn(usize) -> String| (0..40).map(row).collect::<String>();
        write("data/train.csv", "id,x,y\n100,1,2\n101,2,4\n");
        write("data/test.csv", &format!("id,x\n{}", rows(|row| format!("{row},{row}\n"))));
        write("data/sample_submission.csv", &format!("id,y\n{}", rows(|row| format!("{row},0\n"))));
        write("submission.csv", &format!("id,y\n{}", rows(|row| format!("{row},{}\n", 2 * row))));
        write("run/model/predict.py", &script(answers));
        write("run/model/model/factor.txt", "2.0");
        let tables = TestTables::of(&folder.join("data"), Some("id")).unwrap();
        (tables, folder.join("run"), folder.join("submission.csv"))
    }

    #[tokio::test]
    async fn models_with_a_script_of_their_own_are_checked() {
        let choice = EnvironmentChoice::Given("python3".into());
        let environment = python_environment(choice, &|_| {}).await.unwrap();
        let check = async |answers: &str, expected: Result<u64, &str>| {
            let folder = tempfile::tempdir().unwrap();
            let (tables, run, submission) = fitted(folder.path(), answers);
            let record = Record::of(&run.join("model"), &tables, &environment).unwrap();
            record.write(&run).unwrap();
            let work = folder.path().join("work");
            fs::create_dir(&work).unwrap();
            let closed = [folder.path().join("data")];
            let isolated =
                Isolated::with(&work, &Config::default(), &closed, environment.clone()).await.unwrap();
            let longest = Duration::from_secs(5);
            let checked =
                super::check(&isolated, (&run, &submission), &tables, &work, (longest, &Config::default()))
                    .await;
            match (checked, expected) {
                (Ok(checked), Ok(rows)) => assert_eq!(checked.rows, rows, "{answers}"),
                (Err(why), Err(part)) => assert!(why.contains(part), "{answers}: {why}"),
                (checked, _) => panic!("{answers}: {checked:?}"),
            }
        };
        check("", Ok(36)).await;
        // The folder that it runs in is its own.
        check("factor = open('model/factor.txt').read()", Ok(36)).await;
        check("answers = [[name, 1.0000001 * value] for name, value in answers]", Ok(36)).await;
        check("answers[3][1] += 1", Err("predicts 1 of 36 rows")).await;
        check("answers.pop()", Err("wrote 35 rows that are not the 36 rows it was given")).await;
        check("answers.reverse()", Err("rows that are not the 36 rows")).await;
        check("out = os.path.join(here, 'out.csv')", Err("")).await;
        check("out = 'elsewhere.csv'", Err("")).await;
        check("out = os.devnull", Err("did not write the file that it was given")).await;
        check("sys.exit(3)", Err("ended with exit code 3")).await;
        check("open('/etc/shadow-of-nothing')", Err("FileNotFoundError")).await;
        let data = "open(os.path.join(here, '..', '..', '..', 'data', 'train.csv'))";
        check(data, Err("Error")).await;
        check("time.sleep(600)", Err("time limit")).await;
    }
}
