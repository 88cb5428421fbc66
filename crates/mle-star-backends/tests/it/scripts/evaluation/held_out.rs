//! Real scripts in a run that keeps labelled rows from them.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mle_star::backend::ScriptRunner;
use mle_star_backends::script::evaluation::{EvaluationSetup, HoldoutSetup};
use mle_star_domain::effects::{DataView, Purpose, ScriptOutcome, ScriptRequest};
use mle_star_domain::layout;
use mle_star_domain::metric::Direction;
use mle_star_domain::place::Place;
use mle_star_domain::protocol::HoldoutPart;
use mle_star_domain::question::{
    Answer, FileStem, HoldoutScore, Importance, ImportanceRows, Question, Refit,
};
use mle_star_tables::metrics::Metric;
use mle_star_tables::walk;

use crate::scripts::world::{PLACE, TIME, World, evaluation, request};

/// The training rows have the IDs below this, the test rows those from here on.
const ROWS: usize = 3_000;
const TEST_ROWS: usize = 400;
/// The label of row 0. No other text has this form.
pub const LABEL: u64 = 918_273_640_000;

/// A world with held-out rows.
pub struct HeldOut {
    pub world: World,
    /// The data with all rows.
    pub original: PathBuf,
    /// The IDs of the held-out rows.
    pub ids: BTreeSet<usize>,
}

impl HeldOut {
    /// `add` adds files to the original data, whose folder it gets with the one around it.
    pub async fn new(add: impl FnOnce(&Path, &Path)) -> Self {
        let mut world = World::new().await;
        let root = world.folder.path().canonicalize().unwrap();
        let (original, run) = (root.join("data"), root.join("run"));
        write_tables(&original);
        add(&original, &root);
        let folder = run.join(layout::HOLDOUT);
        let (input, secret) = (folder.join(layout::INPUT), folder.join(layout::LABELS));
        let ids = hold_out(&original, &input, &secret);
        let (sample, compared) = (original.join("sample_submission.csv"), folder.join(layout::COMPARED));
        fs::create_dir(&compared).unwrap();
        symlink(input.join("train.csv"), compared.join("train.csv")).unwrap();
        symlink(original.join("test.csv"), compared.join("test.csv")).unwrap();
        let held_out =
            HoldoutSetup { data_dir: original.clone(), sample, is_period: false, labels: secret, compared };
        world.setup.evaluation = Some(EvaluationSetup {
            holdout: Some(held_out),
            closed: vec![original.clone()],
            ..evaluation(input.join("train.csv"), Metric::Mae)
        });
        world.setup.id_column = Some("id".to_owned());
        world.setup.sample_submission = Some(input.join("sample_submission.csv"));
        (world.setup.data_dir, world.setup.readable) = (input, vec![original.clone()]);
        Self { world, original, ids }
    }

    /// The same world, but the held-out rows are the whole test table of the search.
    pub fn earlier_period(mut self) -> Self {
        let input = self.world.setup.data_dir.clone();
        for name in ["test.csv", "sample_submission.csv"] {
            let text = fs::read_to_string(input.join(name)).unwrap();
            let is_kept = |line: &&str| {
                let id = line.split(',').next().unwrap();
                id == "id" || self.ids.contains(&id.parse().unwrap())
            };
            let kept: String = text.lines().filter(is_kept).map(|line| format!("{line}\n")).collect();
            fs::remove_file(input.join(name)).unwrap();
            fs::write(input.join(name), kept).unwrap();
        }
        let evaluation = self.world.setup.evaluation.as_mut().unwrap();
        evaluation.holdout.as_mut().unwrap().is_period = true;
        self
    }

    async fn run_on(&self, data: DataView, script: &str) -> ScriptOutcome {
        let request = ScriptRequest { data, ..request(script, Duration::from_secs(60)) };
        self.world.runner().run(&request).await.unwrap()
    }

    async fn look(&self, place: &str, script: &str, part: HoldoutPart) -> HoldoutScore {
        let run = FileStem::new(&Place::from(place), script);
        self.measure(Question::Look { run, part }).await
    }

    async fn measure<T: TryFrom<Answer, Error: std::fmt::Debug>>(&self, question: Question) -> T {
        let place = question.place(&Place::from("finalization"));
        self.world.runner().answer(&place, &question, TIME).await.unwrap().try_into().unwrap()
    }
}

/// Writes the original tables. The sample is in another order than the test table.
fn write_tables(folder: &Path) {
    let rows = |from: usize, to: usize, cells: &dyn Fn(usize) -> String, header: &str| {
        (from..to).fold(format!("{header}\n"), |mut text, n| {
            writeln!(text, "{}", cells(n)).unwrap();
            text
        })
    };
    let (all, test) = (ROWS + TEST_ROWS, |n: usize| format!("{n},{}", n % 7));
    let train = rows(0, ROWS, &|n| format!("{},{}", test(n), LABEL + n as u64), "id,x,y");
    let sample = rows(ROWS, all, &|n| format!("{},0.5", ROWS + all - 1 - n), "id,y");
    let tables = [("train", train), ("test", rows(ROWS, all, &test, "id,x")), ("sample_submission", sample)];
    for (name, text) in tables {
        fs::write(folder.join(format!("{name}.csv")), text).unwrap();
    }
}

/// Holds out 15 % of the rows.
fn hold_out(original: &Path, input: &Path, secret: &Path) -> BTreeSet<usize> {
    fs::create_dir_all(input).unwrap();
    let read = |name: &str| fs::read_to_string(original.join(name)).unwrap();
    let id = |line: &str| line.split(',').next().unwrap().parse::<usize>().unwrap();
    let [train, test, sample] = ["train.csv", "test.csv", "sample_submission.csv"].map(read);
    let [train, test, sample] = [&train, &test, &sample].map(|text| text.split_once('\n').unwrap());
    let is_held = |line: &&str| id(line) % 20 < 3;
    let held: Vec<&str> = train.1.lines().filter(is_held).collect();
    let with = |(header, own): (&str, &str), cells: &dyn Fn(&str) -> String| {
        let rows: String = held.iter().map(|line| format!("{}\n", cells(line))).collect();
        format!("{header}\n{rows}{own}")
    };
    let kept: String =
        train.1.lines().filter(|line| !is_held(line)).map(|line| format!("{line}\n")).collect();
    let label = |line: &str| format!("{},{}", id(line), line.rsplit(',').next().unwrap());
    fs::write(input.join("train.csv"), format!("{}\n{kept}", train.0)).unwrap();
    let features = |line: &str| line.rsplit_once(',').unwrap().0.to_owned();
    fs::write(input.join("test.csv"), with(test, &features)).unwrap();
    fs::write(input.join("sample_submission.csv"), with(sample, &|line| format!("{},0.5", id(line))))
        .unwrap();
    fs::write(secret, with((sample.0, ""), &label)).unwrap();
    walk::link(original, input, |name| input.join(name).exists()).unwrap();
    held.into_iter().map(id).collect()
}

/// The cells of a column, without the header.
fn column(text: &str, at: usize) -> Vec<String> {
    text.lines().skip(1).map(|line| line.split(',').nth(at).unwrap().to_owned()).collect()
}

/// Predicts the label of each row of the sample, but too high by the row's ID.
const PREDICT: &str = "
import csv
rows = list(csv.reader(open('input/sample_submission.csv')))[1:]
rows = [(int(row[0]), 918273640000 + 2 * int(row[0])) for row in rows]
def submit(rows, start='id,y\\n', end='\\n'):
    text = start + ''.join(f'{id},{y}{end}' for id, y in rows)
    open('final/submission.csv', 'w', newline='').write(text)
";

#[tokio::test]
async fn each_script_sees_the_rows_that_it_should() {
    let held = HeldOut::new(|data, _| fs::write(data.join("stores.csv"), "town\na\n").unwrap()).await;
    let list = "import csv, os\nprint(sorted(os.listdir('input')))\n\
                for name in ('train', 'test', 'sample_submission'):\n    \
                    print(*(row[0] for row in list(csv.reader(open(f'input/{name}.csv')))[1:]))";
    assert_eq!(held.ids.len(), 450);
    let own: BTreeSet<usize> = (0..ROWS).filter(|id| !held.ids.contains(id)).collect();
    let tests: BTreeSet<usize> = (ROWS..ROWS + TEST_ROWS).collect();
    let check = |outcome: ScriptOutcome, train: &BTreeSet<usize>, test: &BTreeSet<usize>| {
        let text = outcome.stdout.text();
        let mut lines = text.lines();
        let files = "['sample_submission.csv', 'stores.csv', 'test.csv', 'train.csv']";
        assert_eq!(lines.next(), Some(files), "{outcome:?}");
        let ids = lines.map(|line| line.split(' ').map(|id| id.parse().unwrap()).collect());
        assert_eq!(ids.collect::<Vec<BTreeSet<usize>>>(), [train.clone(), test.clone(), test.clone()]);
    };
    check(held.world.run(list).await, &own, &tests.union(&held.ids).copied().collect());
    check(held.run_on(DataView::Whole, list).await, &(0..ROWS).collect(), &tests);
    let compared = list.replace(", 'sample_submission')", ")");
    let outcome = held.run_on(DataView::Compared, &compared).await;
    let text = outcome.stdout.text();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("['test.csv', 'train.csv']"), "{outcome:?}");
    let ids = lines.map(|line| line.split(' ').map(|id| id.parse().unwrap()).collect());
    assert_eq!(ids.collect::<Vec<BTreeSet<usize>>>(), [own, tests]);
}

#[tokio::test]
async fn a_submission_is_kept_without_the_held_out_rows_and_scored_on_them() {
    let held = HeldOut::new(|_, _| ()).await;
    let script = format!("{PREDICT}submit(rows)");
    let outcome = held.world.run(&script).await;
    let submission = outcome.submission.as_ref().unwrap();
    assert_eq!((submission.rows, submission.findings.len(), outcome.notes.len()), (Some(850), 0, 0));
    let kept = held.world.runner().submission(&FileStem::new(&Place::from(PLACE), &script)).unwrap();
    let sample = fs::read_to_string(held.original.join("sample_submission.csv")).unwrap();
    assert_eq!(column(&fs::read_to_string(kept).unwrap(), 0), column(&sample, 0));
    // So is one in another spelling.
    let quoted =
        format!("{PREDICT}submit([(f'\" {{id}}\"', y) for id, y in rows], '\\ufeffid,y\\r\\n', '\\r\\n')");
    held.world.run(&quoted).await;
    let kept = held.world.runner().submission(&FileStem::new(&Place::from(PLACE), &quoted)).unwrap();
    assert_eq!(column(&fs::read_to_string(kept).unwrap(), 0).len(), TEST_ROWS);
    let look = held.look(PLACE, &quoted, HoldoutPart::Whole).await;
    assert_eq!(look.measured.map(|found| found.rows), Some(450), "{}", look.failure);

    let parts = [HoldoutPart::Whole, HoldoutPart::Choosing, HoldoutPart::Reporting];
    let mut found = Vec::new();
    for part in parts {
        found.push(held.look(PLACE, &script, part).await.measured.unwrap());
    }
    let sum = held.ids.iter().sum::<usize>() as f64;
    let [whole, choosing, reporting] = [0, 1, 2].map(|at| &found[at]);
    assert_eq!((whole.score, whole.rows), (sum / 450.0, 450));
    let [low, high] = whole.interval.unwrap();
    assert!(low < whole.score && whole.score < high, "{:?}", whole.interval);
    // Each row has another error, so equal sums mean equal rows.
    let sums = |one: &mle_star_domain::measure::Measurement| one.score * one.rows as f64;
    assert!((sums(choosing) + sums(reporting) - sum).abs() < 1e-6 * sum);
    assert_eq!(choosing.rows + reporting.rows, 450);
    assert!(choosing.rows.abs_diff(225) < 50 && choosing.rows_digest != reporting.rows_digest);
}

#[tokio::test]
async fn two_fits_are_compared_by_what_they_predict_for_the_test_rows() {
    let held = HeldOut::new(|_, _| ()).await;
    let check = async |submit: &str, expected: Result<bool, &str>| {
        let (first, second) = (format!("{PREDICT}submit(rows)"), format!("{PREDICT}{submit}"));
        held.world.run(&first).await;
        let (script, place) = (second.clone(), Place::from("finalization/run"));
        let again = ScriptRequest {
            place: place.clone(),
            data: DataView::Whole,
            ..request(&script, Duration::from_secs(60))
        };
        held.world.runner().run(&again).await.unwrap();
        let (first, second) = (FileStem::new(&Place::from(PLACE), &first), FileStem::new(&place, &second));
        let refit: Refit = held.measure(Question::Fits { first, second }).await;
        match expected {
            Ok(is_jump) => assert_eq!(
                (refit.is_jump, refit.rows, refit.failure.as_str()),
                (is_jump, 400, ""),
                "{submit}: {refit:?}"
            ),
            Err(why) => assert!(refit.failure.contains(why), "{submit}: {refit:?}"),
        }
    };
    check("submit(rows[::-1])", Ok(false)).await;
    check("submit([(id, -y) for id, y in rows])", Ok(true)).await;
    check("pass", Err("cannot read")).await;
}

/// Labels that are 1,000 for each unit of `x`, and a column that does not matter.
fn labels_by_x(data: &Path) {
    let test = |n: usize| format!("{n},{},{}", n % 7, n % 5);
    let lines = |from: usize, to: usize, line: &dyn Fn(usize) -> String| -> String {
        (from..to).map(|n| format!("{}\n", line(n))).collect()
    };
    let train = lines(0, ROWS, &|n| format!("{},{}", test(n), LABEL + 1_000 * (n as u64 % 7)));
    fs::write(data.join("train.csv"), format!("id,x,z,y\n{train}")).unwrap();
    let tests = lines(ROWS, ROWS + TEST_ROWS, &test);
    fs::write(data.join("test.csv"), format!("id,x,z\n{tests}")).unwrap();
}

/// Predicts 1,000 for each unit of `x`.
const PREDICT_BY_X: &str = "
import csv
test = list(csv.DictReader(open('input/test.csv')))
by_id = {row['id']: 918273640000 + 1000 * int(row['x']) for row in test}
sample = list(csv.reader(open('input/sample_submission.csv')))[1:]
rows = [(row[0], by_id[row[0]]) for row in sample]
def submit(rows):
    text = 'id,y\\n' + ''.join(f'{id},{y}\\n' for id, y in rows)
    open('final/submission.csv', 'w', newline='').write(text)
";

#[tokio::test]
async fn the_importance_of_a_column_is_how_much_worse_copies_without_it_are_predicted() {
    let check = async |submit: &str| -> Importance {
        let held = HeldOut::new(|data, _| labels_by_x(data)).await;
        let script = format!("{PREDICT_BY_X}{submit}");
        held.world.run(&script).await;
        let run = Place::from("finalization/importance/run");
        let copies = ScriptRequest {
            place: run.clone(),
            data: DataView::PermutedColumns,
            purpose: Purpose::Probe,
            ..request(&script, Duration::from_secs(60))
        };
        let outcome = held.world.runner().run(&copies).await.unwrap();
        assert_eq!(outcome.submission.map(|found| (found.rows, found.findings)), Some((Some(4_950), vec![])));
        let [run, known] = [run, Place::from(PLACE)].map(|run| FileStem::new(&run, &script));
        let (on, direction) = (ImportanceRows::HeldOut, Direction::Minimize);
        held.measure(Question::Importance { run, known, on, direction }).await
    };
    // The mean distance of two digits below 7 is 16 / 7.
    let found = check("submit(rows)").await;
    assert_eq!((found.rows, found.repetitions, found.failure.as_str()), (450, 5, ""));
    let [x, z] = found.columns.as_slice() else { panic!("{found:?}") };
    assert_eq!((x.column.as_str(), z.column.as_str(), z.difference), ("x", "z", 0.0));
    let [low, high] = x.interval.unwrap();
    assert!((x.difference - 16_000.0 / 7.0).abs() < 100.0, "{found:?}");
    assert!(low < x.difference && x.difference < high && high - low < 400.0, "{found:?}");
    let constant = check("submit([(id, 918273640000) for id, _ in rows])").await;
    assert!(constant.failure.contains("predicts the same whatever"), "{constant:?}");
}

/// What a script predicts for an earlier period is scored, alone and combined, and never submitted.
#[tokio::test]
async fn predictions_for_an_earlier_period_are_scored_and_are_no_answer() {
    let held = HeldOut::new(|_, _| ()).await.earlier_period();
    let script = format!("{PREDICT}submit(rows)");
    let outcome = held.world.run(&script).await;
    assert_eq!(outcome.submission.map(|found| (found.rows, found.findings.len())), Some((Some(450), 0)));
    let sum = held.ids.iter().sum::<usize>() as f64;
    let looked = held.look(PLACE, &script, HoldoutPart::Whole).await.measured.unwrap();
    assert_eq!((looked.score, looked.rows), (sum / 450.0, 450));
    assert_eq!(held.world.runner().submission(&FileStem::new(&Place::from(PLACE), &script)), None);
    assert_eq!(fs::read_dir(held.world.file(layout::SUBMISSIONS)).unwrap().count(), 0);
    // It is checked against the rows that it sees.
    let outcome = held.world.run(&format!("{PREDICT}submit([(id, 0) for id in range(3000, 3400)])")).await;
    assert!(outcome.submission.is_some_and(|found| !found.findings.is_empty()));
    // The same script on the original files answers.
    let outcome = held.run_on(DataView::Whole, &script).await;
    assert_eq!(outcome.submission.map(|found| (found.rows, found.findings.len())), Some((Some(400), 0)));
    let kept = held.world.runner().submission(&FileStem::new(&Place::from(PLACE), &script)).unwrap();
    let sample = fs::read_to_string(held.original.join("sample_submission.csv")).unwrap();
    assert_eq!(column(&fs::read_to_string(kept).unwrap(), 0), column(&sample, 0));
}

#[tokio::test]
async fn without_a_valid_submission_there_is_no_score() {
    let held = HeldOut::new(|_, _| ()).await;
    let check = async |submit: &str, findings: bool| {
        let script = format!("{PREDICT}{submit}");
        let outcome = held.world.run(&script).await;
        let found = outcome.submission.as_ref().is_some_and(|found| !found.findings.is_empty());
        assert_eq!((found, outcome.is_error()), (findings, false), "{submit}: {outcome:?}");
        let look = held.look(PLACE, &script, HoldoutPart::Whole).await;
        assert!(
            look.measured.is_none() && look.failure.contains("no valid submission"),
            "{submit}: {look:?}"
        );
        assert_eq!(
            held.world.runner().submission(&FileStem::new(&Place::from(PLACE), &script)),
            None,
            "{submit}"
        );
    };
    check("submit(rows[:-5])", true).await;
    check("submit([row for row in rows if row[0] >= 3000])", true).await;
    check("open('final/submission.csv', 'w').truncate(3 << 30)", true).await;
    check("pass", false).await;
    // The same script on all rows leaves nothing to score.
    let script = format!("{PREDICT}submit(rows)  # on all rows");
    let outcome = held.run_on(DataView::Whole, &script).await;
    assert_eq!(outcome.submission.map(|found| (found.rows, found.findings.len())), Some((Some(400), 0)));
    assert!(held.world.runner().submission(&FileStem::new(&Place::from(PLACE), &script)).is_some());
    assert!(held.look(PLACE, &script, HoldoutPart::Whole).await.measured.is_none());
}

/// A script's validation predictions are scored by the rows that it sees, of which it must not choose a few.
#[tokio::test]
async fn validation_predictions_are_for_enough_rows_that_scripts_see() {
    let held = HeldOut::new(|_, _| ()).await;
    let verify = async |rows: usize, more: &str| {
        let script = format!(
            "rows = [line.strip().split(',') for line in open('input/train.csv')][1:][:{rows}]\n\
             predictions = 'id,y\\n' + ''.join(f'{{id}},{{y}}\\n' for id, _, y in rows) + {more:?}\n\
             open('final/validation_predictions.csv', 'w').write(predictions)\n\
             print('Final Validation Performance: 0')"
        );
        held.world.run(&script).await
    };
    // A twentieth of the 2,550 rows.
    assert_eq!(verify(127, "").await.measured.map(|found| (found.score, found.rows)), Some((0.0, 127)));
    let refused = async |rows, more: &str, expected: &str| {
        let outcome = verify(rows, more).await;
        let mismatch = outcome.mismatch.clone().unwrap_or_default();
        assert!(outcome.measured.is_none() && mismatch.contains(expected), "{expected}: {outcome:?}");
    };
    refused(126, "", "126 of 2550 labelled rows, too few for a score: validate on at least 127 rows").await;
    let hidden = *held.ids.first().unwrap();
    refused(200, &format!("{hidden},{}\n", LABEL + hidden as u64), "not expected").await;
}
