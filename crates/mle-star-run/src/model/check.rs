//! The check of a fitted model: without the data of the run, and on rows of the test table in another order, it gives the
//! submission.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mle_star_tables::read_options::ReadOptions;
use serde::Deserialize;
use serde_json::{Value, json};

use super::parts;
use crate::data_plane::PlaneClient;
use crate::error::RunError;
use crate::isolated::IsolatedScripts;
use crate::predict::{RowIdMode, RunTables, attach_row_ids, read_rows};

/// Calls the script of a model with the files of its folder.
const CALL: &str = r#"import runpy, sys

sys.argv = ["predict.py", "./input/rows.csv", "./final/submission.csv"]
try:
    runpy.run_path("./input/predict.py", run_name="__main__")
except SystemExit as end:
    if end.code:
        raise RuntimeError(getattr(end, "message", f"predict.py ended with exit code {end.code}")) from None
"#;
/// A model that predicts as the run did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModelCheck {
    /// The number of rows that it predicted.
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
    isolated: &IsolatedScripts,
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
    let (written, printed) = isolated.submission(CALL, &data, longest, false).await?;
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
    isolated: &IsolatedScripts,
    (model, submission): (&Path, &Path),
    (tables, plane): (&RunTables, &PlaneClient),
    folder: &Path,
    longest: Duration,
) -> Result<ModelCheck, String> {
    let [rows, expected, shuffled] =
        ["rows.csv", "expected.csv", "shuffled.csv"].map(|name| folder.join(name));
    let in_words = |error: RunError| error.trouble.message;
    let (test, reading) = (tables.test(), ReadOptions::default());
    let like = (&tables.layout, &Value::Null);
    let read = read_rows(plane, like, (&test, &reading), RowIdMode::Own, &rows).await.map_err(in_words)?;
    let named = (read.names.as_slice(), RowIdMode::Own);
    attach_row_ids(plane, &tables.layout, submission, named, &expected).await.map_err(in_words)?;
    let question = json!({ "question": "other_order", "rows": rows });
    plane.ask_for::<Value>(question, &shuffled).await.map_err(in_words)?;
    let (predicted, seconds) = call(isolated, model, &shuffled, folder, longest).await.map_err(in_words)?;
    // The program knows the names of rows.
    let id = &tables.layout.id;
    let question =
        json!({ "question": "same_predictions", "expected": expected, "predicted": predicted, "id": id });
    let OrderComparison { rows, different } = plane.ask(question).await.map_err(in_words)?;
    if different > 0 {
        return Err(format!(
            "it predicts {different} of {rows} rows of the test table in another order differently"
        ));
    }
    Ok(ModelCheck { rows, milliseconds_per_row: 1000.0 * seconds / rows.max(1) as f64 })
}

/// The comparison of predictions in another order.
#[derive(Deserialize)]
struct OrderComparison {
    rows: u64,
    different: u64,
}

#[cfg(test)]
mod tests {
    use mle_star_backends::script::environment::{EnvironmentChoice, python_environment};
    use mle_star_domain::config::Config;
    use mle_star_needs::needs;

    use super::*;
    use crate::model::ModelManifest;

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
    fn fitted(folder: &Path, answers: &str) -> (PathBuf, PathBuf) {
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
        (folder.join("run"), folder.join("submission.csv"))
    }

    #[tokio::test]
    async fn models_with_a_script_of_their_own_are_checked() {
        let choice = EnvironmentChoice::Given("python3".into());
        let environment = python_environment(choice, &|_| {}).await.unwrap();
        let check = async |answers: &str, expected: Result<u64, &str>| {
            let folder = tempfile::tempdir().unwrap();
            let (run, submission) = fitted(folder.path(), answers);
            let work = folder.path().join("work");
            fs::create_dir(&work).unwrap();
            let (config, data) = (Config::default(), folder.path().join("data"));
            let plane =
                PlaneClient::open(&config, &work, [data.clone(), submission.clone()], &|_| ()).await.unwrap();
            let tables = RunTables::open(&plane, &data, Some("id")).await.unwrap();
            let record = ModelManifest::of(&run.join("model"), &tables, &environment).unwrap();
            record.write(&run).unwrap();
            let isolated = IsolatedScripts::new(&work, &config, &[data], environment.clone()).await.unwrap();
            let longest = Duration::from_secs(5);
            let (of_run, tables) = ((run.as_path(), submission.as_path()), (&tables, &plane));
            let checked = super::check(&isolated, of_run, tables, &work, longest).await;
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

    /// A script that keeps a function with all that it uses, by whatever name: its own functions, a class, a lambda, parts of
    /// functions, and functions of libraries that it imported at its top.
    fn keeper(loads: &str) -> String {
        r#"
import csv, functools, os
import cloudpickle
import numpy as np
import sklearn.linear_model
from numpy import abs as size, log1p as shrink, maximum
from scipy.special import expit, logit as back

class Scale:
    def __init__(self, factor):
        self.factor = factor
    def __call__(self, values):
        return self.factor * values

scale = Scale(2.0)
twice = lambda values: 2 * values
power = functools.partial(np.power, 2.0)
either = functools.partial(maximum, 0.5)

def helper(values):
    return shrink(size(values)) + other(values)

def other(values):
    return maximum(values, 3) + back(expit(values / 100))

def answers(values):
    return expit(values) + helper(values) + scale(values) + twice(values) + power(values / 10) + either(values)

with open("input/test.csv", newline="") as file:
    rows = list(csv.DictReader(file))
found = answers(np.array([float(row["x"]) for row in rows]))
with open("final/submission.csv", "w", newline="") as file:
    csv.writer(file).writerows([["id", "y"], *zip([row["id"] for row in rows], found)])
os.makedirs("final/model")
with open("final/model/answers.pickle", "wb") as file:
    cloudpickle.dump(answers, file)
with open("final/predict.py", "w") as file:
    file.write('''import csv, os, sys
import cloudpickle
import numpy as np
LOADS
here = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(here, "model", "answers.pickle"), "rb") as file:
    answers = cloudpickle.load(file)
with open(sys.argv[1], newline="") as file:
    rows = list(csv.DictReader(file))
found = answers(np.array([float(row["x"]) for row in rows]))
with open(sys.argv[2], "w", newline="") as file:
    csv.writer(file).writerows([["id", "y"], *zip([row["id"] for row in rows], found)])
''')
"#
        .replace("LOADS", loads)
    }

    #[tokio::test]
    async fn a_model_finds_what_its_script_imported() {
        needs!(Libraries);
        let choice = EnvironmentChoice::Given(mle_star_needs::python_with_libraries());
        let environment = python_environment(choice, &|_| {}).await.unwrap();
        for loads in ["", "import multiprocessing", "import sklearn.linear_model"] {
            let folder = tempfile::tempdir().unwrap();
            fitted(folder.path(), "");
            let [run, work, data] = ["kept", "work", "data"].map(|name| folder.path().join(name));
            [&run, &work].into_iter().for_each(|folder| fs::create_dir(folder).unwrap());
            let (config, longest) = (Config::default(), Duration::from_secs(60));
            let script = keeper(loads);
            let keeps = IsolatedScripts::new(&run, &config, &[], environment.clone()).await.unwrap();
            let (submission, _) = keeps.submission(&script, &data, longest, false).await.unwrap();
            keeps.model(&script, &data, longest).await.unwrap();
            let readable = [data.clone(), submission.clone()];
            let plane = PlaneClient::open(&config, &work, readable, &|_| ()).await.unwrap();
            let tables = RunTables::open(&plane, &data, Some("id")).await.unwrap();
            ModelManifest::of(&run.join("model"), &tables, &environment).unwrap().write(&run).unwrap();
            let isolated = IsolatedScripts::new(&work, &config, &[data], environment.clone()).await.unwrap();
            let (of_run, tables) = ((run.as_path(), submission.as_path()), (&tables, &plane));
            let checked = super::check(&isolated, of_run, tables, &work, longest).await;
            assert_eq!(checked.map(|checked| checked.rows), Ok(36), "{loads}");
        }
    }
}
