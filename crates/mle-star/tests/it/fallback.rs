//! The final answer is the first valid candidate: the script on the original files, its run without held-out labels, the
//! answer so far, the validated script. Its score and what is said are of what is delivered.

use mle_star::journal::{Frozen, Journal};
use mle_star::pipeline::FinishedRun;
use mle_star::testing::World;
use mle_star_domain::config::Context;
use mle_star_domain::protocol::Holdout;
use mle_star_domain::question::Refit;

use crate::holdout::{held_out, with_ensemble};
use crate::provisional::{inputs as of_period, predicting};
use crate::{Folder, go_on, warnings};

/// The submission, its held-out score, whether its script wrote it on the original files, and what is said.
type Delivered = (Option<String>, Option<f64>, bool, Option<String>);

fn delivered(FinishedRun { result, submission, .. }: &FinishedRun) -> Delivered {
    let said = result.not_best.as_ref().or(result.not_run.as_ref());
    let holdout = result.trust.as_ref().unwrap().holdout_score;
    let submission = submission.as_ref().map(ToString::to_string);
    (submission, holdout, result.final_solution.is_executable && result.not_run.is_none(), said.cloned())
}

/// Runs this world, which is interrupted before the look at what stands instead, to its end, and once more, when nothing new
/// happens. Without anything to say, the script wrote the submission on the original files.
async fn check(world: World, inputs: &Frozen, run: Option<&str>, holdout: Option<f64>, said: Option<&str>) {
    let (mut inputs, folder) = (inputs.clone(), Folder::fresh());
    inputs.config.max_debug_attempts = 1;
    let looks = ["whole", "reporting"].map(|part| format!("finalization/fallback/look-{part}"));
    let world = looks.iter().fold(world, |world, place| world.breaks_once(place));
    drop(Journal::create(folder.path(), &inputs).unwrap());
    let wrote = said.is_none_or(|said| said.starts_with("the best solution"));
    let expected = (run.map(str::to_owned), holdout, wrote, said.map(str::to_owned));
    let (mut effects, is_first) = (Vec::new(), run == Some(LAST));
    for _ in 0..3 {
        let (journal, frozen) = Journal::open(folder.path()).unwrap();
        let ended = go_on(&world, &frozen, &journal).await;
        effects.push(world.trace().len());
        if ended.is_err() && effects.len() == 1 {
            continue;
        }
        let finished = ended.unwrap();
        assert_eq!(delivered(&finished), expected);
        assert_eq!(finished.result.phases_completed.contains(&"finalization".to_owned()), is_first);
        let script = run.map(|run| world.script_run(run).unwrap().script);
        assert!(script.is_none_or(|script| script == finished.result.final_solution.content));
    }
    assert_eq!(effects[1], effects[2]);
    assert_eq!(warnings(&world, "finalization", " stands, score ") > 0, !is_first);
}

/// A world in which the scripts at these places fail, and their repairs too.
pub fn broken(world: World, places: &[&str]) -> World {
    let fails = |world: World, place: &&str| world.fails(place).fails(&place.replace("run", "debug-1/run"));
    places.iter().fold(world, fails)
}

const LAST: &str = "finalization/run";
const REHEARSAL: &str = "finalization/holdout/run";
const FAILED: &str = "the submission script did not run on the original files (ValueError: broken)";

#[tokio::test]
async fn the_first_candidate_that_holds_is_delivered() {
    // The first round is best. It predicts the held-out rows a little better than the submission script.
    let world = || {
        with_ensemble()
            .held_out("phase3/r0/run", &[0.86, 0.85, 0.87])
            .held_out(REHEARSAL, &[0.85, 0.86, 0.84])
    };
    let inputs = held_out();
    check(world(), &inputs, Some(LAST), Some(0.85), None).await;

    let said = |why: &str| format!("{why}; the submission is what it predicted without the held-out rows");
    let rehearsed = Some(REHEARSAL);
    check(broken(world(), &[LAST]), &inputs, rehearsed, Some(0.85), Some(&said(FAILED))).await;
    let refit = Refit { words: "mean 9 instead of 8".to_owned(), is_jump: true, ..Refit::default() };
    let jumps = "the submission script's predictions on the original files differ from those without by more than fits do (mean 9 instead of 8)";
    let jumping = world().answers("finalization/refit", refit);
    check(jumping, &inputs, rehearsed, Some(0.85), Some(&said(jumps))).await;

    let said =
        |why: &str| format!("{why}; the submission is what the solution predicted without the held-out rows");
    let (validated, both) = (Some("phase3/r0/run"), [REHEARSAL, LAST]);
    check(broken(world(), &both), &inputs, validated, Some(0.86), Some(&said(FAILED))).await;
    let defect = said("finalization failed (internal error: a defect at finalization/test)");
    check(world().panics("finalization/test"), &inputs, validated, Some(0.86), Some(&defect)).await;
    let none = format!("{FAILED}; the solution wrote no submission");
    check(broken(World::new(), &both), &inputs, None, None, Some(&none)).await;
}

#[tokio::test]
async fn without_held_out_rows_the_validated_script_has_seen_the_original_files() {
    let mut inputs = held_out();
    inputs.protocol.as_mut().unwrap().holdout = Holdout::Off { why: "few rows".to_owned() };
    check(broken(with_ensemble(), &[LAST]), &inputs, Some("phase3/r0/run"), None, None).await;
    // No script is repaired like one that fails.
    let empty = World::new().agent("finalization/test", "no").agent("finalization/debug-1/debugger", "no");
    let why = "The script is empty: there was no code in the reply.";
    for (world, why) in [(broken(World::new(), &[LAST]), "ValueError: broken"), (empty, why)] {
        let said = FAILED.replace("ValueError: broken", why) + "; the solution wrote no submission";
        check(world, &inputs, None, None, Some(&said)).await;
    }
}

#[tokio::test]
async fn where_the_search_predicts_an_earlier_period_the_answer_so_far_stands() {
    // The agent writes another script.
    let mut inputs = of_period();
    inputs.config.context = Context::Paper;
    let world = |fails: &[&str]| {
        broken(predicting(), fails)
            .held_out(REHEARSAL, &[0.69, 0.70, 0.68])
            .held_out("phase2/path-0/t0/k0/run", &[0.6, 0.59, 0.61])
            .held_out("phase1/merge-1/run", &[0.4, 0.39, 0.41])
    };
    let all = ["phase1", "phase2", "phase3"].map(|phase| format!("{phase}/provisional/run"));
    let [first, second, third] = all.each_ref().map(String::as_str);
    check(world(&[]), &inputs, Some(LAST), Some(0.69), None).await;
    // The score is that of the solution, not that of the script which failed.
    check(world(&[LAST]), &inputs, Some(third), Some(0.7), None).await;
    let best = "the best solution, that of round 1 (validation score 0.7), was not submitted, but that of";
    let step = format!("{best} path 1, step 1, attempt 1 (0.6), because {FAILED}");
    check(world(&[LAST, third]), &inputs, Some(second), Some(0.6), Some(&step)).await;
    let merge = format!("{best} merge 1 (0.5), because {FAILED}");
    check(world(&[LAST, third, second]), &inputs, Some(first), Some(0.4), Some(&merge)).await;
    let none = format!("{FAILED}; the solution predicted the held-out period, not the test rows");
    check(world(&[LAST, third, second, first]), &inputs, None, Some(0.7), Some(&none)).await;
}
