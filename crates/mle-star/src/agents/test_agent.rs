//! `A_test` of the MLE-STAR paper (Figures 25 to 28): writes the submission script, finds and removes subsampling, and
//! compares with known solutions.

use serde_json::json;

use crate::call::Call;
use crate::ctx::Ctx;
use crate::journal::Kind;
use crate::reply;
use crate::result::SolutionScript;
use crate::solution::{CodeBlock, Solution, SolutionPhase};
use crate::stop::Stop;
use crate::time_plan::TimePlan;
use mle_star_domain::answers::{Contamination, DataContaminationResult};
use mle_star_domain::place::Name;
use mle_star_domain::role::{AgentType, Variant};

/// The submission script; its text is empty if the reply had no code, and an empty script fails when it runs.
pub(crate) async fn submission_script(ctx: &Ctx<'_>, solution: &Solution) -> Result<Solution, Stop> {
    let inputs = json!({"task_description": ctx.task().description, "final_solution": solution.text()});
    let answer = ctx.ask(Call::new(AgentType::Test, "test.md", inputs)).await?;
    let code = super::code_or_warn(ctx, &answer, "the reply holds no submission script");
    Ok(Solution::new(code.unwrap_or_default(), SolutionPhase::Final))
}

/// Whether a solution subsamples.
pub(crate) enum Subsampling {
    /// The script does not subsample.
    None,
    /// The script subsamples in this block.
    Block(CodeBlock),
    /// The agent did not tell.
    Unknown,
}

/// Why no agent has to look for subsampling; `None` if one is asked, or was asked by an earlier process.
pub(crate) fn subsampling_check_unneeded(ctx: &Ctx<'_>) -> Result<Option<&'static str>, Stop> {
    let place = ctx.place().named(Name::Task(Variant::SubsamplingExtract));
    if !ctx.tells_more() || ctx.run.journal.has_any(&place, Kind::Agent)? {
        return Ok(None);
    }
    let is_small = !ctx.run.frozen.samples();
    Ok(is_small.then_some("the training table is so small that scripts use all of it"))
}

/// The block that subsamples, exactly as in the solution.
pub(crate) async fn find_subsampling(ctx: &Ctx<'_>, solution: &Solution) -> Result<Subsampling, Stop> {
    let (inputs, task) = (json!({"final_solution": solution.text()}), Variant::SubsamplingExtract);
    let call = Call::new(AgentType::Test, "test_subsampling_extract.md", inputs);
    let answer = ctx.ask(call.variant(task).named(Name::Task(task))).await?;
    let Some(quoted) = reply::code(&answer) else {
        if reply::text(&answer).is_some_and(denies_subsampling) {
            return Ok(Subsampling::None);
        }
        let excerpt = reply::excerpt(&answer);
        ctx.warn(format!("subsampling is left as it is: no code in the reply: {excerpt}"));
        return Ok(Subsampling::Unknown);
    };
    Ok(match solution.find_first_block(&quoted) {
        Ok(block) => Subsampling::Block(block),
        // The sentence as a block of code.
        Err(_) if quoted.trim().lines().count() == 1 && denies_subsampling(&quoted) => Subsampling::None,
        Err(error) => {
            ctx.warn(format!("subsampling is left as it is: {error}: {}", reply::excerpt(&answer)));
            Subsampling::Unknown
        }
    })
}

/// Whether a reply says that nothing is subsampled.
fn denies_subsampling(reply: &str) -> bool {
    reply.to_lowercase().contains("no subsampling")
}

/// The solution with the block without its subsampling, or with a larger sample if not all rows fit into the time; `None`
/// if the reply had no code.
pub(crate) async fn remove_subsampling(
    ctx: &Ctx<'_>,
    solution: &Solution,
    block: &CodeBlock,
    time: Option<TimePlan>,
) -> Result<Option<Solution>, Stop> {
    let mut inputs = json!({"code_block_with_subsampling": block.as_str()});
    if let Some(TimePlan { seconds, allowed, .. }) = time {
        let tenths = |seconds: f64| json!((seconds * 10.0).round() / 10.0);
        (inputs["seconds"], inputs["allowed_seconds"]) = (tenths(seconds), tenths(allowed));
    }
    let task = Variant::SubsamplingRemove;
    let call = Call::new(AgentType::Test, "test_subsampling_remove.md", inputs);
    let answer = ctx.ask(call.variant(task).named(Name::Task(task))).await?;
    let Some(code) = super::code_or_warn(ctx, &answer, "subsampling is left as it is") else {
        return Ok(None);
    };
    let replaced = solution.replace_block(block, &code).unwrap_or_else(|_| solution.clone());
    let (before, after) = (solution.text().chars().count(), replaced.text().chars().count());
    ctx.info(format!("subsampling removed: {before} characters before, {after} after"));
    Ok(Some(replaced))
}

/// Whether a solution is `Novel` or the `Same` as a reference; `None` if that is unclear.
type Novelty = Option<Contamination>;

/// Figure 28: `Same` if the comparison with any reference says so, `Novel` if all do, otherwise unclear.
pub(crate) async fn check_contamination(ctx: &Ctx<'_>, solution: &SolutionScript) -> Result<Novelty, Stop> {
    let script = Solution::new(solution.content.clone(), solution.phase);
    let references = (0..).zip(&ctx.task().reference_discussions);
    let mut verdicts = Vec::new();
    for (index, reference) in references.filter(|(_, text)| !text.trim().is_empty()) {
        verdicts.push(compare(ctx, index, &script, reference).await?);
    }
    let overall = overall(&verdicts);
    ctx.info(match verdicts.len() {
        0 => "no references to compare the solution with".to_owned(),
        count => {
            let words: Vec<&str> = verdicts.iter().map(|verdict| in_words(*verdict)).collect();
            format!("compared with {count} references: {}; overall {}", words.join(", "), in_words(overall))
        }
    });
    Ok(overall)
}

fn in_words(verdict: Novelty) -> &'static str {
    match verdict {
        Some(Contamination::Novel) => "Novel",
        Some(Contamination::Same) => "Same",
        None => "unclear",
    }
}

fn overall(verdicts: &[Novelty]) -> Novelty {
    if verdicts.contains(&Some(Contamination::Same)) {
        return Some(Contamination::Same);
    }
    let all_novel = !verdicts.is_empty() && verdicts.iter().all(Option::is_some);
    all_novel.then_some(Contamination::Novel)
}

/// The comparison with reference number `count` (from 0); `None` if the reply cannot be parsed.
async fn compare(ctx: &Ctx<'_>, count: u32, solution: &Solution, reference: &str) -> Result<Novelty, Stop> {
    let inputs = json!({"reference_discussion": reference, "final_solution": solution.text()});
    let call = Call::new(AgentType::Test, "test_contamination.md", inputs);
    let call = call.variant(Variant::Contamination).named(Name::Comparison(count));
    let answer = ctx.ask(call).await?;
    let verdict = reply::object::<DataContaminationResult>(&answer).map(|result| result.verdict);
    let verdict = verdict.or_else(|| match reply::prose(&answer)?.trim_matches(['\'', '"', '.', '`']) {
        "Novel" => Some(Contamination::Novel),
        "Same" => Some(Contamination::Same),
        _ => None,
    });
    if verdict.is_none() {
        ctx.warn(format!("the comparison's verdict cannot be read: {}", reply::excerpt(&answer)));
    }
    Ok(verdict)
}
