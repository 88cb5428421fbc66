//! `A_ensembler` of the MLE-STAR paper (Figure 18): writes one script that combines the solutions by a plan.

use serde_json::{Value, json};

use crate::call::Call;
use crate::ctx::Ctx;
use crate::lessons::{format_seconds, number, rounded};
use crate::scored::Scored;
use crate::solution::{Solution, SolutionPhase};
use crate::stop::Stop;
use mle_star_domain::role::AgentType;

/// The combined solution; `None` if the reply had no code.
pub(crate) async fn ensembler(
    ctx: &Ctx<'_>,
    plan: &str,
    solutions: &[Scored],
    best: Option<&Scored>,
) -> Result<Option<Solution>, Stop> {
    super::require(ctx, !plan.trim().is_empty(), "A_ensembler requires a non-empty ensemble plan")?;
    super::require(ctx, solutions.len() >= 2, "A_ensembler requires at least 2 solutions for ensembling")?;
    let texts: Vec<&str> = solutions.iter().map(Scored::text).collect();
    let inputs = json!({"solutions": texts, "plan": plan});
    let call = Call::new(AgentType::Ensembler, "ensembler.md", inputs)
        .rendering("num_solutions", solutions.len())
        .telling("members", members(solutions))
        .telling("best", best_round(best));
    let answer = ctx.ask(call).await?;
    let code = super::code_or_warn(ctx, &answer, "the ensembler's reply holds no code");
    Ok(code.map(|text| Solution::new(text, SolutionPhase::Ensemble)))
}

/// What is told about the runs of the solutions, in their order.
pub(super) fn members(solutions: &[Scored]) -> Value {
    solutions.iter().map(run_of).collect()
}

/// The best ensemble so far; `null` in the first round.
pub(super) fn best_round(best: Option<&Scored>) -> Value {
    best.map_or(Value::Null, |best| {
        let mut told = run_of(best);
        told["script"] = json!(best.text());
        told
    })
}

/// The score of a solution with its standard error, and those of predictions that need no model: the same for all rows and, in a forecast, the value of the
/// season before.
pub(super) fn beside_simple_ones(solution: &Scored) -> String {
    let measured = solution.measured();
    let error = measured.and_then(|measured| measured.standard_error);
    let error = error.map(|error| format!(" ± {}", rounded(error, 2))).unwrap_or_default();
    let score = format!("{}{error}", number(solution.score().value()));
    let simple = measured.into_iter().flat_map(|measured| {
        let naive = ("a seasonal naive forecast", measured.seasonal_naive);
        [("the best constant prediction scores", measured.constant), naive]
    });
    let told = |(what, score): (&str, Option<f64>)| Some(format!("{what} {}", rounded(score?, 4)));
    let simple: Vec<String> = simple.filter_map(told).collect();
    if simple.is_empty() { score } else { format!("{score} ({})", simple.join(", ")) }
}

/// The score of a solution, how long it took, and what it printed at the end.
pub(super) fn run_of(solution: &Scored) -> Value {
    let facts = solution.facts();
    let beside = if facts.beside { " beside other scripts" } else { "" };
    json!({
        "score": beside_simple_ones(solution),
        "time": format!("{}{beside}", format_seconds(facts.seconds)),
        "seconds": facts.seconds,
        "memory": facts.peak_memory_mib.map(|mib| format!("{mib} MiB")),
        "printed": facts.printed,
    })
}
