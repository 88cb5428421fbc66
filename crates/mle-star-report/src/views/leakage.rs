//! Leaks found in scripts, and their corrections.

use mle_star::journal::EffectRecord;
use mle_star::reply as read;
use mle_star::spending::role;
use mle_star_domain::answers::{LeakageAnswer, LeakageStatus};
use mle_star_domain::place::Name;
use mle_star_domain::role::AgentType;
use serde_json::{Value, json};

use super::diff::diff;
use super::steps::{Step, reply};
use super::{Context, RunReport};

/// How many checks were asked for, and the leaks that they found; `None` without a check.
pub fn leakage(context: &Context<'_>, report: &RunReport) -> Option<Value> {
    let is_check = |(_, record): &(&Step<'_>, &EffectRecord)| {
        let agent = Name::Agent(AgentType::Leakage);
        role(record) == Some(AgentType::Leakage) && record.place == record.place.parent().named(agent)
    };
    let records =
        context.steps.iter().flat_map(|step| step.records.iter().map(move |record| (step, *record)));
    let checks: Vec<(&Step<'_>, &EffectRecord)> = records.filter(is_check).collect();
    let asked = checks.iter().filter(|(_, record)| record.outcome.is_some() && record.limit.is_none());
    let found: Vec<Value> =
        checks.iter().flat_map(|(step, record)| findings(context, step, record)).collect();
    let (checked, suspected) = (asked.count(), report.leak());
    let is_there = checked > 0 || suspected.is_some();
    is_there.then(|| json!({"checked": checked, "findings": found, "suspected": suspected}))
}

/// The blocks that leak, as the agent quotes them, each with the diff of a usable correction.
fn findings(context: &Context<'_>, step: &Step<'_>, record: &EffectRecord) -> Vec<Value> {
    let answers = reply(record).and_then(|reply| read::list::<LeakageAnswer>(&reply, "answers"));
    let mut blocks: Vec<String> = Vec::new();
    for answer in answers.map(|found| found.items).unwrap_or_default() {
        if answer.leakage_status == LeakageStatus::Yes && !blocks.contains(&answer.code_block) {
            blocks.push(answer.code_block);
        }
    }
    let at = record.place.parent();
    let finding = |(count, block): (u32, String)| {
        let fixed = context.steps.reply(&at.named(Name::Correction(count)));
        let fixed = fixed.as_ref().and_then(read::code).filter(|code| code.trim() != block.trim());
        let fix = fixed.map(|code| diff(&block, &code));
        json!({"place": at, "step": step.place, "block": block, "fix": fix})
    };
    (1..).zip(blocks).map(finding).collect()
}
