//! Runs that are killed, refused, delayed, or over budget during calls of the real `claude`.

use mle_star_needs::needs;
use std::collections::BTreeMap;
use std::fs;
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use mle_star::event::Event;
use mle_star_domain::effects::Limit;
use serde_json::{Value, json};

use super::answers::{self, answer};
use super::api::{Api, Message, Reply};
use super::closed::in_closed_network;
use super::scripts::Style;
use super::world::{World, calls, events, said};
use crate::killed::{effects, outcome, working_below};

/// One of everything.
const SMALL: &str = "--set num_retrieved_models=1 --set outer_loop_steps=1 --set inner_loop_steps=1 \
                     --set num_parallel_solutions=1 --set ensemble_rounds=1 --set subsample_limit=3000 \
                     --time-limit 600";
/// Eight paths that call agents at the same time.
const WIDE: &str = "--set num_retrieved_models=1 --set outer_loop_steps=1 --set inner_loop_steps=1 \
                    --set num_parallel_solutions=8 --set ensemble_rounds=1 --set subsample_limit=3000 \
                    --set search=off --time-limit 600 --jobs 2";
/// The cost of a request in US dollars.
const PRICE: f64 = 0.000_479;
/// The timeout for immediate reactions on a busy machine.
const SOON: Duration = Duration::from_secs(60);

#[test]
fn a_run_killed_while_the_real_claude_is_asked_asks_nothing_twice() {
    needs!(ClosedNetwork, Named("MLE_STAR_TEST_CLAUDE"));
    in_closed_network(
        "real_runs::trouble::a_run_killed_while_the_real_claude_is_asked_asks_nothing_twice",
        async {
            let (looking, held) =
                ("killed.phase1.candidate-0.debug-1.debugger", "killed.phase2.path-0.t0.k0.coder");
            let api = Api::start(move |asked| match asked.scenario.as_str() {
                scenario if asked.nth == 0 && scenario == looking => {
                    Reply::Message(Message::tool("Bash", &json!({"command": "tail -f /dev/null"})))
                }
                scenario if asked.nth == 0 && scenario == held => Reply::Never,
                _ => answer(asked, Style::Light),
            })
            .await;
            let world = World::new(&api);
            let whole = said(world.run("whole", SMALL));
            assert_eq!(whole.code, 0, "{}", whole.stderr);

            let first = Running::start(&world, world.run("killed", SMALL));
            first.comes_to(|| first.commands().iter().any(|command| command.starts_with("tail -f")));
            first.kill();
            let second = Running::start(&world, world.command("resume killed"));
            second.comes_to(|| !api.asked(held).is_empty());
            second.kill();
            let third = said(world.command("resume killed"));
            assert_eq!(third.code, 0, "{}", third.stderr);

            let mut expected = requests(&api, "whole");
            for cut_off in [looking, held] {
                *expected.get_mut(&cut_off.replacen("killed.", "", 1)).unwrap() += 1;
            }
            assert_eq!(requests(&api, "killed"), expected);
            let (whole, killed) = (without_cuts(&world, "whole", 0), without_cuts(&world, "killed", 2));
            assert_eq!(killed, whole);
            assert_eq!(effects(&world.sealed, "killed"), effects(&world.sealed, "whole"));
        },
    );
}

#[test]
fn money_ends_a_run_in_which_eight_paths_ask_the_real_claude_one_after_another() {
    needs!(ClosedNetwork, Named("MLE_STAR_TEST_CLAUDE"));
    in_closed_network(
        "real_runs::trouble::money_ends_a_run_in_which_eight_paths_ask_the_real_claude_one_after_another",
        async {
            let api = Api::start(|asked| answer(asked, Style::Flawless)).await;
            let world = World::new(&api);
            let cap = 30.5 * PRICE;
            let wide = said(world.run("wide", &format!("{WIDE} --max-budget-usd {cap}")));
            assert_eq!(wide.code, 0, "{}", wide.stderr);
            let (result, events) = (world.result("wide"), events(&wide));
            assert_eq!(result["stopped_by"], "budget");
            assert_eq!(result["phase2_results"].as_array().unwrap().len(), 8);
            // The limit is less than what one answer could cost.
            assert_eq!(most_at_once(&events), 1);
            let cut = |event: &&Event| matches!(event, Event::Skipped { limit: Limit::Budget, .. });
            assert_ne!(events.iter().filter(cut).count(), 0);

            let costs = &result["costs"];
            let [total, last] =
                ["total_cost_usd", "finalization_cost_usd"].map(|name| costs[name].as_f64().unwrap());
            let requests: usize = requests(&api, "wide").values().sum();
            assert!((total - requests as f64 * PRICE).abs() < 1e-9, "{total} for {requests} requests");
            assert!(total <= cap && total - last <= 0.9 * cap, "{costs}");
            // Both the search and the finalization used their budget.
            assert!(total - last > 0.8 * cap && last > 0.05 * cap, "{costs}");
        },
    );
}

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

/// A running binary, killed when dropped.
struct Running<'a> {
    world: &'a World,
    child: Child,
}

impl<'a> Running<'a> {
    fn start(world: &'a World, mut command: std::process::Command) -> Self {
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        Self { world, child }
    }

    /// Waits for a condition.
    fn comes_to(&self, happens: impl Fn() -> bool) {
        assert!(within(SOON, happens), "at work: {:?}", self.commands());
    }

    /// Kills only the binary; its child processes end soon after.
    fn kill(mut self) {
        assert!(self.child.try_wait().unwrap().is_none(), "it has ended by itself");
        assert!(
            self.commands().iter().any(|command| command.contains("stream-json")),
            "{:?}",
            self.commands()
        );
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        assert!(
            within(Duration::from_secs(1), || self.commands().is_empty()),
            "alive: {:?}",
            self.commands()
        );
    }

    /// The command lines of the processes that work in the world's folders, except the binary itself.
    fn commands(&self) -> Vec<String> {
        let folder = fs::canonicalize(self.world.sealed.path("runs")).unwrap_or_default();
        let words = |id: &String| fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        let command_line = |id: String| String::from_utf8_lossy(&words(&id)).replace('\0', " ");
        if folder.as_os_str().is_empty() {
            Vec::new()
        } else {
            working_below(&folder).into_iter().map(command_line).collect()
        }
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn within(time: Duration, happens: impl Fn() -> bool) -> bool {
    let ends = Instant::now() + time;
    while !happens() {
        if Instant::now() > ends {
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    true
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

/// The outcome of a run, without the number of interrupted calls and what they cost.
fn without_cuts(world: &World, run: &str, expected: u64) -> Value {
    let mut outcome = outcome(&world.sealed, run);
    let usage = outcome["result"]["usage"].as_object_mut().unwrap();
    assert_eq!(usage.remove("interrupted_calls"), Some(json!(expected)));
    without_costs(&mut outcome);
    outcome
}

fn without_costs(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|key, _| !key.contains("cost_usd") && key != "estimated_usd");
            fields.values_mut().for_each(without_costs);
        }
        Value::Array(items) => items.iter_mut().for_each(without_costs),
        _ => {}
    }
}

/// The maximum number of concurrent calls.
fn most_at_once(events: &[Event]) -> usize {
    let mut counts = vec![0_usize];
    for event in events {
        let now = counts[counts.len() - 1];
        match event {
            Event::AgentStarted { .. } => counts.push(now + 1),
            Event::AgentEnded { replayed: false, .. } => counts.push(now - 1),
            _ => {}
        }
    }
    counts.into_iter().max().unwrap()
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
