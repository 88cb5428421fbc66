//! `A_summarize` of the MLE-STAR paper (Figure 13): summarizes the result of an ablation study.

use serde_json::json;

use crate::call::Call;
use crate::ctx::Ctx;
use crate::evaluation::Failure;
use crate::reply;
use crate::solution::Solution;
use crate::stop::Stop;
use mle_star_domain::effects::{ScriptEnd, ScriptOutcome};
use mle_star_domain::role::AgentType;

/// Length of the raw output that replaces a missing summary, in characters.
const FALLBACK: usize = 2000;

/// The summary of a study that has been run; an empty reply is replaced by the end of the raw output.
pub(crate) async fn summarize(
    ctx: &Ctx<'_>,
    ablation: &Solution,
    outcome: Result<&ScriptOutcome, &Failure>,
) -> Result<String, Stop> {
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(failure) => {
            ctx.warn(format!("the ablation study does not run: {}", failure.headline()));
            return Ok("Ablation study failed for this step".to_owned());
        }
    };
    let mut raw_result = outcome.stdout.text();
    if outcome.end == ScriptEnd::TimedOut {
        let stopped = outcome.headline();
        raw_result = format!("{raw_result}\n[{stopped} What is printed above is all that is known.]");
    }
    let inputs = json!({"ablation_code": ablation.text(), "raw_result": raw_result});
    let answer = ctx.ask(Call::new(AgentType::Summarize, "summarize.md", inputs)).await?;
    Ok(reply::prose(&answer).unwrap_or_else(|| {
        ctx.warn(format!("the summary was empty: {}", reply::excerpt(&answer)));
        format!("[Auto-summary from raw output] {}", last_chars(&raw_result, FALLBACK))
    }))
}

fn last_chars(text: &str, count: usize) -> &str {
    let skip = text.chars().count().saturating_sub(count);
    text.char_indices().nth(skip).map_or("", |(at, _)| &text[at..])
}
