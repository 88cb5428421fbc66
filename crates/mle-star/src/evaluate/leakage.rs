//! The leakage check of a script: the agent finds leaks and corrects them block by block.

use super::changes::excerpt;
use super::gate::doubts;
use crate::agents::{self, Excerpt, ScoreComparison};
use crate::ctx::Ctx;
use crate::evaluation::{Failure, Script};
use crate::solution::{BlockError, Solution};
use crate::stop::Stop;
use mle_star_domain::place::Name;

/// Finds leaks and lets the agent correct each leaking block.
pub(crate) async fn without_leakage(ctx: &Ctx<'_>, solution: Solution) -> Result<Script, Stop> {
    check(ctx, solution, None).await
}

/// Checks a solution; `gain` tells the agent what its score would replace.
pub(super) async fn check(
    ctx: &Ctx<'_>,
    solution: Solution,
    gain: Option<&ScoreComparison<'_>>,
) -> Result<Script, Stop> {
    let mut checked = Script { checked: true, ..Script::new(solution) };
    if checked.solution.text().trim().is_empty() {
        return Ok(checked);
    }
    let before = checked.solution.clone();
    let made_from = gain.and_then(|gain| gain.before).filter(|_| ctx.tells_more());
    let shown = match made_from.filter(|before| before.is_checked() && !before.leaks()) {
        Some(before) => excerpt(before.text(), checked.solution.text()),
        None => Some(Excerpt::whole(checked.solution.text())),
    };
    let Some(shown) = shown else {
        return Ok(checked);
    };
    let shown = Excerpt { notes: doubts(ctx, &checked.solution), ..shown };
    let leaks = match agents::detect_leakage(ctx, &shown, gain).await? {
        Ok(leaks) => leaks,
        Err(Failure { limit: None, error, .. }) => {
            ctx.warn(format!("the script is not checked for leakage: {error}"));
            return Ok(Script { is_unknown: true, ..checked });
        }
        Err(failure) => return Ok(Script { refused: failure.limit, ..checked }),
    };
    let mut corrected_blocks: Vec<Solution> = Vec::new();
    for (count, quoted) in (1..).zip(&leaks) {
        let solution = &checked.solution;
        let block = match solution.find_first_block(quoted) {
            Ok(block) => block,
            // It was part of a block that an earlier correction has changed.
            Err(BlockError::Absent)
                if corrected_blocks.iter().any(|block| block.find_first_block(quoted).is_ok()) =>
            {
                continue;
            }
            Err(error) => {
                ctx.warn(format!("a leak was reported and not corrected: {error}"));
                checked.leaks = true;
                continue;
            }
        };
        let corrected = agents::correct_leakage(ctx, Name::Correction(count), solution, &block, None).await?;
        match corrected.and_then(|code| solution.replace_block(&block, &code).ok()) {
            Some(replaced) => {
                ctx.info(format!("leaking block of {} characters corrected", block.as_str().chars().count()));
                corrected_blocks.push(before.with_text(block.as_str().to_owned()));
                checked.solution = replaced;
            }
            None => {
                ctx.warn("a leak was reported and its correction is unusable");
                checked.leaks = true;
            }
        }
    }
    let (found, changed) = (leaks.len(), checked.solution != before);
    ctx.info(format!(
        "leakage check: {found} leak{} found, {}",
        if found == 1 { "" } else { "s" },
        if changed { "script changed" } else { "script unchanged" }
    ));
    Ok(checked)
}
