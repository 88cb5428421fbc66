//! Real scripts that predict the rows of the last validation fold, to tell how much they depend on each column.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mle_star::backend::ScriptRunner;
use mle_star_backends::backend::ScriptBackend;
use mle_star_backends::script::evaluation::{EvaluationSetup, LastFold};
use mle_star_domain::effects::{DataView, Purpose, ScriptOutcome, ScriptRequest};
use mle_star_domain::metric::Direction;
use mle_star_domain::place::Place;
use mle_star_domain::protocol::Split;
use mle_star_domain::question::{Answer, Copies, Importance, ImportanceRows, Kept, Question};
use mle_star_domain::trouble::Trouble;
use mle_star_tables::folds::{self, FoldBasis};
use mle_star_tables::holdout::{Off, labels, plan_last_fold, write_with};
use mle_star_tables::metrics::Metric;
use mle_star_tables::profile;

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

/// A world without held-out rows, whose scripts find folds.
async fn world(rows: usize) -> (World, PathBuf) {
    let mut world = World::new().await;
    let root = world.folder.path().canonicalize().unwrap();
    let (original, all_rows) = (root.join("data"), root.join("run/all_rows"));
    write_tables(&original, rows);
    fs::create_dir_all(root.join("run")).unwrap();
    let profile = profile::read(&original).unwrap();
    let split = Split::default();
    let by = FoldBasis { target: "y", id: Some("id"), split: &split, timeline: None, own: None, seed: 1 };
    folds::link_all_rows(&profile, &by, &all_rows).unwrap();
    let last_fold = LastFold::new("sample_submission.csv".into(), move |files| {
        let split = Split::default();
        let by = FoldBasis { target: "y", id: Some("id"), split: &split, timeline: None, own: None, seed: 1 };
        let plan = plan_last_fold(&profile, None, &by).map_err(|Off(why)| Trouble::new(why, ""))?;
        labels(&profile, &plan, &files.labels)?;
        write_with(&profile, &plan, &files.input, |folder| folds::write(&profile, &by, Some(&plan), folder))
    });
    world.setup.evaluation = Some(EvaluationSetup {
        folds: Some(all_rows.join("folds.csv")),
        last_fold: Some(last_fold),
        closed: vec![original.clone()],
        ..evaluation(all_rows.join("train.csv"), Metric::Mae)
    });
    world.setup.id_column = Some("id".to_owned());
    world.setup.sample_submission = Some(all_rows.join("sample_submission.csv"));
    world.setup.data_dir = all_rows;
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
    runner.measure(&place, &question, TIME).await.unwrap().try_into().unwrap()
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
        let [run, known] = [place, known].map(|run| Kept::new(&run, &script));
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
    assert_eq!(why, "the last fold has only 6 rows; 10 are needed");
}
