//! Scores by Python files of users.

use mle_star::backend::ScriptRunner as _;
use mle_star_backends::script::environment::{EnvironmentChoice, python_environment};
use mle_star_domain::measure::Measurement;
use mle_star_domain::place::Place;
use mle_star_domain::protocol::{Periods, Split, SplitKind};
use mle_star_domain::question::{Comparison, FileStem, Question};
use mle_star_domain::task::{Answers, MetricFile};
use mle_star_needs::needs;
use mle_star_tables::metrics::Metric;

use super::super::world::{TIME, World};
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
            measured.push(outcome.measured.clone().unwrap_or_else(|| panic!("{}", said(&outcome))));
        }
        let [own, by_file] = measured.try_into().unwrap();
        let is_near = |one: f64, two: f64| assert!((one - two).abs() < 1e-9, "{metric}: {one} and {two}");
        is_near(own.score, by_file.score);
        assert_eq!((own.rows, &own.rows_digest), (by_file.rows, &by_file.rows_digest));
        assert_eq!(own.replicates.len(), by_file.replicates.len());
        own.replicates.iter().zip(&by_file.replicates).for_each(|(one, two)| is_near(*one, *two));
        is_near(own.standard_error.unwrap(), by_file.standard_error.unwrap());
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
    let mut world = with_libraries(super::world(&train, Metric::Rmse, Some("id")).await).await;
    world.setup.evaluation.as_mut().unwrap().metric_file = Some(file(text, Answers::Targets));
    let outcome = world.run(&script(predictions, "7.0")).await;
    assert_eq!(outcome.score, outcome.measured.as_ref().map(|measured| measured.score));
    outcome.measured.clone().unwrap_or_else(|| panic!("{}", said(&outcome)))
}

/// The score of periods is their mean, and two scripts are compared on the rows of both, whoever computes the metric.
#[tokio::test]
async fn a_file_scores_periods_and_the_rows_of_both_scripts_as_the_program_does() {
    needs!(Libraries);
    let train = table("y", |_| "0".to_owned());
    // Each error of a period is that of the next one, less three.
    let all = table("y", |at| (1 + 3 * (at / 20)).to_string());
    // The last period, and half of the second one, each worse by one.
    let some = table("y", |at| (2 + 3 * (at / 20)).to_string());
    let some: String = some
        .lines()
        .enumerate()
        .filter(|(at, _)| *at == 0 || *at > 30)
        .map(|(_, row)| format!("{row}\n"))
        .collect();
    for metric_file in [None, Some(file(RMSE, Answers::Targets))] {
        let mut world = with_libraries(super::world(&train, Metric::Rmse, Some("id")).await).await;
        let folds = world.setup.data_dir.join("folds.csv");
        std::fs::write(&folds, table("fold", |at| (at / 20).to_string())).unwrap();
        let evaluation = world.setup.evaluation.as_mut().unwrap();
        evaluation.split = Some(Split { kind: SplitKind::Time, ..Split::default() });
        (evaluation.metric_file, evaluation.folds) = (metric_file, Some(folds));
        (evaluation.periods, evaluation.mean_over_periods) = (Some(Periods::default()), true);
        let mut members = Vec::new();
        for (predictions, score, rows) in [(&all, 4.0, 60), (&some, 6.5, 30)] {
            let script = script(predictions, &score.to_string());
            let outcome = world.run(&script).await;
            let measured = outcome.measured.clone().unwrap_or_else(|| panic!("{}", said(&outcome)));
            assert!((measured.score - score).abs() < 1e-9, "{} instead of {score}", measured.score);
            assert_eq!((measured.rows, measured.on_folds), (rows, rows == 60));
            members.push(FileStem::new(&Place::from(super::super::world::PLACE), &script));
        }
        let [one, other] = members.try_into().unwrap();
        let question = Question::Compare { one, other };
        let answer =
            world.runner().answer(&Place::from("phase1/merge-1/common"), &question, TIME).await.unwrap();
        let Comparison { rows, difference, failure } = answer.try_into().unwrap();
        let by = difference.unwrap_or_else(|| panic!("{failure}")).by;
        assert!(rows == 30 && (by + 1.0).abs() < 1e-9, "{rows}: {by}");
    }
}
