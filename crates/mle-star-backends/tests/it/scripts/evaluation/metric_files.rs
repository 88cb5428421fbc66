//! Scores by Python files of users.

use std::time::Duration;

use mle_star::backend::ScriptRunner as _;
use mle_star_backends::script::environment::{EnvironmentChoice, python_environment};
use mle_star_backends::script::metric_trial::{MetricTrial, Tried, try_metric};
use mle_star_domain::effects::{Comparison, ComparisonRequest, Member};
use mle_star_domain::measure::Measurement;
use mle_star_domain::place::Place;
use mle_star_domain::protocol::{Periods, Split, SplitKind};
use mle_star_domain::task::{Answers, MetricFile};
use mle_star_metrics::labels::Columns;
use mle_star_metrics::names::Metric;
use mle_star_needs::needs;

use super::super::world::World;
use super::{said, script};

/// The metrics in the convention of Kaggle and in that of MLE-bench.
const ACCURACY: &str = "
import pandas as pd
from sklearn.metrics import accuracy_score

def score(solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str) -> float:
    assert list(solution[row_id_column_name]) == list(submission[row_id_column_name])
    assert solution[row_id_column_name].is_unique
    return accuracy_score(solution['y'], submission['y'])
";
const RMSE: &str = "
def grade(submission, answers):
    merged = answers.merge(submission, on='id', suffixes=('', '_predicted'), validate='one_to_one')
    return ((merged.y - merged.y_predicted) ** 2).mean() ** 0.5
";
const LOG_LOSS: &str = "
import kaggle_metric_utilities
from sklearn.metrics import log_loss

def score(solution, submission, row_id_column_name):
    del solution[row_id_column_name], submission[row_id_column_name]
    kaggle_metric_utilities.verify_valid_probabilities(submission, 'submission')
    return kaggle_metric_utilities.safe_call_score(log_loss, solution.values, submission[solution.columns].values)
";

fn file(text: &str, answers: Answers) -> MetricFile {
    MetricFile { name: "mine.py".to_owned(), text: text.to_owned(), modules: Vec::new(), answers }
}

/// A table with 60 rows.
fn table(header: &str, row: impl Fn(usize) -> String) -> String {
    let rows: String = (0..60).map(|at| format!("{at},{}\n", row(at))).collect();
    format!("id,{header}\n{rows}")
}

async fn with_libraries(mut world: World) -> World {
    let given = EnvironmentChoice::Given(mle_star_needs::python_with_libraries());
    world.setup.environment = python_environment(given, &|_| ()).await.unwrap();
    world
}

#[tokio::test]
async fn a_file_and_the_program_compute_the_same() {
    needs!(Libraries);
    let check = async |metric: &str, text: &str, answers, header: &str, train: &str, predictions: &str| {
        let metric = Metric::parse(metric).unwrap();
        let mut world = with_libraries(super::world(train, metric, Some("id")).await).await;
        let mut measured = Vec::new();
        for metric_file in [None, Some(file(text, answers))] {
            if let Some(evaluation) = &mut world.setup.evaluation {
                evaluation.metric_file = metric_file;
                evaluation.header = header.split(',').map(str::to_owned).collect();
                evaluation.test_rows = Some(30);
            }
            // The printed score does not count where a file computes it.
            let printed = measured.first().map_or("0.5", |_| "nonsense");
            let outcome = world.run(&script(predictions, printed)).await;
            let outcome = match outcome.mismatch.as_deref().and_then(|text| text.split(" is ").nth(1)) {
                Some(text) => {
                    let right = text.split(". ").next().unwrap();
                    world.run(&script(predictions, right)).await
                }
                None => outcome,
            };
            measured.push(outcome.measured.clone().unwrap_or_else(|| panic!("{}", said(&outcome))));
        }
        let [own, by_file] = measured.try_into().unwrap();
        let is_near = |one: f64, two: f64| assert!((one - two).abs() < 1e-9, "{metric}: {one} and {two}");
        is_near(own.score, by_file.score);
        assert_eq!((own.rows, &own.rows_digest), (by_file.rows, &by_file.rows_digest));
        assert_eq!(own.replicates.len(), by_file.replicates.len());
        own.replicates.iter().zip(&by_file.replicates).for_each(|(one, two)| is_near(*one, *two));
        is_near(own.standard_error.unwrap(), by_file.standard_error.unwrap());
        let ends = |one: &Measurement| one.interval.unwrap();
        ends(&own).iter().zip(ends(&by_file)).for_each(|(one, two)| is_near(*one, two));
    };
    let labels = table("y", |at| ["cat", "no", "NA dog"][at % 3].to_owned());
    let guessed = table("y", |at| ["cat", "no", "NA dog"][at * at % 3].to_owned());
    check("accuracy", ACCURACY, Answers::Targets, "id,y", &labels, &guessed).await;
    let (numbers, near) =
        (table("x,y", |at| format!("a,{}.5", at % 7)), table("y", |at| format!("{}", at % 5)));
    check("RMSE", RMSE, Answers::Targets, "id,y", &numbers, &near).await;
    let wide = table("p_1,p_0,p_2", |at| ["0.5,0.25,0.25", "0.1,0.8,0.1"][at % 2].to_owned());
    let digits = table("y", |at| format!("{}", at % 3));
    check("log loss", LOG_LOSS, Answers::Submission, "id,p_1,p_0,p_2", &digits, &wide).await;
}

#[tokio::test]
async fn what_a_file_refuses_is_the_mistake_of_the_script() {
    needs!(Libraries);
    let check = async |text: &str, predictions: &str, expected: &str| {
        let train = table("y", |at| format!("{}", at % 7));
        let mut world = with_libraries(super::world(&train, Metric::Rmse, Some("id")).await).await;
        if let Some(evaluation) = &mut world.setup.evaluation {
            evaluation.metric_file = Some(file(text, Answers::Targets));
        }
        let outcome = world.run(&script(predictions, "1.0")).await;
        assert_eq!((outcome.measured.as_ref(), outcome.score), (None, Some(1.0)), "{text}");
        let name = "./final/validation_predictions.csv cannot be scored: ";
        assert_eq!(outcome.mismatch.as_deref(), Some(format!("{name}{expected}").as_str()), "{text}");
    };
    let fine = table("y", |at| format!("{}", at % 5));
    // Rows that are missing or have other IDs are refused, so nothing is known about the uncertainty.
    let whole = "def grade(s, a):\n    assert len(s) == 60\n    assert s.id.max() < 60\n    return 1.0";
    let all = measured(whole, &fine).await;
    assert_eq!((all.score, all.standard_error, all.interval), (1.0, None, None));
    assert_eq!(all.no_interval.as_deref(), Some("the metric file has no score for resampled rows"));
    assert_eq!(all.difference(&all), None);
    // Without other IDs, the spread is about that of a mean of 60 rows with a standard deviation of two.
    let own = "def grade(s, a):\n    assert s.id.max() < 60\n    return abs(s.y - a.y).mean()";
    let error = measured(own, &fine).await.standard_error.unwrap();
    assert!((0.18..0.32).contains(&error), "{error}");
    let refusing = "
class ParticipantVisibleError(Exception): pass

def score(solution, submission, row_id_column_name):
    if (submission.y > 3).any():
        raise ParticipantVisibleError('y is at\\nmost 3')
    return 1.0
";
    check(refusing, &fine, "mine.py, line 6, raised ParticipantVisibleError: y is at most 3").await;
    check(
        "def grade(s, a):\n    return float('nan')",
        &fine,
        "mine.py, line 1, returned nan, which is no finite number",
    )
    .await;
    check(RMSE, "id,y\n99,1\n", "1 rows have an ID that is not expected, for example `99`").await;
}

async fn measured(text: &str, predictions: &str) -> Measurement {
    let train = table("y", |at| format!("{}", at % 7));
    measured_by(file(text, Answers::Targets), &train, predictions).await
}

async fn measured_by(file: MetricFile, train: &str, predictions: &str) -> Measurement {
    let mut world = with_libraries(super::world(train, Metric::Rmse, Some("id")).await).await;
    if let Some(evaluation) = &mut world.setup.evaluation {
        evaluation.metric_file = Some(file);
    }
    let outcome = world.run(&script(predictions, "7.0")).await;
    assert_eq!(outcome.score, outcome.measured.as_ref().map(|measured| measured.score));
    outcome.measured.clone().unwrap_or_else(|| panic!("{}", said(&outcome)))
}

/// Long IDs have copies of their own, too, and modules beside the file are imported with and without a dot.
#[tokio::test]
async fn a_file_imports_modules_beside_it_and_sees_each_id_once() {
    needs!(Libraries);
    let text = "from helper import once\nfrom .helper import WORST\n\ndef grade(s, a):\n    return once(s) if len(s) else WORST";
    let helper = "WORST = 99.0\ndef once(s):\n    return 1.0 if s.id.is_unique else WORST\n";
    let modules = vec![("helper.py".to_owned(), helper.to_owned())];
    let own = MetricFile { modules, ..file(text, Answers::Targets) };
    for first in ["120000000000000000", "184467440737095515"] {
        let rows = |row: &dyn Fn(usize) -> usize| -> String {
            (0..60).map(|at| format!("{first}{},{}\n", at + 10, row(at))).collect()
        };
        let [train, predictions] =
            [rows(&|at| at % 7), rows(&|at| at % 5)].map(|rows| format!("id,y\n{rows}"));
        let found = measured_by(own.clone(), &train, &predictions).await;
        assert_eq!((found.score, found.standard_error), (1.0, Some(0.0)), "{first}");
    }
}

fn trial(world: &World, text: &str, header: &str) -> MetricTrial {
    MetricTrial {
        file: file(text, Answers::Targets),
        train: world.setup.data_dir.join("train.csv"),
        columns: Columns::new(Some("id".to_owned()), "y"),
        header: header.split(',').map(str::to_owned).collect(),
        id_column: Some("id".to_owned()),
        with_probabilities: false,
        sample: world.folder.path().join("sample.csv"),
        environment: world.setup.environment.clone(),
        machine: world.setup.machine.clone(),
        isolation: world.setup.isolation.clone(),
        limit: Duration::from_secs(30),
    }
}

#[tokio::test]
async fn a_file_is_tried_with_labelled_rows() {
    needs!(Libraries);
    let train = table("y", |at| format!("{}", at % 3));
    let world = with_libraries(super::world(&train, Metric::Rmse, Some("id")).await).await;
    let check = async |text: &str, header: &str, expected: Result<Answers, &str>| {
        let tried = try_metric(&trial(&world, text, header)).await;
        let found = tried.map(|Tried { answers, rows, .. }| (answers, rows));
        assert_eq!(found, expected.map(|answers| (answers, 60)).map_err(str::to_owned), "{text}");
    };
    check(ACCURACY, "id,y", Ok(Answers::Targets)).await;
    check(RMSE, "id,y", Ok(Answers::Targets)).await;
    check(LOG_LOSS, "id,p_1,p_0,p_2", Ok(Answers::Submission)).await;
    check("def grade(s, a):\n    return s.p.sub(a.p).abs().max()", "id,p", Ok(Answers::Submission)).await;
    let neither =
        "mine.py has neither score(solution, submission, row_id_column_name) nor grade(submission, answers)";
    // Predictions have another form than the truth: those of the sample are `0.5`.
    check("def grade(s, a):\n    assert (s.y == 0.5).all()\n    return 1.0", "id,y", Ok(Answers::Targets))
        .await;
    check("X = 1", "id,y", Err(neither)).await;
    check(
        "def grade(s, a):\n  x = 1\n   return 1",
        "id,y",
        Err("mine.py, line 3, raised IndentationError: unexpected indent (metric.py, line 3)"),
    )
    .await;
    check(
        "\nimport mlebench_is_missing",
        "id,y",
        Err("mine.py, line 2, imports mlebench_is_missing, which the Python interpreter lacks"),
    )
    .await;
    check(
        "def grade(s, a):\n    raise ValueError('no')",
        "id,y",
        Err("mine.py, line 2, raised ValueError: no"),
    )
    .await;
    check(
        "def grade(s, a):\n    return 'good'",
        "id,y",
        Err("mine.py, line 1, returned 'good', which is no number"),
    )
    .await;
    for endless in ["while True: pass", "import time; time.sleep(1000)"] {
        let endless = format!("def grade(s, a):\n    {endless}");
        let trial = MetricTrial { limit: Duration::from_secs(3), ..trial(&world, &endless, "id,y") };
        let refused = try_metric(&trial).await.unwrap_err();
        assert_eq!(refused, "mine.py takes longer than 3 s for a score");
    }
    // It cannot write where scripts cannot.
    let outside = world.folder.path().join("outside").display().to_string();
    let writes = format!("def grade(s, a):\n    open({outside:?}, 'w')\n    return 1.0");
    let refused = try_metric(&trial(&world, &writes, "id,y")).await;
    let refused = format!("{refused:?}");
    assert!(refused.contains("mine.py, line 2, raised "), "{refused}");
}

/// With three periods of 20 rows.
async fn with_periods(train: &str, metric_file: Option<MetricFile>) -> World {
    let mut world = with_libraries(super::world(train, Metric::Rmse, Some("id")).await).await;
    let folds = world.setup.data_dir.join("folds.csv");
    let of_rows: String = (0..60).map(|at| format!("{at},{}\n", at / 20)).collect();
    std::fs::write(&folds, format!("id,fold\n{of_rows}")).unwrap();
    if let Some(evaluation) = &mut world.setup.evaluation {
        evaluation.split = Some(Split { kind: SplitKind::Time, ..Split::default() });
        (evaluation.metric_file, evaluation.folds) = (metric_file, Some(folds));
        (evaluation.periods, evaluation.mean_over_periods) = (Some(Periods::default()), true);
    }
    world
}

/// For this file, 15 s are over after each call.
#[tokio::test]
async fn a_slow_file_scores_all_periods() {
    needs!(Libraries);
    let slow = "
import time
clock = [0.0]
time.monotonic = lambda: clock[0]

def grade(submission, answers):
    clock[0] += 15.0
    return (submission.y - answers.y).mean()
";
    let train = table("y", |_| "0".to_owned());
    let predictions = table("y", |at| (at / 20).pow(2).to_string());
    let world = with_periods(&train, Some(file(slow, Answers::Targets))).await;
    let outcome = world.run(&script(&predictions, "1.0")).await;
    let measured = outcome.measured.clone().unwrap_or_else(|| panic!("{}", said(&outcome)));
    let periods: Vec<f64> = measured.periods.iter().map(|period| period.score).collect();
    assert_eq!((measured.score, measured.mean_over_periods, periods), (5.0 / 3.0, true, vec![0.0, 1.0, 4.0]));
    assert_eq!((measured.replicates.len(), measured.standard_error), (2, Some(0.0)));
}

/// The score of periods is their mean, and two scripts are compared on the rows of both, whoever computes the metric.
#[tokio::test]
async fn a_file_scores_periods_and_the_rows_of_both_scripts_as_the_program_does() {
    needs!(Libraries);
    let rmse =
        |errors: &[f64]| (errors.iter().map(|error| error * error).sum::<f64>() / errors.len() as f64).sqrt();
    let train = table("y", |_| "0".to_owned());
    let error = |at: usize| 1.0 + (at % 3) as f64 + 3.0 * (at / 20) as f64;
    let all = table("y", |at| error(at).to_string());
    // The last period, and half of the second one.
    let lines = |predicted: &str, first: usize| {
        let rows = predicted.lines().skip(first + 1).map(|row| format!("{row}\n"));
        format!("id,y\n{}", rows.collect::<String>())
    };
    let some = lines(&table("y", |at| (error(at) + 1.0).to_string()), 30);
    let of_period = |period: usize| rmse(&(20 * period..20 * (period + 1)).map(error).collect::<Vec<_>>());
    let mean = (0..3).map(of_period).sum::<f64>() / 3.0;
    let common = |more: f64| {
        let of = |rows: std::ops::Range<usize>| rmse(&rows.map(|at| error(at) + more).collect::<Vec<_>>());
        f64::midpoint(of(30..40), of(40..60))
    };
    let mut found = Vec::new();
    for metric_file in [None, Some(file(RMSE, Answers::Targets))] {
        let world = with_periods(&train, metric_file).await;
        let pooled = rmse(&(0..60).map(error).collect::<Vec<_>>());
        let wrong = world.run(&script(&all, &pooled.to_string())).await;
        let says = "the mean over 3 folds of RMSE, computed for the rows of each fold";
        let is_told = wrong.mismatch.as_ref().is_some_and(|words| words.contains(says));
        assert_eq!(is_told, found.is_empty(), "{}", said(&wrong));
        let scripts = [script(&all, &mean.to_string()), script(&some, &common(1.0).to_string())];
        let outcome = world.run(&scripts[0]).await;
        let measured = outcome.measured.clone().unwrap_or_else(|| panic!("{}", said(&outcome)));
        assert!((measured.score - mean).abs() < 1e-9, "{} instead of {mean}", measured.score);
        assert_eq!((measured.periods.len(), measured.rows, measured.on_folds), (3, 60, true));
        assert!(measured.mean_over_periods && measured.standard_error > Some(0.0), "{measured:?}");
        let of_some = world.run(&scripts[1]).await;
        let of_some = of_some.measured.clone().unwrap_or_else(|| panic!("{}", said(&of_some)));
        assert_eq!((of_some.rows, of_some.on_folds), (30, false));
        let member = |script: &String| Member {
            run: Place::from(super::super::world::PLACE),
            script: script.clone(),
            seconds: 1.0,
        };
        let [one, other] = [&scripts[0], &scripts[1]].map(member);
        let request = ComparisonRequest { place: Place::from("phase1/merge-1/common"), one, other };
        let Comparison { rows, difference, failure } = world.runner().compare(&request).await.unwrap();
        let by = difference.unwrap_or_else(|| panic!("{failure}")).by;
        assert_eq!(rows, 30);
        assert!((by - (common(0.0) - common(1.0))).abs() < 1e-9, "{by}");
        found.push(measured.standard_error.unwrap());
    }
    // There are fewer replicates of the file.
    assert!((0.5..2.0).contains(&(found[0] / found[1])), "{found:?}");
}
