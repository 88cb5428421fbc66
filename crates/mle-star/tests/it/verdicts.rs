//! Every step that ends is closed by a record, and what the records say is what the pipeline did.

use std::collections::BTreeSet;

use mle_star::event::Event;
use mle_star::journal::{Journal, JournalError, read};
use mle_star::stop::Stop;
use mle_star::testing::{World, frozen, submitted};
use mle_star::verdict::{Unrecorded, Verdict, Verdicts, answer};
use mle_star_domain::metric::Direction;
use mle_star_domain::place::Step;
use proptest::prelude::*;

use crate::{Folder, go_on};

/// The verdicts of a run in this world, with its events.
async fn verdicts(world: &World) -> Verdicts {
    let (inputs, folder) = (frozen(), Folder::fresh());
    let journal = Journal::create(folder.path(), &inputs).unwrap();
    go_on(world, &inputs, &journal).await.unwrap();
    drop(journal);
    read(folder.path()).unwrap().verdicts()
}

#[tokio::test]
async fn every_step_is_closed_once_and_announced_as_recorded() {
    let world = World::new().scores("phase2/path-0/t0/k1/run", 0.8).fails("phase1/candidate-1/run");
    let recorded = verdicts(&world).await;
    let announced: Vec<(Step, Verdict)> = world
        .events()
        .iter()
        .filter_map(|event| match event {
            Event::StepEnded { place, verdict } => {
                let recorded = Verdict { unrecorded: Unrecorded::default(), ..verdict.clone() };
                Some((*place, recorded))
            }
            _ => None,
        })
        .collect();
    assert_eq!(announced.len(), recorded.len());
    assert_eq!(announced.into_iter().collect::<Verdicts>(), recorded);
    let effects: BTreeSet<Step> = world
        .trace()
        .iter()
        .filter_map(|place| mle_star_domain::place::Place::from(place.as_str()).step())
        .collect();
    assert_eq!(recorded.keys().copied().collect::<BTreeSet<_>>(), effects);
}

#[tokio::test]
async fn a_replay_that_comes_to_another_verdict_stops_and_names_the_step() {
    let (inputs, folder) = (frozen(), Folder::fresh());
    let journal = Journal::create(folder.path(), &inputs).unwrap();
    journal
        .close(Step::Candidate(1), &Verdict { kept: true, score: Some(0.25), ..Verdict::default() })
        .unwrap();
    drop(journal);
    let (journal, frozen) = Journal::open(folder.path()).unwrap();
    let Err(Stop::Journal(error)) = go_on(&World::new(), &frozen, &journal).await else {
        panic!("it went on")
    };
    assert!(matches!(error, JournalError::OtherVerdict { step: Step::Candidate(1) }), "{error}");
    assert!(error.to_string().contains("phase1/candidate-1"), "{error}");
}

#[tokio::test]
async fn a_step_is_closed_once() {
    let (inputs, folder) = (frozen(), Folder::fresh());
    let journal = Journal::create(folder.path(), &inputs).unwrap();
    journal.close(Step::Merge(1), &Verdict::default()).unwrap();
    assert!(matches!(journal.close(Step::Merge(1), &Verdict::default()), Err(JournalError::Bug { .. })));
}

#[tokio::test]
async fn the_answer_is_what_would_be_submitted_and_what_is() {
    let mut valid = submitted(&[]);
    valid.score = Some(0.55);
    let world = World::new()
        .script("phase1/candidate-1/run", valid)
        .scores("phase2/path-1/t0/k0/run", 0.6)
        .scores("phase2/path-0/t0/k1/run", 0.6)
        .scores("phase3/r0/run", 0.6)
        .scores("phase3/r1/run", 0.58);
    let mut recorded = verdicts(&world).await;
    let last = recorded.remove(&Step::Finalization).unwrap();
    let answered = answer(&recorded, Direction::Maximize).unwrap().step;
    assert_eq!((last.from.as_slice(), answered), (&[answered][..], Step::Round(0)));
    let answers: Vec<(Step, Option<String>)> = world
        .events()
        .iter()
        .filter_map(|event| match event {
            Event::Answer { solution, submission } => {
                Some((solution.step, submission.as_ref().map(|best| best.run.to_string())))
            }
            _ => None,
        })
        .collect();
    // None before the end of Phase 1, then the best so far with the one submission that a script wrote.
    assert!(matches!(answers[0].0, Step::Candidate(1)), "{answers:?}");
    let (last, before) = answers.split_last().unwrap();
    assert_eq!(before.last().unwrap().0, Step::Round(0));
    let submission = Some("phase1/candidate-1/run".to_owned());
    assert!(before.iter().all(|(_, one)| *one == submission), "{answers:?}");
    // What finalization submits is announced as soon as it is made, before importance and model.
    assert_eq!(*last, (Step::Finalization, Some("finalization/run".to_owned())));
    let is_last = |event: &Event| matches!(event, Event::Answer { solution, .. } if solution.step == last.0);
    let has_ended = |event: &Event| matches!(event, Event::StepEnded { place, .. } if *place == last.0);
    let at = |is: &dyn Fn(&Event) -> bool| world.events().iter().position(is).unwrap();
    assert!(at(&is_last) < at(&has_ended));
}

proptest! {
    #[test]
    fn scores_keep_every_digit_in_journal_and_result(bits: u64) {
        let value = f64::from_bits(bits);
        prop_assume!(value.is_finite());
        let verdict = Verdict { score: Some(value), ..Verdict::default() };
        let text = serde_json::to_string(&verdict).unwrap();
        let read: Verdict = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(read.score.map(f64::to_bits), Some(bits));
        let read: serde_json::Value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(read["score"].as_f64().map(f64::to_bits), Some(bits));
    }
}
