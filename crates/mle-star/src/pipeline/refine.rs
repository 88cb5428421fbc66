//! Algorithm 2: refinement of one code block after another.

use crate::agents::{self, Extraction, Question};
use crate::answers::RefinePlan;
use crate::ctx::Ctx;
use crate::effects::{Limit, Purpose};
use crate::evaluate::{Checked, evaluate, execute};
use crate::result::{CodeBlockRecord, RefinementAttempt, StepRecord};
use crate::solution::{CodeBlock, Scored, Solution, SolutionPhase};
use crate::stop::Stop;

/// What one path made of s_0.
pub(super) struct Refined {
    /// s_final.
    pub best: Scored,
    /// One per outer step.
    pub steps: Vec<StepRecord>,
}

/// What an outer step made: its record, and a solution at least as good as the one it began with.
struct Step {
    record: StepRecord,
    best: Option<Scored>,
}

/// Algorithm 2. A path that a limit cuts short keeps its best solution and a record of every step.
pub(super) async fn refine(ctx: &Ctx<'_>, initial: &Scored) -> Result<Refined, Stop> {
    let mut best = initial.clone(); // lines 1-2
    let mut steps: Vec<StepRecord> = Vec::new(); // 3: T_abl and C are read from the records
    for t in 0..ctx.config().outer_loop_steps {
        let ctx = &ctx.at(format_args!("t{t}")); // 4
        let mut step = match ctx.skip(ctx.config().outer_loop_steps)? {
            Some(limit) => Step { record: cut_record(limit), best: None },
            None => outer_step(ctx, &best, &steps).await?, // 5-25
        };
        best = step.best.take().unwrap_or(best);
        step.record.outer_step = t;
        step.record.best_score_after_step = best.score().value();
        ctx.step_ended(Some(best.score()), !step.record.was_skipped, step_note(&step.record));
        steps.push(step.record); // 26-27
    }
    Ok(Refined { best, steps }) // 29
}

async fn outer_step(ctx: &Ctx<'_>, current: &Scored, steps: &[StepRecord]) -> Result<Step, Stop> {
    let summaries: Vec<String> =
        steps.iter().map(|step| step.ablation_summary.clone()).filter(filled).collect();
    let blocks: Vec<String> = steps.iter().map(|step| step.code_block.clone()).filter(filled).collect();
    let ablation = agents::ablation(ctx, current.solution(), &summaries).await?; // 5
    let summary = study(ctx, ablation).await?; // 6-7
    let (block, RefinePlan { plan, category, .. }) =
        match target(ctx, current.solution(), &summary, &blocks).await? {
            Ok(target) => target, // 8
            Err(limit) => return Ok(Step { record: skipped_record(summary, limit), best: None }),
        };
    let (attempts, best) = refine_block(ctx, current, &block, &plan).await?; // 9-25
    let mut record = empty_record();
    record.ablation_summary = summary;
    record.code_block = block.as_str().to_owned();
    record.plan = plan;
    record.category = category;
    record.inner_loop_attempts = attempts;
    Ok(Step { record, best })
}

/// Lines 9-25: K attempts at one block, each on the block and the solution as they were at the start.
async fn refine_block(
    ctx: &Ctx<'_>,
    current: &Scored,
    block: &CodeBlock,
    first_plan: &str,
) -> Result<(Vec<RefinementAttempt>, Option<Scored>), Stop> {
    let (mut attempts, mut plans, mut scores) = (Vec::new(), Vec::new(), Vec::new());
    let mut best: Option<Scored> = None;
    for k in 0..ctx.config().inner_loop_steps {
        let ctx = &ctx.at(format_args!("k{k}"));
        let mut attempt = failed_attempt();
        let mut candidate = None;
        if let Some(limit) = ctx.skip(ctx.config().inner_loop_steps)? {
            attempt.plan = format!("[skipped: {}]", limit.name());
        } else if let Some(plan) = next_plan(ctx, k, block, first_plan, &plans, &scores).await? {
            (attempt.code_block, candidate) = carry_out(ctx, current, block, &plan).await?; // 9-10, 18-19
            attempt.plan = plan;
        }
        attempt.score = candidate.as_ref().map(|candidate| candidate.score().value());
        let incumbent = best.as_ref().unwrap_or(current).score();
        if let Some(candidate) = candidate.filter(|candidate| candidate.score().beats_or_ties(incumbent)) {
            ctx.descends(&candidate, &[current]);
            attempt.was_improvement = true;
            best = Some(candidate); // 12-15, 21-24
        }
        ctx.step_ended(
            attempt.score.and_then(|score| ctx.score(score)),
            attempt.was_improvement,
            attempt.plan.clone(),
        );
        plans.push(attempt.plan.clone());
        scores.push(attempt.score);
        attempts.push(attempt);
    }
    Ok((attempts, best))
}

/// The extractor's plan at first, then the planner's; `None` when the planner gave none.
async fn next_plan(
    ctx: &Ctx<'_>,
    k: u32,
    block: &CodeBlock,
    first_plan: &str,
    plans: &[String],
    scores: &[Option<f64>],
) -> Result<Option<String>, Stop> {
    if k == 0 {
        return Ok(Some(first_plan.to_owned()));
    }
    agents::planner(ctx, block, plans, scores).await // 17
}

/// The coder's block, and the solution with it when that runs.
async fn carry_out(
    ctx: &Ctx<'_>,
    current: &Scored,
    block: &CodeBlock,
    plan: &str,
) -> Result<(String, Option<Scored>), Stop> {
    let Some(code) = agents::coder(ctx, block, plan).await? else { return Ok((String::new(), None)) }; // 9, 18
    let replaced = match current.solution().replace_block(block, &code) {
        Ok(replaced) => Solution::new(replaced.text, SolutionPhase::Refined), // 10, 19
        Err(error) => {
            ctx.warn(error.to_string());
            return Ok((code, None));
        }
    };
    let evaluation = evaluate(ctx, replaced).await?; // 11, 20
    Ok((code, evaluation.scored.ok()))
}

/// Lines 6-7: the ablation study run, repaired if need be, and put into words.
async fn study(ctx: &Ctx<'_>, ablation: Solution) -> Result<String, Stop> {
    let execution = execute(ctx, Checked::unchecked(ablation), Purpose::Ablation).await?; // 6
    match execution.result {
        Ok(ran) => agents::summarize(ctx, &execution.solution.text, &ran.outcome.stdout.text()).await, // 7
        Err(_) => {
            ctx.warn("the ablation study does not run");
            Ok("Ablation study failed for this step".to_owned())
        }
    }
}

/// Line 8: a block of the solution with its plan, in at most three calls. `Err` when no reply names one, with the
/// limit that ended the calls, if one did.
async fn target(
    ctx: &Ctx<'_>,
    solution: &Solution,
    summary: &str,
    refined_blocks: &[String],
) -> Result<Result<(CodeBlock, RefinePlan), Option<Limit>>, Stop> {
    let mut note = String::new();
    let mut seen = Vec::new();
    for call in 1..=3 {
        let question = Question { summary, refined_blocks, note: &note };
        let plans = match agents::extractor(ctx, call, solution, &question).await? {
            Extraction::Plans(plans) => plans,
            Extraction::Unreadable => continue,
            Extraction::Refused(limit) => return Ok(Err(Some(limit))),
        };
        let Some(first) = plans.first() else { continue };
        match usable(solution, first) {
            Ok(block) => return Ok(Ok((block, first.clone()))),
            Err(error) => {
                note = format!(
                    "Your last answer cannot be used: {error}. Copy a part of the solution exactly \
                     as it stands there, with enough lines that it occurs only once."
                );
                ctx.warn(format!("extractor: {error}"));
            }
        }
        seen.extend(plans);
    }
    Ok(seen.into_iter().find_map(|plan| Some((usable(solution, &plan).ok()?, plan))).ok_or(None))
}

/// The block that a plan is for.
fn usable(solution: &Solution, plan: &RefinePlan) -> Result<CodeBlock, String> {
    if plan.plan.trim().is_empty() {
        return Err("the plan is empty".to_owned());
    }
    solution.find_block(&plan.code_block).map_err(|error| error.to_string())
}

fn empty_record() -> StepRecord {
    StepRecord {
        outer_step: 0,
        ablation_summary: String::new(),
        code_block: String::new(),
        category: None,
        plan: String::new(),
        inner_loop_attempts: Vec::new(),
        best_score_after_step: f64::NAN,
        was_skipped: false,
        failed: None,
        reason: None,
    }
}

/// A step whose study named no usable block.
fn skipped_record(summary: String, limit: Option<Limit>) -> StepRecord {
    let reason = limit.map_or("no usable code block was named", Limit::name).to_owned();
    StepRecord {
        ablation_summary: summary,
        was_skipped: true,
        failed: limit.map(|_| true),
        reason: Some(reason),
        ..empty_record()
    }
}

/// A step that a limit left out.
fn cut_record(limit: Limit) -> StepRecord {
    StepRecord {
        was_skipped: true,
        failed: Some(true),
        reason: Some(limit.name().to_owned()),
        ..empty_record()
    }
}

fn failed_attempt() -> RefinementAttempt {
    let (plan, code_block) = ("[planner failed]".to_owned(), String::new());
    RefinementAttempt { plan, score: None, code_block, was_improvement: false }
}

fn step_note(record: &StepRecord) -> String {
    record.reason.clone().unwrap_or_else(|| {
        let better = record.inner_loop_attempts.iter().filter(|attempt| attempt.was_improvement).count();
        format!("{better} of {} attempts accepted", record.inner_loop_attempts.len())
    })
}

#[expect(clippy::ptr_arg, reason = "used as a filter over strings")]
fn filled(text: &String) -> bool {
    !text.is_empty()
}

impl Refined {
    /// C of the paper, one entry per outer step.
    pub fn blocks(&self) -> Vec<CodeBlockRecord> {
        let block = |step: &StepRecord| CodeBlockRecord {
            content: step.code_block.clone(),
            category: step.category,
            outer_step: step.outer_step,
        };
        self.steps.iter().map(block).collect()
    }
}
