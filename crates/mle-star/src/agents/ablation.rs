//! `A_abl` of the MLE-STAR paper (Figure 12): a script that switches parts of the solution off and measures each.

use serde_json::{Value, json};

use super::attempts::outcomes;
use super::ensembler::run_of;
use super::variants::summaries;
use crate::call::Call;
use crate::ctx::Ctx;
use crate::reply;
use crate::result::StepRecord;
use crate::scored::Scored;
use crate::solution::{Solution, SolutionPhase};
use crate::stop::Stop;
use mle_star_domain::place::Step;
use mle_star_domain::role::AgentType;

/// The ablation script. Its text is empty if the reply had no code; an empty script fails when it runs.
pub(crate) async fn ablation(
    ctx: &Ctx<'_>,
    current: &Scored,
    steps: &[StepRecord],
) -> Result<Solution, Stop> {
    let summaries = summaries(steps);
    let inputs = json!({"solution_script": current.text(), "previous_ablations": summaries});
    let outcomes = steps.iter().flat_map(|step| outcomes(&step.inner_loop_attempts));
    let call = Call::new(AgentType::Ablation, "ablation.md", inputs)
        .telling("current", run_of(current))
        .telling("outcomes", outcomes.collect::<Value>())
        .telling("search_number", search_number(ctx, steps));
    let answer = ctx.ask(call).await?;
    Ok(Solution::new(reply::code(&answer).unwrap_or_default(), SolutionPhase::Refined))
}

/// Where this step looks first, of all that the paths can look at: a path stays where it is until a step gains no
/// more there than chance explains; `None` if there is only one path.
pub(super) fn search_number(ctx: &Ctx<'_>, steps: &[StepRecord]) -> Option<u32> {
    let paths = ctx.config().num_parallel_solutions;
    let found_nothing = |step: &&StepRecord| !step.helped();
    let moves: u32 = steps.iter().filter(found_nothing).map(|_| 1).sum();
    match ctx.place().step() {
        Some(Step::Outer { path, .. }) if paths > 1 => Some(path + moves * paths),
        _ => None,
    }
}
