//! Failures: scripts with their tracebacks and repairs, and agents.

use mle_star::journal::{EffectRecord, EffectState, Kind};
use mle_star::spending::role;
use mle_star_domain::effects::Answer;
use mle_star_domain::layout::LOGS;
use serde_json::{Value, json};

use super::outcome::run_values;
use super::steps::{ScriptRun, Step, reply};
use super::{Context, RunReport};

/// Failed scripts and agents, those that ended the run among them; `None` if there are none.
pub fn failures(context: &Context<'_>, _: &RunReport) -> Option<Value> {
    let scripts: Vec<Value> = context.steps.iter().filter_map(script_failure).collect();
    let agents: Vec<Value> = context.run.snapshot.effects.iter().filter_map(agent_failure).collect();
    let is_there = !scripts.is_empty() || !agents.is_empty();
    is_there.then(|| json!({"scripts": scripts, "agents": agents}))
}

/// A step whose script failed at least once, with all of its runs.
fn script_failure(step: &Step<'_>) -> Option<Value> {
    let fails = |run: &ScriptRun<'_>| run.outcome.is_some() && !run.is_ok() && run.limit().is_none();
    let run = |run: &ScriptRun<'_>| {
        let log = format!("{LOGS}/{}", run.place.file_stem());
        json!({"run": run_values(run), "log": log})
    };
    let is_repaired = step.runs.last().is_some_and(ScriptRun::is_ok);
    step.runs.iter().any(fails).then(|| {
        json!({
            "place": step.place, "is_repaired": is_repaired,
            "runs": step.runs.iter().map(run).collect::<Vec<_>>(),
        })
    })
}

/// A call whose agent failed. One that was repeated does not count.
fn agent_failure(record: &EffectRecord) -> Option<Value> {
    let Answer::Failed { reason } = reply(record).filter(|_| record.kind == Kind::Agent)?.answer else {
        return None;
    };
    let is_repeated = record.state != EffectState::Ended;
    Some(json!({"place": record.place, "agent": role(record), "reason": reason, "is_repeated": is_repeated}))
}
