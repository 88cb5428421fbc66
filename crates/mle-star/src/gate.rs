//! The gate: a script in which the program itself finds a leak gets no score. Not part of the paper.
//!
//! [`pass`] looks at every script before it runs for a score. The agent that removes leaks corrects what it finds. The
//! rules are those of the crate `mle-star-leakage`.

use mle_star_leakage::{Facts, Unreadable};
use serde::{Deserialize, Serialize};

use crate::agents;
use crate::ctx::Ctx;
use crate::evaluate::Checked;
use crate::journal::Outcome;
use crate::solution::Solution;
use crate::stop::Stop;
use mle_star_domain::config::LeakageGate;
use mle_star_domain::place::Name;
use mle_star_domain::protocol::{Split, SplitKind};
use mle_star_domain::trust::Severity;

/// How often a script is looked at, and corrected in between.
const LOOKS: u32 = 3;

/// What the program finds in a script.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Findings {
    /// The findings in the order of their lines.
    pub found: Vec<Found>,
}

/// A finding in a script.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// The rule.
    pub rule: String,
    /// Its severity.
    pub severity: Severity,
    /// The line, from 1.
    pub line: u64,
    /// What leaks, and how it reaches the score.
    pub text: String,
    /// What would be right.
    pub instead: String,
    /// The statements to correct.
    pub block: String,
}

impl Outcome for Findings {}

/// The script as it may be scored: corrected where it leaks, or blocked.
pub(crate) async fn pass(ctx: &Ctx<'_>, script: Checked) -> Result<Checked, Stop> {
    if ctx.config().leakage_gate == LeakageGate::Off {
        return Ok(script);
    }
    let (mut script, mut corrections) = (script, 0);
    for look in 1..=LOOKS {
        let findings = ctx.findings(look, &script.solution).await?;
        let leaks: Vec<&Found> =
            findings.found.iter().filter(|found| found.severity == Severity::Block).collect();
        let Some(first) = leaks.first() else { return Ok(script) };
        if ctx.config().leakage_gate == LeakageGate::Warn {
            return Ok(script);
        }
        let blocked = Some(format!("line {}: {}", first.line, first.text));
        let before = script.solution.clone();
        for leak in leaks.iter().filter(|_| look < LOOKS) {
            corrections += 1;
            let corrected = corrected(ctx, corrections, &script.solution, leak).await?;
            script.solution = corrected.unwrap_or(script.solution);
        }
        if script.solution == before {
            return Ok(Checked { blocked, ..script });
        }
    }
    Ok(script)
}

/// The script with the correction number `count` (from 1); `None` if there is no usable one.
async fn corrected(
    ctx: &Ctx<'_>,
    count: u32,
    solution: &Solution,
    leak: &Found,
) -> Result<Option<Solution>, Stop> {
    // An earlier correction may have removed the block.
    let Ok(block) = solution.find_first_block(&leak.block) else { return Ok(None) };
    let name = Name::GateCorrection(count);
    let code = agents::correct_leakage(ctx, name, solution, &block, Some(leak)).await?;
    Ok(code.and_then(|code| solution.replace_block(&block, &code).ok()))
}

/// What the checker finds in a script; nothing in a script that it cannot read. One that is no Python will fail.
pub(crate) fn look(ctx: &Ctx<'_>, script: &str) -> Findings {
    let found = mle_star_leakage::check(script, &facts(ctx)).unwrap_or_else(|error| {
        if !matches!(error, Unreadable::Syntax { .. } | Unreadable::Python2 { .. }) {
            ctx.warn(format!("the script is not checked for leaks: {error}"));
        }
        Vec::new()
    });
    let found = found.into_iter().map(|finding| Found {
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
    let several = ctx.protocol().map_or(&[][..], |protocol| &protocol.targets);
    Facts {
        targets: ctx.task().target_column.iter().chain(several).cloned().collect(),
        ids: ctx.task().id_column.clone().into_iter().collect(),
        split: split.and_then(split_for_checker),
    }
}

/// What the checker of leaks has to know of a split: nothing, if test rows differ from training rows by chance alone.
#[must_use]
pub fn split_for_checker(split: &Split) -> Option<mle_star_leakage::Split> {
    let column = split.column.clone();
    match split.kind {
        SplitKind::Rows | SplitKind::Stratified => None,
        SplitKind::Groups => Some(mle_star_leakage::Split::Groups(column)),
        SplitKind::Time => Some(mle_star_leakage::Split::Time(column)),
    }
}
