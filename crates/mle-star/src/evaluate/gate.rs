//! The gate: a script in which the program itself finds a leak gets no score.
//!
//! Why: an agent that checks scripts overlooks leaks, and a leak makes a score that no later step doubts. What it may
//! change: the text of a script before it runs for a score, by the agent that removes leaks, or whether it runs at all. The
//! rules are those of the crate `mle-star-leakage`.

use mle_star_leakage::{Facts, Unreadable};
use serde_json::json;

use crate::agents;
use crate::ctx::Ctx;
use crate::evaluation::Script;
use crate::event::Event;
use crate::findings::{CodeFinding, Findings, split_for_checker};
use crate::journal::{Entry, Kind};
use crate::solution::Solution;
use crate::stop::Stop;
use mle_star_domain::config::LeakageGate;
use mle_star_domain::place::Name;
use mle_star_domain::trust::Severity;

/// How often a script is examined, and corrected in between.
const EXAMINATIONS: u32 = 3;

/// The script as it may be scored: corrected where it leaks, or blocked.
pub(super) async fn pass(ctx: &Ctx<'_>, script: Script) -> Result<Script, Stop> {
    if ctx.config().leakage_gate == LeakageGate::Off {
        return Ok(script);
    }
    let (mut script, mut corrections) = (script, 0);
    for round in 1..=EXAMINATIONS {
        let findings = findings(ctx, round, &script.solution).await?;
        let leaks: Vec<&CodeFinding> =
            findings.found.iter().filter(|found| found.severity == Severity::Block).collect();
        let Some(first) = leaks.first() else { return Ok(script) };
        if ctx.config().leakage_gate == LeakageGate::Warn {
            return Ok(script);
        }
        let blocked = Some(format!("line {}: {}", first.line, first.text));
        let before = script.solution.clone();
        for leak in leaks.iter().filter(|_| round < EXAMINATIONS) {
            corrections += 1;
            let corrected = corrected(ctx, corrections, &script.solution, leak).await?;
            script.solution = corrected.unwrap_or(script.solution);
        }
        if script.solution == before {
            return Ok(Script { blocked, ..script });
        }
    }
    Ok(script)
}

/// The script with the correction number `count` (from 1); `None` if there is no usable one.
async fn corrected(
    ctx: &Ctx<'_>,
    count: u32,
    solution: &Solution,
    leak: &CodeFinding,
) -> Result<Option<Solution>, Stop> {
    // An earlier correction may have removed the block.
    let line = usize::try_from(leak.line).unwrap_or_default();
    let Ok(block) = solution.find_block_near(&leak.block, line) else { return Ok(None) };
    let name = Name::GateCorrection(count);
    let code = agents::correct_leakage(ctx, name, solution, &block, Some(leak)).await?;
    Ok(code.and_then(|code| solution.replace_block(&block, &code).ok()))
}

/// What the checker finds in a script before its run at this place, the first time or after a correction.
///
/// Findings are recorded, so that a resume with other rules does not judge again. No finding is no record.
async fn findings(ctx: &Ctx<'_>, round: u32, solution: &Solution) -> Result<Findings, Stop> {
    let (place, run) = (ctx.place().named(Name::Gate(round)), ctx.place().named(Name::Run));
    let journal = ctx.run.journal;
    let is_judged = journal.has_any(&place, Kind::Gate)?;
    if !is_judged && journal.has_any(&run, Kind::Script)? {
        return Ok(Findings::default());
    }
    let found = if is_judged { Findings::default() } else { examine(ctx, solution.text()) };
    if !is_judged && found.found.is_empty() {
        return Ok(found);
    }
    let entry = Entry::new(&place, Kind::Gate, &json!({"script": solution.text()}), &json!({}))?;
    let findings = journal.once(entry, async { Ok(found) }).await?;
    for found in &findings.value.found {
        let finding = found.at(&run);
        // Most scripts are made from others, and would repeat their warnings.
        if ctx.history().is_news(&finding, &found.block) || finding.severity == Severity::Block {
            ctx.emit(Event::Finding { finding, replayed: findings.replayed });
        }
    }
    Ok(findings.value)
}

/// What the checker doubts in a script, one line each, for the agent that looks for leaks.
pub(super) fn doubts(ctx: &Ctx<'_>, solution: &Solution) -> Vec<String> {
    if ctx.config().leakage_gate == LeakageGate::Off {
        return Vec::new();
    }
    let told = |finding: CodeFinding| {
        let line = finding.block.lines().next().unwrap_or_default().trim().to_owned();
        format!("`{line}`: {}", finding.text)
    };
    examine(ctx, solution.text()).found.into_iter().map(told).collect()
}

/// What the checker finds in a script; nothing in a script that it cannot read. One that is no Python will fail.
fn examine(ctx: &Ctx<'_>, script: &str) -> Findings {
    let found = mle_star_leakage::check(script, &facts(ctx)).unwrap_or_else(|error| {
        if !matches!(error, Unreadable::Syntax { .. } | Unreadable::Python2 { .. }) {
            ctx.warn(format!("the script is not checked for leaks: {error}"));
        }
        Vec::new()
    });
    let found = found.into_iter().map(|finding| CodeFinding {
        rule: finding.rule.id().to_owned(),
        severity: if finding.rule.blocks() { Severity::Block } else { Severity::Warn },
        line: u64::from(finding.line),
        block: script.get(finding.block).unwrap_or_default().to_owned(),
        text: finding.text,
        instead: finding.instead,
    });
    Findings { found: found.collect() }
}

fn facts(ctx: &Ctx<'_>) -> Facts {
    let split = ctx.protocol().and_then(|protocol| protocol.split.as_ref());
    let further = ctx.protocol().map_or(&[][..], |protocol| &protocol.targets);
    Facts {
        targets: ctx.task().target().map(str::to_owned).into_iter().chain(further.iter().cloned()).collect(),
        ids: ctx.task().roles.id.clone().into_iter().collect(),
        split: split.and_then(split_for_checker),
    }
}
