//! Combinations of the predictions of real scripts.

use std::time::Duration;

use mle_star::backend::ScriptRunner;
use mle_star_backends::backend::ScriptBackend;
use mle_star_domain::effects::{ScriptOutcome, ScriptRequest};
use mle_star_domain::place::Place;
use mle_star_domain::question::{CombinedBy, FileStem, Question, Selection};
use mle_star_tables::metrics::Metric;

use super::World;
use crate::scripts::world::{TIME, request};

/// A script that is wrong about a third of the rows, and less sure of them. `WRONG` and `MORE` are filled in.
const SCRIPT: &str = "
import csv, os
def write(name, rows):
    csv.writer(open(f'final/{name}.csv', 'w', newline='')).writerows(rows)
def answers(part):
    ids = [int(row[0]) for row in list(csv.reader(open(f'input/{part}.csv')))[1:]]
    scores = {id: 0.1 + 0.8 * (id % 2) if id % 3 != WRONG else 0.6 - 0.2 * (id % 2) for id in ids}
    labels = [['id', 'y']] + [[id, 'dog' if score > 0.5 else 'cat'] for id, score in scores.items()]
    return labels, [['id', 'cat', 'dog']] + [[id, 1 - score, score] for id, score in scores.items()]
labels, scores = answers('train')
write('validation_predictions', labels)
write('validation_class_scores', scores)
labels, scores = answers('test')
write('submission', labels)
write('submission_class_scores', scores)
MORE
print('Final Validation Performance:', 200 / 300)
";

/// A world with two classes, whose scripts see three hundred rows with a label and twelve without.
async fn two_classes() -> World {
    let row = |id: usize| format!("{id},{}\n", ["cat", "dog"][id % 2]);
    let train = format!("id,y\n{}", (0..300).map(row).collect::<String>());
    let mut world = super::world(&train, Metric::Accuracy, Some("id")).await;
    let ids = |end: &str| (300..312).map(|id| format!("{id}{end}\n")).collect::<String>();
    std::fs::write(world.setup.data_dir.join("test.csv"), format!("id\n{}", ids(""))).unwrap();
    std::fs::write(world.folder.path().join("sample.csv"), format!("id,y\n{}", ids(",cat"))).unwrap();
    world.setup.id_column = Some("id".to_owned());
    world
}

/// Runs of three scripts, the last of which ends with `more`.
async fn members(runner: &ScriptBackend, more: &str) -> Vec<FileStem> {
    let mut members = Vec::new();
    for wrong in 0..3 {
        let script =
            SCRIPT.replace("WRONG", &wrong.to_string()).replace("MORE", if wrong == 2 { more } else { "" });
        let run = Place::from(format!("phase1/candidate{wrong}/run").as_str());
        let request = ScriptRequest { place: run.clone(), ..request(&script, Duration::from_secs(60)) };
        let outcome = runner.run(&request).await.unwrap();
        assert!(outcome.measured.is_some(), "{outcome:?}");
        members.push(FileStem::new(&run, &script));
    }
    members
}

/// How many predicted labels of the combination are right.
async fn right(runner: &ScriptBackend, members: Vec<FileStem>, selection: Selection) -> usize {
    let (place, script) = (Place::from("phase3/selection/run"), "combined".to_owned());
    let to = FileStem::new(&place, &script);
    let question = Question::Combine {
        runs: members.into_iter().zip(selection.weights).collect(),
        by: selection.by,
        to: to.clone(),
        script,
        measured: selection.measured.unwrap(),
    };
    let outcome: Box<ScriptOutcome> =
        runner.answer(&place, &question, TIME).await.unwrap().try_into().unwrap();
    let submission = outcome.submission.unwrap_or_else(|| panic!("{:?}", outcome.notes));
    assert_eq!((submission.rows, submission.findings), (Some(12), Vec::new()));
    let kept = std::fs::read_to_string(runner.submission(&to).unwrap()).unwrap();
    let is_right = |(id, line): (usize, &str)| line == format!("{id},{}", ["cat", "dog"][id % 2]);
    (300..).zip(kept.lines().skip(1)).filter(|row| is_right(*row)).count()
}

#[tokio::test]
async fn class_scores_are_combined_if_they_can_be_and_labels_vote_else() {
    let check = async |more: &str, expected: CombinedBy| {
        let world = two_classes().await;
        let runner = world.runner();
        let members = members(&runner, more).await;
        let place = Place::from("phase3/selection");
        let runs = members.iter().map(|run| (run.clone(), 1.0)).collect();
        let question = Question::Select { runs, seconds: 60.0 };
        let selection: Selection = runner.answer(&place, &question, TIME).await.unwrap().try_into().unwrap();
        assert_eq!((selection.failure.as_str(), selection.by), ("", expected), "{more}");
        assert!(selection.is_better && selection.measured.as_ref().is_some_and(|all| all.score > 0.75));
        assert_eq!(right(&runner, members, selection).await, 12, "{more}");
    };
    check("", CombinedBy::ClassScores).await;
    check("os.remove('final/submission_class_scores.csv')", CombinedBy::Votes).await;
}
