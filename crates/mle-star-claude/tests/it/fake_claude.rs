//! The fake `claude`: the same table as for the real one, and what is quicker to test with it.

use std::fs;
use std::time::{Duration, Instant};

use futures_util::future::join;
use mle_star::backend::AgentBackend;
use mle_star::event::NoEvents;
use mle_star::stop::Stop;
use mle_star_claude::ClaudeAgents;
use mle_star_domain::effects::{AgentRequest, Answer, Usage};
use mle_star_domain::place::Place;
use mle_star_domain::role::{AgentType, Variant};

use super::recordings::fake_claude;
use super::scenarios::ANSWER;
use super::table;
use super::world::{World, request};

#[tokio::test(flavor = "multi_thread")]
async fn every_scenario_has_the_outcome_of_the_real_one() {
    table::check(world, |_, _| ()).await;
}

#[tokio::test]
async fn the_environment_names_the_agent_and_its_place() {
    let world = world("plain");
    let file = world.path().join("environment");
    let world = world.through(|claude| format!("env >'{}'\nexec {claude}", file.display()));
    let request = AgentRequest {
        place: Place::from("phase2/path-3/t0/k1/leakage"),
        agent: AgentType::Leakage,
        variant: Some(Variant::Detection),
        ..request(&[])
    };
    world.ask(&request).await.reply.unwrap();
    let environment = fs::read_to_string(file).unwrap();
    for variable in [
        "MLE_STAR_AGENT=leakage",
        "MLE_STAR_VARIANT=detection",
        "MLE_STAR_RUN_ID=toy-run",
        "MLE_STAR_PLACE=phase2/path-3/t0/k1/leakage",
        "MLE_STAR_SESSION=path-3",
        "FORCE_PROMPT_CACHING_5M=1",
    ] {
        assert!(environment.lines().any(|line| line == variable), "{variable} is missing in {environment}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn noise_is_ignored_and_a_lost_message_is_a_failure() {
    let check = async |before: &str, expected: Result<&str, &str>| {
        let world = world("plain").through(|claude| format!("cd \"${{0%/*}}\"; {before}; exec {claude}"));
        let reply = world.ask(&request(&[])).await.reply.unwrap();
        match (&reply.answer, expected) {
            (Answer::Text { text, .. }, Ok(expected)) => assert_eq!(text, expected, "{before}"),
            (Answer::Failed { reason }, Err(part)) => assert!(reason.contains(part), "{before}: {reason}"),
            (answer, _) => panic!("{before}: {answer:?}"),
        }
        world.assert_nothing_alive();
    };
    check("echo 'warning: noise'; echo '[1] noise' >&2", Ok(ANSWER)).await;
    check("echo '{\"type\":\"news\",\"message\":7}'", Ok(ANSWER)).await;
    check("echo '{\"type\":\"assis'", Err("cannot be read")).await;
    check("mkdir dead 2>/dev/null && exit 3", Ok(ANSWER)).await;
    check("setsid sleep 600 & nohup sleep 600 >/dev/null 2>&1 & :", Ok(ANSWER)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_run_side_by_side() {
    let (world, mut gate) = World::gated(&fake_claude(), &url("plain"));
    let asked = request(&[]);
    let agents = ClaudeAgents::new(world.setup.clone()).unwrap();

    // Two calls run side by side: neither is answered before both have started.
    let calls = join(agents.ask(&asked, &NoEvents), agents.ask(&asked, &NoEvents));
    let both = async {
        gate.started(2).await;
        gate.release(2).await;
    };
    let ((one, two), ()) = join(calls, both).await;
    for reply in [one, two] {
        let reply = reply.unwrap();
        assert!(matches!(&reply.answer, Answer::Text { text, .. } if text == ANSWER), "{reply:?}");
    }
    drop(agents);
    world.assert_nothing_alive();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claude_that_keeps_dying_stops_the_run() {
    let (agents, starts, _world) = dying_at(|_| true);
    let (request, began) = (request(&[]), Instant::now());
    // The first call restarts it three times, later ones do not wait again.
    for expected in [4, 5] {
        let reply = agents.ask(&request, &NoEvents).await.unwrap();
        assert!(matches!(&reply.answer, Answer::Failed { reason } if reason.contains("broken")), "{reply:?}");
        assert_eq!(starts(), expected);
    }
    assert!(began.elapsed() >= Duration::from_secs(1 + 2 + 4), "it waits longer before each restart");
    let stop = agents.ask(&request, &NoEvents).await.unwrap_err();
    let Stop::Agents { trouble, usage } = &stop else { panic!("{stop:?}") };
    assert!(
        trouble.message.contains("3 calls in a row failed") && trouble.message.contains("broken"),
        "{trouble}"
    );
    assert!(trouble.hint.contains("resume the run"), "{trouble:?}");
    assert_eq!(*usage, Usage::free());
    assert_eq!(starts(), 6);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_ends_a_series_of_dead_calls() {
    // Two calls die, the third is answered, and the fourth is after one restart.
    let (agents, starts, _world) = dying_at(|start| start != 6 && start != 8);
    let request = request(&[]);
    for (is_answered, expected) in [(false, 4), (false, 5), (true, 6), (true, 8)] {
        let reply = agents.ask(&request, &NoEvents).await.unwrap();
        assert_eq!(matches!(reply.answer, Answer::Text { .. }), is_answered, "{expected}: {reply:?}");
        assert_eq!(starts(), expected);
    }
}

/// Agents whose `claude` dies at some of its starts, counted from 1; how often it was started; and their world.
fn dying_at(dies: impl Fn(usize) -> bool) -> (ClaudeAgents, impl Fn() -> usize, World) {
    let world = world("plain");
    let file = world.path().join("starts");
    let dead: String = (1..=20).filter(|start| dies(*start)).map(|start| format!(" {start} ")).collect();
    let world = world.through(|claude| {
        let file = file.display();
        format!(
            "echo >>'{file}'\n\
             case '{dead}' in *\" $(wc -l <'{file}') \"*) echo broken >&2; exit 3 ;; esac\n\
             exec {claude}"
        )
    });
    let agents = ClaudeAgents::new(world.setup.clone()).unwrap();
    (agents, move || fs::read_to_string(&file).unwrap_or_default().lines().count(), world)
}

fn world(scenario: &str) -> World {
    World::new(&fake_claude(), &url(scenario))
}

/// Nothing listens there: the fake looks at the scenario alone.
fn url(scenario: &str) -> String {
    format!("http://127.0.0.1:9/{scenario}")
}
