//! Runs whose scripts run on runners.

use std::fs;

use mle_star::event::{Event, Line, Outline, RunnerState, RunnerStatus};
use mle_star::journal::Journal;
use mle_star::slots::Slots;
use mle_star::testing::{World, frozen};
use mle_star_domain::effects::ScriptOutcome;
use mle_star_domain::layout::{EVENTS, LOGS, RUNNERS};

use super::markup;
use super::world::keep;
use super::*;
use crate::run_view::{RunView, State, read};

const STEP: &str = "phase2/path-0/t0/k0";
const LOST: &str = "phase2/path-1/t0/k0";

fn runner(name: &str, state: RunnerState, detail: &str) -> Event {
    let waited = (state == RunnerState::Ready).then_some(3.0);
    let host = Some("node7".to_owned());
    let (runner, detail) = (name.to_owned(), detail.to_owned());
    Event::Runner { runner: RunnerStatus { runner, state, host, slots: 1, waited, detail } }
}

/// A run on a runner `far-1` and this machine, with these events at its end.
async fn on_runners(world: &World, events: Vec<Event>) -> (tempfile::TempDir, RunView) {
    let (folder, inputs) = (tempfile::tempdir().unwrap(), frozen());
    let journal = Journal::create(folder.path(), &inputs).unwrap();
    let slots = Slots::new(0);
    slots.add("far-1", 1);
    slots.expect(1);
    world.solve(&inputs, &journal, &slots).await.unwrap();
    drop(journal);
    let outline = Outline::new(&inputs, false, 0.0, mle_star_domain::effects::Usage::free());
    let of_world = world.events();
    let all = [Event::RunStarted(Box::new(outline))].into_iter().chain(of_world).chain(events);
    let line = |(second, event)| {
        let time = jiff::Timestamp::from_second(second).unwrap();
        let line = Line { time, run_id: "r".to_owned(), done: None, event };
        serde_json::to_string(&line).unwrap() + "\n"
    };
    fs::create_dir(folder.path().join(LOGS)).unwrap();
    fs::write(folder.path().join(LOGS).join(EVENTS), (0..).zip(all).map(line).collect::<String>()).unwrap();
    fs::write(folder.path().join(RUNNERS), "[]").unwrap();
    let view = read(folder.path()).unwrap();
    (folder, view)
}

fn lost() -> ScriptOutcome {
    ScriptOutcome::lost("runner far-1 was lost: killed".to_owned())
}

#[tokio::test]
async fn scripts_are_counted_where_they_ran_and_losses_where_they_happened() {
    let world = World::new().takes(0, 0).at_first(&format!("{STEP}/run"), lost());
    let world = world.script(&format!("{LOST}/run"), lost());
    let events = vec![
        runner("far-1", RunnerState::Waiting, ""),
        runner("far-1", RunnerState::Ready, "node7: 2 cores"),
        runner("far-1", RunnerState::Lost, "killed"),
        runner("far-2", RunnerState::Failed, "no place"),
    ];
    let (_folder, view) = on_runners(&world, events).await;
    let at_work = AtWork::of(&view);
    let found = runner_rows(&Context::of(&view, &at_work));
    let shown: Vec<_> =
        found.iter().map(|one| (one.name.as_str(), one.state, one.lost_scripts, one.losses)).collect();
    // One script was lost once, the other three times.
    assert_eq!(shown, [("far-1", Some("lost"), 4, 1), ("far-2", Some("failed"), 0, 0)]);
    let scripts = view.snapshot.effects.iter().filter(|effect| effect.kind == Kind::Script).count() as u64;
    assert_eq!(found[0].scripts, scripts - 1);
    let summary = format!(
        "{} scripts on 1 runner. 1 script ran again elsewhere, because its runner was lost. 1 script was given up after \
         several lost runners.",
        scripts - 1
    );
    let lines = crate::text::lines(&Context::of(&view, &at_work)).unwrap();
    let told = "            far-2 on node7: 0 scripts, failed (no place)";
    assert!(lines.iter().any(|line| line == told), "{lines:?}");
    assert_eq!(node(&view, STEP)["runners"], serde_json::json!(["far-1"]));
    let page = html::render(&view, Extent::Full).unwrap();
    keep("runners", &page);
    markup::check(&page);
    for text in [summary.as_str(), "id=\"runners\"", "node7", "ran on <bdi>far-1</bdi>", "no place"] {
        assert!(page.contains(text), "{text}");
    }
}

#[tokio::test]
async fn the_present_of_runners_is_that_of_a_running_run() {
    let place = Place::from("phase3/r0/run");
    let started =
        Event::ScriptStarted { place, timeout: 60.0, characters: 9, runner: Some("far-1".to_owned()) };
    let ready = runner("far-1", RunnerState::Ready, "node7: 2 cores, 4 GiB, no GPU");
    let (_folder, mut view) = on_runners(&World::new(), vec![ready, started]).await;
    let row = |view: &RunView| part(view, "runners")["rows"][0].clone();
    view.summary.run.state = State::Running;
    let shown = row(&view);
    assert_eq!(shown["figures"]["state"], "ready");
    assert_eq!(shown["now"], serde_json::json!(["phase3/r0/run"]));
    assert_eq!(shown["detail"], "2 cores, 4 GiB, no GPU");
    // A process that was killed wrote no end.
    view.summary.run.state = State::Unfinished;
    let shown = row(&view);
    assert_eq!(shown["figures"]["state"], "ended");
    assert_eq!(shown["now"], serde_json::json!([]));
}
