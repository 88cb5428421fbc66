//! The final answer is the first candidate that holds: the script on the original files, its rehearsal, the answer so far, the
//! validated script. Its score and what is said are of what is delivered.

use mle_star::journal::{Frozen, Journal};
use mle_star::pipeline::FinishedRun;
use mle_star::testing::World;
use mle_star_domain::config::Context;
use mle_star_domain::effects::Refit;
use mle_star_domain::protocol::Holdout;

use crate::holdout::{held_out, with_ensemble};
use crate::provisional::{inputs as of_period, predicting};
use crate::{Folder, go_on, warnings};

/// What is delivered, and what is said of it.
#[derive(Debug, PartialEq)]
struct Delivered {
    submission: Option<String>,
    holdout: Option<f64>,
    not_run: Option<String>,
    not_best: Option<String>,
    is_executable: bool,
    is_complete: bool,
}

impl Delivered {
    fn of(finished: &FinishedRun) -> Self {
        let result = &finished.result;
        Self {
            submission: finished.submission.as_ref().map(ToString::to_string),
            holdout: result.trust.as_ref().unwrap().holdout_score,
            not_run: result.not_run.clone(),
            not_best: result.not_best.clone(),
            is_executable: result.final_solution.is_executable,
            is_complete: result.phases_completed.contains(&"finalization".to_owned()),
        }
    }

    /// The script on the original files, as it should be.
    fn whole(submission: &str, holdout: Option<f64>) -> Self {
        let submission = Some(submission.to_owned());
        Self { submission, holdout, not_run: None, not_best: None, is_executable: true, is_complete: true }
    }

    /// What stands if that fails.
    fn instead(submission: Option<&str>, holdout: Option<f64>, not_run: Option<&str>) -> Self {
        let (is_executable, submission) = (not_run.is_none(), submission.unwrap_or_default());
        let not_run = not_run.map(str::to_owned);
        let made = Self { not_run, is_executable, is_complete: false, ..Self::whole(submission, holdout) };
        Self { submission: made.submission.filter(|place| !place.is_empty()), ..made }
    }
}

/// Finishes a run of this world, and its replay, in which nothing new happens.
async fn delivers(world: World, mut inputs: Frozen, expected: Delivered) {
    inputs.config.max_debug_attempts = 1;
    let folder = Folder::fresh();
    let journal = Journal::create(folder.path(), &inputs).unwrap();
    let finished = go_on(&world, &inputs, &journal).await.unwrap();
    assert_eq!(Delivered::of(&finished), expected);
    assert_eq!(warnings(&world, "finalization", " stands, score "), usize::from(!expected.is_complete));
    if let Some(run) = &expected.submission {
        assert_eq!(finished.result.final_solution.content, world.script_run(run).unwrap().script, "{run}");
    }
    drop(journal);
    let (journal, frozen) = Journal::open(folder.path()).unwrap();
    let replay = World::new();
    let again = go_on(&replay, &frozen, &journal).await.unwrap();
    assert_eq!((Delivered::of(&again), replay.trace()), (expected, Vec::new()));
}

/// The first round is best. It predicts the held-out rows a little better than the submission script.
fn world() -> World {
    with_ensemble()
        .held_out("phase3/r0/run", &[0.86, 0.85, 0.87])
        .held_out("finalization/holdout/run", &[0.85, 0.86, 0.84])
}

/// A world in which the script at this place fails, and its repair too.
fn broken(world: World, place: &str) -> World {
    world.fails(place).fails(&place.replace("/run", "/debug-1/run"))
}

const FAILED: &str = "the submission script did not run on the original files (ValueError: broken)";

#[tokio::test]
async fn the_first_candidate_that_holds_is_delivered() {
    let (last, rehearsal, own) = ("finalization/run", "finalization/holdout/run", "phase3/r0/run");
    delivers(world(), held_out(), Delivered::whole(last, Some(0.85))).await;

    let said = |why: &str| format!("{why}; the submission is what it predicted without the held-out rows");
    let rehearsed = |why: &str| Delivered::instead(Some(rehearsal), Some(0.85), Some(&said(why)));
    delivers(broken(world(), last), held_out(), rehearsed(FAILED)).await;
    let refit =
        Refit { rows: 2, words: "mean 9 instead of 8".to_owned(), is_jump: true, failure: String::new() };
    let jumps = "the submission script's predictions on the original files differ from those without by more than fits do (mean 9 instead of 8)";
    delivers(world().refits("finalization/refit", refit), held_out(), rehearsed(jumps)).await;

    let said =
        |why: &str| format!("{why}; the submission is what the solution predicted without the held-out rows");
    let validated = |why: &str| Delivered::instead(Some(own), Some(0.86), Some(&said(why)));
    delivers(broken(broken(world(), rehearsal), last), held_out(), validated(FAILED)).await;
    let defect = "finalization failed (internal error: a defect at finalization/test)";
    delivers(world().panics("finalization/test"), held_out(), validated(defect)).await;
    let alone = broken(broken(World::new(), rehearsal), last);
    let said = format!("{FAILED}; the solution wrote no submission");
    delivers(alone, held_out(), Delivered::instead(None, None, Some(&said))).await;
}

#[tokio::test]
async fn without_held_out_rows_the_validated_script_has_seen_the_original_files() {
    let mut inputs = held_out();
    inputs.protocol.as_mut().unwrap().holdout = Holdout::Off { why: "few rows".to_owned() };
    let broken = |world| broken(world, "finalization/run");
    delivers(broken(world()), inputs.clone(), Delivered::instead(Some("phase3/r0/run"), None, None)).await;
    let said = format!("{FAILED}; the solution wrote no submission");
    let none = Delivered { is_executable: true, ..Delivered::instead(None, None, Some(&said)) };
    delivers(broken(World::new()), inputs, none).await;
}

#[tokio::test]
async fn where_the_search_predicts_an_earlier_period_the_answer_so_far_stands() {
    // The agent writes another script.
    let mut inputs = of_period();
    inputs.config.context = Context::Paper;
    let world = |fails: &[&str]| {
        let world = fails.iter().fold(predicting(), |world, place| broken(world, place));
        world
            .held_out("finalization/holdout/run", &[0.69, 0.70, 0.68])
            .held_out("phase2/path-0/t0/k0/run", &[0.6, 0.59, 0.61])
            .held_out("phase1/merge-1/run", &[0.4, 0.39, 0.41])
    };
    let [first, second, third] =
        ["phase1", "phase2", "phase3"].map(|phase| format!("{phase}/provisional/run"));
    let (first, second, third) = (first.as_str(), second.as_str(), third.as_str());
    let last = "finalization/run";
    delivers(world(&[]), inputs.clone(), Delivered::whole(last, Some(0.69))).await;
    // The score is that of the solution, not that of the script which failed.
    delivers(world(&[last]), inputs.clone(), Delivered::instead(Some(third), Some(0.7), None)).await;
    let other = |run, holdout, of: &str| Delivered {
        not_best: Some(format!(
            "the best solution, that of round 1 (validation score 0.7), was not submitted, but that of {of}, because {FAILED}"
        )),
        ..Delivered::instead(Some(run), Some(holdout), None)
    };
    let step = other(second, 0.6, "path 1, step 1, attempt 1 (0.6)");
    delivers(world(&[last, third]), inputs.clone(), step).await;
    let merge = other(first, 0.4, "merge 1 (0.5)");
    delivers(world(&[last, third, second]), inputs.clone(), merge).await;
    let period = "the solution predicted the held-out period, 2020-05-01 to 2020-05-28, not the test rows";
    let none = Delivered::instead(None, Some(0.7), Some(&format!("{FAILED}; {period}")));
    delivers(world(&[last, third, second, first]), inputs, none).await;
}
