//! The outcome of a call in each scenario. Every row holds for the real `claude` and for the fake one.

use std::time::Duration;

use futures_util::future::join_all;
use mle_star::event::Event;
use mle_star::stop::Stop;
use mle_star::testing::called::Called;
use mle_star_domain::effects::{AgentReply, AgentRequest, Answer, Usage};
use tokio::sync::Semaphore;

use super::scenarios::WORD;
use super::world::{World, request, structured};

/// How many scenarios run at once.
const AT_ONCE: usize = 8;
/// The timeout of a call that hangs; long enough for a busy machine to start the process.
const SHORT: Duration = Duration::from_secs(4);
/// Less than one answer costs, for scenarios about the budget. What was paid for counts if it is whole.
const BUDGET_USD: f64 = 0.0005;

/// A scenario, the tools of the agent, what is said, and a part of the reason of every wait, if there are waits. Of a
/// failure or a stop, it is a part of the reason.
type Row = (&'static str, &'static [&'static str], &'static str, Option<&'static str>);

const ROWS: [Row; 31] = [
    ("plain", &[], "The answer.", None),
    ("empty_then_ok", &[], "The answer.", None),
    ("continued", &[], "The first half, The answer.", None),
    ("megabyte", &[], "", None),
    ("structured", &[], r#"{"answer":3}"#, None),
    ("structured_as_text", &[], "The answer.", None),
    ("over_budget", &[], "The answer.", None),
    ("over_budget_cut", &[], "unexpected: Refused { limit: Budget }", None),
    ("empty", &[], "failed: the answer is empty", None),
    ("refusal", &[], "failed: the model refused", None),
    ("continued_forever", &[], "failed: output token", None),
    ("bad_request", &[], "failed: something is wrong", None),
    ("schema_never_met", &[], "failed: does not match the requested schema", None),
    ("never", &[], "failed: no answer within", None),
    // A token may be renewed, so a refused login is tried once more.
    ("unauthorized", &[], "stop: the login was refused", Some("login was refused")),
    ("no_credit", &[], "stop: no credit left", None),
    ("no_model", &[], "stop: does not know the model", None),
    // Temporary errors, some of which last longer than a call may wait.
    ("rate_limit_then_ok", &[], "The answer.", Some("429")),
    ("server_error_then_ok", &[], "The answer.", Some("500")),
    ("cut_then_ok", &[], "The answer.", Some("cannot be reached")),
    ("garbage_then_ok", &[], "The answer.", None),
    ("rate_limit", &[], "failed: gave up after waiting 2 s", Some("429")),
    ("garbage", &[], "failed: unreadable reply", Some("unreadable reply")),
    ("unreachable", &[], "failed: gave up after waiting 2 s", Some("cannot be reached")),
    ("bash", &["Bash", "Read"], "The answer.", None),
    ("bash_denied", &["Bash", "Read"], "The answer.", None),
    ("bash_hangs", &["Bash", "Read"], "failed: no answer within", None),
    ("read", &["Read"], "The answer.", None),
    ("read_denied", &["Read"], "The answer.", None),
    ("web_search", &["WebSearch", "WebFetch"], "The answer.", None),
    ("web_fetch", &["WebSearch", "WebFetch"], "The answer.", None),
];

/// The use of a tool: its name, what about, and a part of its failure.
type Use<'a> = (&'a str, &'a str, Option<&'a str>);

const TOOLS: [(&str, Use<'_>); 6] = [
    ("bash", ("Bash", "echo made > made.txt && cat made.txt", None)),
    ("bash_denied", ("Bash", "rm -rf /", Some("rm"))),
    ("read", ("Read", "input/train.csv", None)),
    ("read_denied", ("Read", "/etc/passwd", Some("outside the working directory"))),
    ("web_search", ("WebSearch", "models for small tables", None)),
    ("web_fetch", ("WebFetch", "https://example.org/page", Some(""))),
];

/// Checks every row in its own world, then passes the world to `done`.
pub async fn check(world: impl Fn(&str) -> World, done: impl Fn(&str, &World)) {
    let permits = Semaphore::new(AT_ONCE);
    let wrong: Vec<String> = join_all(ROWS.map(|row| {
        let (world, permits, done) = (world(row.0), &permits, &done);
        async move {
            let _permit = permits.acquire().await.unwrap();
            let called = world.ask(&request_of(row)).await;
            done(row.0, &world);
            let (alive, used) = (world.alive(), used(&called));
            let is_right = is_said(row, &called) && are_waits(row, &called) && is_used(row, &used);
            let said: String = called.said().chars().take(400).collect();
            let what = format!("{}: {said}, waits {:?}, tools {used:?}", row.0, called.waits());
            (!is_right || !alive.is_empty()).then(|| format!("{what}, left alive: {alive:?}"))
        }
    }))
    .await
    .into_iter()
    .flatten()
    .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn request_of((scenario, tools, ..): Row) -> AgentRequest {
    let request = request(tools);
    let timeout = match scenario {
        "never" => SHORT,
        // Long enough for the command to begin.
        "bash_hangs" => SHORT.mul_f64(1.5),
        _ => request.timeout,
    };
    let max_usd = scenario.starts_with("over_budget").then_some(BUDGET_USD);
    let request = AgentRequest { timeout, max_usd, ..request };
    if scenario.starts_with("structured") || scenario == "schema_never_met" {
        return structured(request);
    }
    request
}

fn is_said((scenario, _, expected, _): Row, called: &Called) -> bool {
    let said = called.said();
    match &called.reply {
        Err(Stop::Agents { usage, .. }) if *usage != Usage::free() => return false,
        Ok(AgentReply { answer: Answer::Text { structured, .. }, .. })
            if structured.is_some() != (scenario == "structured") =>
        {
            return false;
        }
        Ok(AgentReply { answer: Answer::Refused { .. }, usage, .. })
            if usage.cost_usd <= Some(BUDGET_USD) =>
        {
            return false;
        }
        _ => {}
    }
    match expected.split_once(": ") {
        Some((kind, part)) => said.starts_with(kind) && said.contains(part),
        None if scenario == "megabyte" => said == WORD.repeat(1 << 18),
        None => said == expected,
    }
}

fn are_waits((.., expected): Row, called: &Called) -> bool {
    let waits = called.waits();
    let is_expected = |reason: &&str| expected.is_some_and(|part| reason.contains(part));
    waits.is_empty() == expected.is_none() && waits.iter().all(is_expected)
}

fn used(called: &Called) -> Vec<Use<'_>> {
    let used = called.events.iter().filter_map(|event| match event {
        Event::ToolUsed { tool, about, failure, session, seconds, .. } => {
            assert!(session == "phase1" && *seconds > 0.0, "{event:?}");
            Some((tool.as_str(), about.as_str(), failure.as_deref()))
        }
        _ => None,
    });
    used.collect()
}

fn is_used((scenario, ..): Row, used: &[Use<'_>]) -> bool {
    let Some((_, (tool, about, failure))) = TOOLS.iter().find(|row| row.0 == scenario) else { return true };
    let [(used, what, why)] = used else { return false };
    let is_failure =
        why.is_some() == failure.is_some() && why.is_none_or(|why| why.contains(failure.unwrap()));
    tool == used && about == what && is_failure
}
