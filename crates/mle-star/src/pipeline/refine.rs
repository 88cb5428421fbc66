//! Algorithm 2: refinement of one code block after another.

use super::target::{Target, target};
use crate::agents;
use crate::ctx::Ctx;
use crate::evaluate::{Checked, evaluate, execute};
use crate::result::{PathRecord, RefinementAttempt, StepRecord};
use crate::solution::{CodeBlock, Scored, Solution, SolutionPhase};
use crate::stop::Stop;
use mle_star_domain::answers::RefinePlan;
use mle_star_domain::effects::Purpose;
use mle_star_domain::place::Step;

/// The progress of one path. A path that ends early keeps it.
pub(super) struct Refined {
    path: u32,
    /// s_t: what the current outer step began with.
    current: Scored,
    /// s_final.
    pub best: Scored,
    /// One per outer step. T_abl and C are derived from them.
    pub steps: Vec<StepRecord>,
}

/// Algorithm 2.
pub(super) async fn refine(ctx: &Ctx<'_>, path: &mut Refined) -> Result<(), Stop> {
    for outer in 0..ctx.config().outer_loop_steps {
        let ctx = &ctx.at(Step::Outer { path: path.path, outer }); // line 4
        path.current = path.best.clone();
        ctx.changes(&path.current);
        let step = match ctx.skip(ctx.config().outer_loop_steps)? {
            Some(limit) => StepRecord::skipped(String::new(), Some(limit)),
            None => outer_step(ctx, path).await?, // 5-25
        };
        let step = step.ended(outer, &path.best);
        ctx.close(step.verdict(&path.current, &path.best))?;
        path.steps.push(step); // 26-27
    }
    Ok(()) // 29
}

async fn outer_step(ctx: &Ctx<'_>, path: &mut Refined) -> Result<StepRecord, Stop> {
    let ablation = agents::ablation(ctx, &path.best, &path.steps).await?; // 5
    let summary = study(ctx, ablation).await?; // 6-7
    match target(ctx, &path.best, &summary, &path.steps).await? {
        Target::Found(block, plan) => {
            let attempts = refine_block(ctx, path, &block, &plan, &summary).await?; // 9-25
            Ok(StepRecord::refined(summary, &block, plan, attempts))
        }
        Target::Missing(limit) => Ok(StepRecord::skipped(summary, limit)),
    } // 8
}

/// Lines 9-25: K attempts at one block, each on the block and the solution as they were at the start.
async fn refine_block(
    ctx: &Ctx<'_>,
    path: &mut Refined,
    block: &CodeBlock,
    first: &RefinePlan,
    summary: &str,
) -> Result<Vec<RefinementAttempt>, Stop> {
    let current = path.best.clone();
    let target = agents::Focus { current: &current, block, summary };
    let mut attempts: Vec<RefinementAttempt> = Vec::new();
    for inner in 0..ctx.config().inner_loop_steps {
        let ctx = &ctx.attempt(inner)?;
        let (mut attempt, candidate) = match ctx.skip(ctx.config().inner_loop_steps)? {
            Some(limit) => (RefinementAttempt::skipped(limit), None),
            None => match next_plan(ctx, &target, first, &attempts).await? {
                Some(plan) => carry_out(ctx, &target, plan, &path.best).await?, // 9-11, 18-20
                None => (RefinementAttempt::without_plan(), None),
            },
        };
        let other_rows = candidate.as_ref().and_then(|one| one.other_rows(&path.best));
        if let Some(better) = candidate.filter(|one| one.replaces(&path.best, ctx.config().acceptance)) {
            attempt.was_improvement = true;
            ctx.warn_of_other_rows(&better, Some(&path.best));
            path.best = better; // 12-15, 21-24
        }
        ctx.close(attempt.verdict(&current, &path.best, &part(block)).remark(other_rows))?;
        attempts.push(attempt);
    }
    Ok(attempts)
}

/// The block in a few words.
fn part(block: &CodeBlock) -> String {
    let first = block.as_str().trim().lines().next().unwrap_or_default();
    format!("block `{}`", first.chars().take(60).collect::<String>())
}

/// The next plan: p_0 from the extractor, later ones from the planner; `None` if the planner gave none.
async fn next_plan(
    ctx: &Ctx<'_>,
    target: &agents::Focus<'_>,
    first: &RefinePlan,
    attempts: &[RefinementAttempt],
) -> Result<Option<String>, Stop> {
    match attempts {
        [] => Ok(Some(first.plan.clone())),
        _ => agents::planner(ctx, target, attempts).await, // 17
    }
}

/// The solution with the coder's block, and its score if it runs.
async fn carry_out(
    ctx: &Ctx<'_>,
    target: &agents::Focus<'_>,
    plan: String,
    best: &Scored,
) -> Result<(RefinementAttempt, Option<Scored>), Stop> {
    let agents::Focus { current, block, .. } = *target;
    let Some(code) = agents::coder(ctx, target, &plan).await? else {
        return Ok((RefinementAttempt::failed(plan, String::new()).because("no code in the reply"), None));
    }; // 9, 18
    let replaced = match current.solution().replace_block(block, &code) {
        Ok(replaced) if replaced == *current.solution() => {
            return Ok((RefinementAttempt::failed(plan, code).because("the block is unchanged"), None));
        }
        Ok(replaced) => replaced.in_phase(SolutionPhase::Refined), // 10, 19
        Err(error) => {
            ctx.warn(format!("the coder's block cannot be put in place: {error}"));
            return Ok((RefinementAttempt::failed(plan, code).because(error.to_string()), None));
        }
    };
    let evaluation = evaluate(ctx, replaced, Some(best)).await?; // 11, 20
    let attempt = RefinementAttempt::evaluated(plan, code, &evaluation, current);
    Ok((attempt, evaluation.scored.ok()))
}

/// Lines 6-7: runs the ablation study, repairs it if necessary, and summarizes its output.
async fn study(ctx: &Ctx<'_>, ablation: Solution) -> Result<String, Stop> {
    let execution = execute(ctx, Checked::unchecked(ablation), Purpose::Ablation).await?; // 6
    match execution.result {
        Ok(ran) => agents::summarize(ctx, &execution.solution, &ran.outcome).await, // 7
        Err(failure) => {
            ctx.warn(format!("the ablation study does not run: {}", failure.headline()));
            Ok("Ablation study failed for this step".to_owned())
        }
    }
}

impl Refined {
    /// A path before its first step.
    pub fn new(path: u32, initial: &Scored) -> Self {
        let (current, best) = (initial.clone(), initial.clone());
        Self { path, current, best, steps: Vec::new() } // 1-3
    }

    /// Ends the path and closes steps that a failure (`cause`) left open.
    pub fn end(&mut self, ctx: &Ctx<'_>, cause: Option<String>) -> Result<PathRecord, Stop> {
        let path = self.path;
        let open = u32::try_from(self.steps.len()).unwrap_or(u32::MAX)..ctx.config().outer_loop_steps;
        for outer in open.filter(|_| cause.is_some()) {
            let step = StepRecord::failed(cause.as_deref().unwrap_or_default()).ended(outer, &self.best);
            ctx.at(Step::Outer { path, outer })
                .close_after_failure(step.verdict(&self.current, &self.best))?;
            self.current = self.best.clone();
            self.steps.push(step);
        }
        let record = PathRecord::of(path, ctx.cut_on(path), cause);
        ctx.end_path(&record, &self.best);
        Ok(record)
    }
}
