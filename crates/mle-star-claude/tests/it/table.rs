//! The outcome of a call in each scenario. Every row holds for the real `claude` and for the fake one.

use std::time::Duration;

use futures_util::future::join_all;
use mle_star::event::Event;
use mle_star::stop::Stop;
use mle_star::testing::called::Called;
use mle_star_domain::effects::{AgentRequest, Answer, Limit, Usage};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::scenarios::{ANSWER, WORD};
use super::world::{World, request, structured};

/// How many scenarios run at once.
const AT_ONCE: usize = 8;
/// The timeout of a call that hangs; long enough for a busy machine to start the process.
const SHORT: Duration = Duration::from_secs(4);

/// A scenario and its outcome.
struct Row {
    scenario: &'static str,
    request: AgentRequest,
    expected: Expected,
    /// A part of the reason of every wait, if there are waits.
    waits: Option<&'static str>,
    /// The use of a tool: its name, what about, and a part of its failure.
    tool: Option<(&'static str, &'static str, Option<&'static str>)>,
}

enum Expected {
    Text(String),
    Structured(Value),
    /// A failure of the agent, with a part of its reason.
    Failed(&'static str),
    /// A call that costs more than it may.
    OverBudget,
    /// The end of the run at no cost, with a part of the message.
    Fatal(&'static str),
}

/// Checks every row in its own world, then passes the world to `done`.
pub async fn check(world: impl Fn(&str) -> World, done: impl Fn(&str, &World)) {
    let permits = Semaphore::new(AT_ONCE);
    let wrong: Vec<String> = join_all(rows().into_iter().map(|row| {
        let (world, permits, done) = (world(row.scenario), &permits, &done);
        async move {
            let _permit = permits.acquire().await.unwrap();
            let called = world.ask(&row.request).await;
            let mut wrong = differences(&row, &called);
            done(row.scenario, &world);
            wrong.extend(world.alive().into_iter().map(|command| format!("left alive: {command}")));
            wrong.into_iter().map(|what| format!("{}: {what}", row.scenario)).collect::<Vec<_>>()
        }
    }))
    .await
    .concat();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn rows() -> Vec<Row> {
    [answers(), budgets(), failures(), waits(), tools()].into_iter().flatten().collect()
}

fn answers() -> Vec<Row> {
    let text =
        |scenario: &'static str, text: &str| row(scenario, request(&[]), Expected::Text(text.to_owned()));
    let form = |scenario, expected| row(scenario, structured(request(&[])), expected);
    vec![
        text("plain", ANSWER),
        text("slow", ANSWER),
        text("empty_then_ok", ANSWER),
        text("refusal_then_ok", ANSWER),
        text("continued", &format!("The first half, {ANSWER}")),
        text("megabyte", &WORD.repeat(1 << 18)),
        form("structured", Expected::Structured(json!({"answer": 3}))),
        form("structured_as_text", Expected::Text(ANSWER.to_owned())),
    ]
}

/// Calls of which each answer costs more than the whole call may. What was paid for counts if it is whole.
fn budgets() -> Vec<Row> {
    let row = |scenario, request, expected| {
        row(scenario, AgentRequest { max_usd: Some(0.0005), ..request }, expected)
    };
    vec![
        row("over_budget", request(&[]), Expected::Text(ANSWER.to_owned())),
        row("over_budget_structured", structured(request(&[])), Expected::Structured(json!({"answer": 3}))),
        row("over_budget_cut", request(&[]), Expected::OverBudget),
        row("over_budget_with_tool", request(&["Read"]), Expected::OverBudget),
    ]
}

fn failures() -> Vec<Row> {
    let fails = |scenario, why| row(scenario, request(&[]), Expected::Failed(why));
    let hangs = |scenario| {
        let request = AgentRequest { timeout: SHORT, ..request(&[]) };
        row(scenario, request, Expected::Failed("no answer within"))
    };
    let ends = |scenario, why| row(scenario, request(&[]), Expected::Fatal(why));
    vec![
        fails("empty", "the answer is empty"),
        fails("refusal", "the model refused"),
        fails("continued_forever", "output token"),
        fails("bad_request", "something is wrong"),
        row(
            "schema_never_met",
            structured(request(&[])),
            Expected::Failed("does not match the requested schema"),
        ),
        hangs("stalled"),
        hangs("never"),
        // A token may be renewed, so a refused login is tried once more.
        Row { waits: Some("login was refused"), ..ends("unauthorized", "the login was refused") },
        ends("forbidden", "the login was refused"),
        ends("no_credit", "no credit left"),
        ends("no_model", "does not know the model"),
    ]
}

/// Temporary errors, some of which last longer than a call may wait.
fn waits() -> Vec<Row> {
    let waits = |scenario, why| Row {
        waits: Some(why),
        ..row(scenario, request(&[]), Expected::Text(ANSWER.to_owned()))
    };
    let in_vain = |scenario, why| Row {
        waits: Some(why),
        ..row(scenario, request(&[]), Expected::Failed("gave up after waiting 2 s"))
    };
    vec![
        waits("rate_limit_then_ok", "429"),
        waits("overloaded_then_ok", "529"),
        waits("server_error_then_ok", "500"),
        waits("cut_then_ok", "cannot be reached"),
        row("garbage_then_ok", request(&[]), Expected::Text(ANSWER.to_owned())),
        in_vain("rate_limit", "429"),
        in_vain("overloaded", "529"),
        in_vain("server_error", "500"),
        in_vain("cut", "cannot be reached"),
        Row {
            waits: Some("unreadable reply"),
            ..row("garbage", request(&[]), Expected::Failed("unreadable reply"))
        },
        in_vain("unreachable", "cannot be reached"),
    ]
}

fn tools() -> Vec<Row> {
    let uses = |scenario, tools, tool, about, failure| Row {
        tool: Some((tool, about, failure)),
        ..row(scenario, request(tools), Expected::Text(ANSWER.to_owned()))
    };
    // Long enough for the command to begin.
    let hangs = AgentRequest { timeout: SHORT.mul_f64(1.5), ..request(&["Bash", "Read"]) };
    vec![
        uses("bash", &["Bash", "Read"], "Bash", "echo made > made.txt && cat made.txt", None),
        uses("bash_denied", &["Bash", "Read"], "Bash", "rm -rf /", Some("rm")),
        row("bash_hangs", hangs, Expected::Failed("no answer within")),
        uses("read", &["Read"], "Read", "input/train.csv", None),
        uses("read_denied", &["Read"], "Read", "/etc/passwd", Some("outside the working directory")),
        uses("write", &["Bash", "Write"], "Write", "made.txt", None),
        uses("web_search", &["WebSearch", "WebFetch"], "WebSearch", "models for small tables", None),
        uses("web_fetch", &["WebSearch", "WebFetch"], "WebFetch", "https://example.org/page", Some("")),
    ]
}

fn row(scenario: &'static str, request: AgentRequest, expected: Expected) -> Row {
    Row { scenario, request, expected, waits: None, tool: None }
}

fn differences(row: &Row, called: &Called) -> Vec<String> {
    let mut wrong = Vec::new();
    if !is_expected(&row.expected, called) {
        let reply: String = format!("{:?}", called.reply).chars().take(400).collect();
        wrong.push(format!("the outcome is {reply}"));
    }
    let waits = called.waits();
    let are_right = match row.waits {
        Some(part) => !waits.is_empty() && waits.iter().all(|reason| reason.contains(part)),
        None => waits.is_empty(),
    };
    if !are_right {
        wrong.push(format!("the waits are {waits:?}"));
    }
    if !is_used(row, &called.events) {
        wrong.push(format!("tools: {:?}", called.events));
    }
    wrong
}

fn is_expected(expected: &Expected, called: &Called) -> bool {
    match (expected, called.reply.as_ref().map(|reply| &reply.answer)) {
        (Expected::Text(expected), Ok(Answer::Text { text, structured: None })) => text == expected,
        (Expected::Structured(expected), Ok(Answer::Text { structured: Some(value), .. })) => {
            value == expected
        }
        (Expected::OverBudget, Ok(Answer::Refused { limit: Limit::Budget })) => {
            called.reply.as_ref().is_ok_and(|reply| reply.usage.cost_usd > Some(0.0005))
        }
        (Expected::Failed(part), Ok(Answer::Failed { reason })) => reason.contains(part),
        (Expected::Fatal(part), Err(Stop::Agents { trouble, usage })) => {
            trouble.message.contains(part) && *usage == Usage::free()
        }
        _ => false,
    }
}

fn is_used(row: &Row, events: &[Event]) -> bool {
    let used: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            Event::ToolUsed { tool, about, failure, session, seconds, .. } => {
                assert!(session == "phase1" && *seconds > 0.0, "{event:?}");
                Some((tool, about, failure))
            }
            _ => None,
        })
        .collect();
    match (row.tool, used.as_slice()) {
        (None, _) => true,
        (Some((tool, about, failure)), [(used, what, why)]) => {
            let as_expected = match (failure, why) {
                (None, None) => true,
                (Some(part), Some(why)) => why.contains(part),
                _ => false,
            };
            tool == *used && about == *what && as_expected
        }
        _ => false,
    }
}
