//! A run that is refused and delayed during calls of the real `claude`.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mle_star::event::Event;
use mle_star_needs::needs;

use super::answers::{self, answer};
use super::api::{Api, Reply};
use super::closed::in_closed_network;
use super::scripts::Style;
use super::world::{World, calls, events, said};

/// One of everything.
const SMALL: &str = "--set num_retrieved_models=1 --set outer_loop_steps=1 --set inner_loop_steps=1 \
                     --set num_parallel_solutions=1 --set ensemble_rounds=1 --set subsample_limit=3000 \
                     --time-limit 600";

#[test]
fn a_run_that_the_real_claude_cannot_go_on_with_is_resumed_after_the_cure() {
    needs!(ClosedNetwork, Named("MLE_STAR_TEST_CLAUDE"));
    in_closed_network(
        "real_runs::trouble::a_run_that_the_real_claude_cannot_go_on_with_is_resumed_after_the_cure",
        async {
            let (refused, busy) = ("r.phase2.path-0.t0.summarize", "r.phase2.path-0.t0.k0.coder");
            let is_cured = Arc::new(AtomicBool::new(false));
            let cure = Arc::clone(&is_cured);
            let api = Api::start(move |asked| match asked.scenario.as_str() {
                scenario if scenario == refused && !is_cured.load(Ordering::SeqCst) => {
                    error(401, "authentication_error", "invalid x-api-key")
                }
                scenario if scenario == busy && asked.nth < 3 => error(529, "overloaded_error", "Overloaded"),
                _ => answer(asked, Style::Flawless),
            })
            .await;
            let world = World::new(&api);
            let stopped = said(world.run("r", SMALL));
            assert_eq!(stopped.code, 1, "{stopped:?}");
            check_words(&stopped.stderr, &["error: the login was refused", "hint: check ANTHROPIC_API_KEY"]);
            check_words(
                &stopped.stdout,
                &["\"event\":\"stopped\"", "\"last_success\":\"phase2/", "\"scored\":"],
            );
            // What was found before is there.
            let answer = world.file("runs/r/final/solution.py");
            assert!(answer.contains("Final Validation Performance"), "{answer}");
            let before = requests(&api, "r");

            world.uninstall();
            let missing = said(world.command("resume r"));
            assert_eq!(missing.code, 2, "{missing:?}");
            check_words(&missing.stderr, &["no executable claude", "hint: "]);
            assert_eq!(requests(&api, "r"), before);

            world.install();
            cure.store(true, Ordering::SeqCst);
            let cured = said(world.command("resume r --json"));
            assert_eq!(cured.code, 0, "{cured:?}");
            check_waits(&events(&cured), "phase2/path-0/t0/k0/coder", "529");
            let mut after = requests(&api, "r");
            assert_eq!(after.remove("phase2.path-0.t0.k0.coder"), Some(4));
            let refusals = before["phase2.path-0.t0.summarize"];
            assert_eq!(after.remove("phase2.path-0.t0.summarize"), Some(refusals + 1));
            for (place, count) in after {
                assert_eq!(count, answers::requests(&place.replace('.', "/")), "{place}");
            }
        },
    );
}

/// The number of requests from each place of a run.
fn requests(api: &Api, run: &str) -> BTreeMap<String, usize> {
    let mut requests = BTreeMap::new();
    for asked in api.all() {
        let (of, place) = asked.scenario.split_once('.').unwrap();
        if of == run {
            *requests.entry(place.to_owned()).or_insert(0) += 1;
        }
    }
    requests
}

fn check_words(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part}: {text}");
    }
}

/// The call was reported as waiting for this reason, and ended like all others.
fn check_waits(events: &[Event], waiting: &str, why: &str) {
    let waits: Vec<(&str, &str)> = events
        .iter()
        .filter_map(|event| match event {
            Event::AgentWaits { place, reason, .. } => Some((place.as_str(), reason.as_str())),
            _ => None,
        })
        .collect();
    let is_right = |(place, reason): &(&str, &str)| *place == waiting && reason.contains(why);
    assert!(!waits.is_empty() && waits.iter().all(is_right), "{waits:?}");
    let calls = calls(events);
    let started: Vec<String> = calls.started.into_iter().map(|(place, ..)| place).collect();
    assert_eq!(started, calls.ended);
}

fn error(status: u16, kind: &'static str, text: &str) -> Reply {
    Reply::Error { status, kind, text: text.to_owned(), retry_after: None }
}
