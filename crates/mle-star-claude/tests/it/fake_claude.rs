//! The stand-in for `claude`: the same table as for the real one, and what is quicker to see with it.

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use mle_star::effects::{AgentBackend, AgentRequest, Answer};
use mle_star::event::NoEvents;
use mle_star::place::Place;
use mle_star::role::{AgentType, Variant};
use mle_star_claude::ClaudeAgents;

use super::recordings::fake_claude;
use super::scenarios::ANSWER;
use super::table;
use super::world::{World, request};

#[tokio::test(flavor = "multi_thread")]
async fn every_scenario_comes_to_what_it_does_with_the_real_one() {
    table::check(world, |_, _| ()).await;
}

#[test]
fn it_takes_no_other_decision_than_the_recorded_one() {
    let check = |scenario: &str, said: &[&str], expected: i32| {
        let mut command = Command::new(fake_claude());
        command.env("ANTHROPIC_BASE_URL", format!("http://127.0.0.1:9/{scenario}"));
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let lines: String = said.iter().map(|line| format!("{line}\n")).collect();
        // Who refuses may be gone before all is said.
        let _ = std::io::Write::write_all(&mut child.stdin.take().unwrap(), lines.as_bytes());
        assert_eq!(child.wait().unwrap().code(), Some(expected), "{scenario}: {said:?}");
    };
    let initialize = r#"{"type":"control_request","request":{"subtype":"initialize"}}"#;
    let prompt = r#"{"type":"user","message":{"role":"user","content":"x"}}"#;
    let denied = r#"{"response":{"hookSpecificOutput":{"permissionDecision":"deny"}}}"#;
    let allowed = r#"{"response":{"hookSpecificOutput":{"permissionDecision":"allow"}}}"#;
    check("plain", &[prompt], 0);
    check("plain", &[], 0);
    check("plain", &[initialize], 65);
    check("bad_request", &[prompt], 1);
    check("bash_denied", &[initialize, prompt, denied], 0);
    check("bash_denied", &[initialize, prompt, allowed], 65);
    check("bash", &[initialize, prompt, denied], 65);
    check("no such scenario", &[prompt], 64);
}

#[tokio::test]
async fn agents_are_told_who_they_are() {
    let world = world("plain");
    let told = world.path().join("told");
    let world = world.through(|claude| format!("env >'{}'\nexec {claude}", told.display()));
    let request = AgentRequest {
        place: Place::from("phase2/path-3/t0/k1/leakage"),
        agent: AgentType::Leakage,
        variant: Some(Variant::Detection),
        ..request(&[])
    };
    world.ask(&request).await.reply.unwrap();
    let told = fs::read_to_string(told).unwrap();
    for variable in [
        "MLE_STAR_AGENT=leakage",
        "MLE_STAR_VARIANT=detection",
        "MLE_STAR_RUN_ID=toy-run",
        "MLE_STAR_PLACE=phase2/path-3/t0/k1/leakage",
        "MLE_STAR_SESSION=path-3",
    ] {
        assert!(told.lines().any(|line| line == variable), "{variable} is missing in {told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_claude_should_not_say_or_do_is_told_apart() {
    let check = async |before: &str, expected: Result<&str, &str>| {
        let world = world("plain").through(|claude| format!("cd \"${{0%/*}}\"; {before}; exec {claude}"));
        let reply = world.ask(&request(&[])).await.reply.unwrap();
        let told = match &reply.answer {
            Answer::Text { text, .. } => Ok(text.as_str()),
            Answer::Failed { reason } => Err(reason.as_str()),
            Answer::Refused { .. } => panic!("{before}: {reply:?}"),
        };
        let is_expected = match (told, expected) {
            (Ok(text), Ok(expected)) => text == expected,
            (Err(reason), Err(part)) => reason.contains(part),
            _ => false,
        };
        assert!(is_expected, "{before}: {told:?}");
        world.is_silent().await;
    };
    check("echo 'warning: noise'; echo '[1] noise' >&2", Ok(ANSWER)).await;
    check("echo '{\"type\":\"news\",\"message\":7}'", Ok(ANSWER)).await;
    check("echo '{\"type\":\"assis'", Err("cannot be read")).await;
    check("mkdir dead 2>/dev/null && exit 3", Ok(ANSWER)).await;
    check("setsid sleep 600 & nohup sleep 600 >/dev/null 2>&1 & :", Ok(ANSWER)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_started_ahead_answers_and_an_unused_one_ends() {
    let world = world("plain");
    let starts = world.path().join("starts");
    let mut world = world.through(|claude| format!("echo >>'{}'\nexec {claude}", starts.display()));
    world.setup.started_ahead = 1;
    let started = || fs::read_to_string(&starts).unwrap_or_default().lines().count();
    let (asked, unused) = (request(&[]), AgentRequest { model: "haiku".to_owned(), ..request(&[]) });
    let agents = ClaudeAgents::new(world.setup.clone()).unwrap();

    agents.expect(std::slice::from_ref(&asked));
    let reply = agents.ask(&asked, &NoEvents).await.unwrap();
    assert!(matches!(reply.answer, Answer::Text { text, .. } if text == ANSWER));
    assert_eq!(started(), 1);

    agents.expect(std::slice::from_ref(&unused));
    until(|| started() == 2 && !world.alive().is_empty());
    drop(agents);
    world.is_silent().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn many_calls_overlap() {
    let world = world("plain-after-0.5");
    let agents = ClaudeAgents::new(world.setup.clone()).unwrap();
    let began = Instant::now();
    let request = request(&[]);
    let calls = (0..8).map(|_| agents.ask(&request, &NoEvents));
    for reply in futures_util::future::join_all(calls).await {
        assert!(matches!(reply.unwrap().answer, Answer::Text { .. }));
    }
    assert!(began.elapsed() < Duration::from_secs(3), "{:?} for eight calls of 0.5 s", began.elapsed());
}

fn world(scenario: &str) -> World {
    World::new(&fake_claude(), &format!("http://127.0.0.1:9/{scenario}"))
}

fn until(is_so: impl Fn() -> bool) {
    let ends = Instant::now() + Duration::from_secs(20);
    while !is_so() {
        assert!(Instant::now() < ends, "waited in vain");
        std::thread::yield_now();
    }
}
