//! Algorithm 2 of the MLE-STAR paper: refinement of one code block after another.

use mle_star_domain::effects::Purpose;
use mle_star_domain::place::Step;

use crate::agents::{self, Focus, Target};
use crate::closing::Attempt;
use crate::ctx::Ctx;
use crate::evaluate::{evaluate_change, execute};
use crate::evaluation::Script;
use crate::library::Library;
use crate::result::{RefinementAttempt, StepRecord};
use crate::scored::Scored;
use crate::solution::SolutionPhase;
use crate::stop::Stop;

/// The progress of one path. A path that ends early keeps it.
pub(crate) struct Refinement {
    pub path: u32,
    /// s_t: what the current outer step began with.
    pub current: Scored,
    /// s_final.
    pub best: Scored,
    /// One per outer step. T_abl and C are derived from them.
    pub steps: Vec<StepRecord>,
    /// All solutions of the path.
    pub library: Library,
}

/// Algorithm 2.
pub(crate) async fn refine(ctx: &Ctx<'_>, path: &mut Refinement) -> Result<(), Stop> {
    for outer in 0..ctx.config().outer_loop_steps {
        let current = path.best.clone(); // line 4
        path.current = current.clone();
        let ctx = &ctx.at(Step::Outer { path: path.path, outer }, [&current]);
        let refining = async {
            let ablation = agents::ablation(ctx, &current, &path.steps).await?; // 5
            let study = execute(ctx, Script::new(ablation), Purpose::Ablation).await?; // 6
            let summary = agents::summarize(ctx, &study.solution, study.outcome()).await?; // 7
            let summary = agents::with_variants(summary, &study, ctx.task().metric_direction);
            ctx.history().studies.push((ctx.current_step()?, summary.clone()));
            let target = agents::extractor(ctx, &current, &summary, &path.steps).await?; // 8
            let record = refine_block(ctx, path, outer, summary, target).await?; // 9-25
            Ok((record, path.best.clone()))
        };
        let step = ctx.step(refining, |end| StepRecord::end(end, outer, &current)).await?;
        if !step.helped() && outer + 1 < ctx.config().outer_loop_steps {
            ctx.info(
                "no attempt of this step gained more than chance explains, so the next study looks elsewhere",
            );
        }
        path.steps.push(step); // 26-27
    }
    Ok(()) // 29
}

/// Lines 9-25: K attempts at one block, each on the block and the solution as they were at the start.
async fn refine_block(
    ctx: &Ctx<'_>,
    path: &mut Refinement,
    outer: u32,
    summary: String,
    target: Target,
) -> Result<StepRecord, Stop> {
    let (block, first) = match target {
        Target::Block(block, first) => (block, first),
        Target::Missing(limit) => return Ok(StepRecord::skipped(summary, limit)),
    };
    let current = path.current.clone();
    let focus = Focus { current: &current, block: &block, summary: &summary };
    let mut attempts: Vec<RefinementAttempt> = Vec::new();
    for inner in 0..ctx.config().inner_loop_steps {
        let ctx = &ctx.at(Step::Attempt { path: path.path, outer, inner }, [&current]); // 16
        let attempting = async {
            let plan = match inner {
                0 => Some(first.plan.clone()),
                _ => agents::planner(ctx, &focus, &attempts).await?, // 17
            };
            attempt(ctx, &focus, plan, &attempts, &path.best).await // 9-11, 18-20
        };
        let rule = ctx.acceptance();
        let attempt =
            ctx.step(attempting, |end| Attempt::end(end, (&current, &block), &path.best, rule)).await?;
        attempt.scored.iter().for_each(|scored| path.library.add(scored));
        if let Some(better) = attempt.accepted() {
            path.best = better.clone(); // 12-15, 21-24
        }
        attempts.push(attempt.record);
    }
    Ok(StepRecord::refined(summary, &block, first, attempts))
}

/// Lines 9-11 and 18-20: the solution with the coder's block, evaluated.
async fn attempt(
    ctx: &Ctx<'_>,
    focus: &Focus<'_>,
    plan: Option<String>,
    earlier: &[RefinementAttempt],
    best: &Scored,
) -> Result<Attempt, Stop> {
    let Some(plan) = plan else { return Ok(Attempt::failed(RefinementAttempt::without_plan())) };
    let Some(code) = agents::coder(ctx, focus, &plan, earlier).await? else {
        let why = "no code in the reply".to_owned();
        return Ok(Attempt::failed(RefinementAttempt::failed(plan, String::new(), why)));
    }; // 9, 18
    let current = focus.current.solution();
    let solution = match current.replace_block(focus.block, &code) {
        Ok(solution) if solution != *current => solution.in_phase(SolutionPhase::Refined), // 10, 19
        unusable => return Ok(Attempt::unusable(plan, code, unusable.err())),
    };
    let evaluation = evaluate_change(ctx, Ok(solution), Some(best), Some(focus.current)).await?; // 11, 20
    Ok(Attempt::evaluated(plan, code, evaluation, focus.current))
}

impl Refinement {
    /// A path before its first step.
    pub fn new(path: u32, initial: &Scored) -> Self {
        let (current, best) = (initial.clone(), initial.clone());
        Self { path, current, best, steps: Vec::new(), library: Library::default() } // 1-3
    }
}
