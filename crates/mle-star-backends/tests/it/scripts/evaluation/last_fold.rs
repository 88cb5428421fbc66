//! Real scripts that predict the rows of the last validation fold, to tell how much they depend on each column.

use std::env;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use mle_star::backend::ScriptRunner;
use mle_star_backends::backend::ScriptBackend;
use mle_star_backends::script::evaluation::{EvaluationSetup, LastFold};
use mle_star_domain::effects::{DataView, Purpose, ScriptOutcome, ScriptRequest};
use mle_star_domain::metric::Direction;
use mle_star_domain::place::Place;
use mle_star_domain::question::{Answer, Copies, FileStem, Importance, ImportanceRows, Question};
use mle_star_tables::metrics::Metric;
use serde_json::{Value, json};

use crate::scripts::world::{TIME, World, evaluation, request};

/// The IDs of the training rows are below this, those of the test rows from here on.
const ROWS: usize = 300;
const TEST_ROWS: usize = 50;

/// The tables: labels are ten for each unit of `x`, and `z` does not matter.
fn write_tables(folder: &Path, rows: usize) {
    let cells = |row: usize| format!("{row},{},{}", row % 7, row % 5);
    let train: String = (0..rows).map(|row| format!("{},{}\n", cells(row), 10 * (row % 7))).collect();
    let test: String = (rows..rows + TEST_ROWS).map(|row| format!("{}\n", cells(row))).collect();
    let sample: String = (rows..rows + TEST_ROWS).map(|row| format!("{row},0.5\n")).collect();
    let write = |name: &str, text: String| fs::write(folder.join(name), text).unwrap();
    write("train.csv", format!("id,x,z,y\n{train}"));
    write("test.csv", format!("id,x,z\n{test}"));
    write("sample_submission.csv", format!("id,y\n{sample}"));
}

/// What the data plane says of the tables.
fn facts(python: &Path, folder: &Path) -> Value {
    let code = "import json, sys; from mle_star_data.roles import inspect; \
                print(json.dumps(inspect(sys.argv[1], {'target': 'y', 'id': 'id', 'metric': 'MAE'})))";
    let package = concat!(env!("CARGO_MANIFEST_DIR"), "/python");
    let python = env::var_os("MLE_STAR_DATA_PYTHON").map_or_else(|| python.to_owned(), PathBuf::from);
    let told =
        Command::new(python).args(["-c", code]).arg(folder).env("PYTHONPATH", package).output().unwrap();
    serde_json::from_slice(&told.stdout).unwrap()
}

/// A world without held-out rows, whose scripts find folds.
async fn world(rows: usize) -> (World, PathBuf) {
    let mut world = World::new().await;
    let root = world.folder.path().canonicalize().unwrap();
    let (original, all_rows) = (root.join("data"), root.join("run/all_rows"));
    write_tables(&original, rows);
    fs::create_dir_all(&all_rows).unwrap();
    for name in ["train.csv", "test.csv", "sample_submission.csv"] {
        symlink(original.join(name), all_rows.join(name)).unwrap();
    }
    let folds: String = (0..rows).map(|row| format!("{row},{}\n", row % 5)).collect();
    fs::write(all_rows.join("folds.csv"), format!("id,fold\n{folds}")).unwrap();
    let question = json!({
        "question": "last_fold",
        "folder": original,
        "facts": facts(&world.setup.environment.python, &original),
        "config": { "holdout": "off", "holdout_rows": 20_000, "seed": 1, "preset": "default" },
    });
    let last_fold = LastFold { sample: "sample_submission.csv".into(), question };
    world.setup.evaluation = Some(EvaluationSetup {
        folds: Some(all_rows.join("folds.csv")),
        last_fold: Some(last_fold),
        closed: vec![original.clone()],
        ..evaluation(all_rows.join("train.csv"), Metric::Mae)
    });
    world.setup.id_column = Some("id".to_owned());
    world.setup.sample_submission = Some(all_rows.join("sample_submission.csv"));
    (world.setup.data_dir, world.setup.readable) = (all_rows, vec![original.clone()]);
    (world, original)
}

/// Learns the mean label by `x`, if each training row has a fold and no row to predict has a label.
const LEARN: &str = "
import csv
def read(name):
    return list(csv.DictReader(open(f'input/{name}.csv')))
train, test, folds = read('train'), read('test'), read('folds')
ids = {row['id'] for row in train}
assert not ids & {row['id'] for row in test} and 'y' not in test[0]
assert {row['id'] for row in folds} == ids and len({row['fold'] for row in folds}) == 5
labels = {}
for row in train:
    labels.setdefault(row['x'], []).append(float(row['y']))
by_id = {row['id']: sum(labels[row['x']]) / len(labels[row['x']]) for row in test}
rows = [(row['id'], by_id[row['id']]) for row in read('sample_submission')]
def submit(rows):
    open('final/submission.csv', 'w').write('id,y\\n' + ''.join(f'{id},{y}\\n' for id, y in rows))
";

async fn run(runner: &ScriptBackend, place: &Place, data: DataView, script: &str) -> ScriptOutcome {
    let (place, purpose) = (place.clone(), Purpose::Probe);
    let request = ScriptRequest { place, purpose, data, ..request(script, Duration::from_secs(60)) };
    runner.run(&request).await.unwrap()
}

async fn measure<T: TryFrom<Answer, Error: std::fmt::Debug>>(
    runner: &ScriptBackend,
    question: Question,
) -> T {
    let place = question.place(&Place::from("finalization/importance"));
    runner.answer(&place, &question, TIME).await.unwrap().try_into().unwrap()
}

async fn lacks_copies(runner: &ScriptBackend, on: ImportanceRows) -> String {
    measure::<Copies>(runner, Question::Copies { on }).await.failure
}

#[tokio::test]
async fn without_held_out_rows_the_importance_of_a_column_is_that_on_the_last_fold() {
    let (world, original) = world(ROWS).await;
    let runner = world.runner();
    assert_eq!(lacks_copies(&runner, ImportanceRows::HeldOut).await, "no rows are held out");
    let check = async |submit: &str| -> Importance {
        let script = format!("{LEARN}{submit}");
        let known = Place::from("finalization/importance/unpermuted/run");
        let place = Place::from("finalization/importance/run");
        let on = ImportanceRows::LastFold;
        assert_eq!(lacks_copies(&runner, on).await, "");
        for (place, data, rows) in
            [(&known, DataView::LastFold, 110), (&place, DataView::PermutedLastFold, 660)]
        {
            let outcome = run(&runner, place, data, &script).await;
            let found = outcome.submission.as_ref().map(|found| (found.rows, found.findings.len()));
            assert_eq!(found, Some((Some(rows), 0)), "{outcome:?}");
        }
        let [run, known] = [place, known].map(|run| FileStem::new(&run, &script));
        let direction = Direction::Minimize;
        measure(&runner, Question::Importance { run, known, on, direction }).await
    };
    let found = check("submit(rows)").await;
    let told = (found.rows, found.on, found.repetitions, found.failure.as_str());
    assert_eq!(told, (60, ImportanceRows::LastFold, 5, ""));
    let [x, z] = found.columns.as_slice() else { panic!("{found:?}") };
    assert_eq!((x.column.as_str(), z.column.as_str(), z.difference), ("x", "z", 0.0));
    // The mean distance of two digits below 7 is 16 / 7.
    let [low, high] = x.interval.unwrap();
    assert!(
        (x.difference - 160.0 / 7.0).abs() < 4.0 && low < x.difference && x.difference < high,
        "{found:?}"
    );
    let by_length = check("submit([(id, y + len(test)) for id, y in rows])").await;
    assert!(by_length.failure.contains("statistics of the test table"), "{by_length:?}");
    // The tables with all labels are out of reach.
    let labels = world.setup.run_folder.join("work/last-fold/labels.csv");
    assert!(labels.exists());
    for file in [original.join("train.csv"), world.setup.data_dir.join("train.csv"), labels] {
        let peek = format!("print(open('{}').read())", file.display());
        for data in [DataView::LastFold, DataView::PermutedLastFold] {
            let outcome = run(&runner, &Place::from("finalization/importance/run"), data, &peek).await;
            let is_closed = outcome.is_error() || !world.setup.isolation.closes_reads();
            assert!(is_closed, "{data:?}, {}: {outcome:?}", file.display());
        }
    }
}

#[tokio::test]
async fn rows_that_cannot_be_copied_are_told_before_a_run() {
    let (few, _) = world(30).await;
    let why = lacks_copies(&few.runner(), ImportanceRows::LastFold).await;
    assert!(
        why.ends_with("nor can those of the last fold be: the last fold has only 6 rows; 10 are needed"),
        "{why}"
    );
}
