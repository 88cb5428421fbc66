//! Leaks found in scripts, and their corrections.

use mle_star::journal::EffectRecord;
use mle_star::reply as read;
use mle_star::spending::role;
use mle_star_domain::answers::{LeakageAnswer, LeakageStatus};
use mle_star_domain::place::Name;
use mle_star_domain::role::AgentType;
use serde::Serialize;

use super::context::Context;
use super::diff::{Diff, diff};
use super::steps::{Step, node_id, reply};
use crate::cut::{OUTPUT, cut, sentence};
use crate::words::place_name;

/// The results of the leakage checks.
#[derive(Clone, Debug, Serialize)]
pub struct Leakage {
    /// Number of checks that were asked for.
    pub checked: usize,
    /// The leaks that were found.
    pub findings: Vec<LeakFound>,
    /// That the final solution may have a leak.
    pub suspected: Option<String>,
}

/// One leak.
#[derive(Clone, Debug, Serialize)]
pub struct LeakFound {
    /// The place, for people.
    pub name: String,
    /// The ID of its node.
    pub node: String,
    /// The block that leaks, as the agent quotes it.
    pub block: String,
    /// The diff of the correction; empty if there was no usable one.
    pub fix: Option<Diff>,
}

/// Creates the view of a run.
pub fn leakage(context: &Context<'_>) -> Leakage {
    let detections = || {
        let records =
            context.steps.iter().flat_map(|step| step.records.iter().map(move |record| (step, *record)));
        records.filter(|(_, record)| {
            role(record) == Some(AgentType::Leakage)
                && record.place == record.place.parent().named(Name::Agent(AgentType::Leakage))
        })
    };
    Leakage {
        checked: detections()
            .filter(|(_, record)| record.outcome.is_some() && record.limit.is_none())
            .count(),
        findings: detections().flat_map(|(step, record)| findings(context, step, record)).collect(),
        suspected: context.report.checks.leak().map(sentence),
    }
}

fn findings(context: &Context<'_>, step: &Step<'_>, record: &EffectRecord) -> Vec<LeakFound> {
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
        LeakFound {
            name: place_name(&at),
            node: node_id(&step.place),
            fix: fixed.map(|code| diff(&block, &code)),
            block: cut(&block, OUTPUT),
        }
    };
    (1..).zip(blocks).map(finding).collect()
}
