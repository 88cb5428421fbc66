//! `A_data` (Figure 22): adds data that the solution does not use yet.

use serde_json::json;

use super::ensembler::run_of;
use crate::call::Call;
use crate::ctx::Ctx;
use crate::reply;
use crate::scored::Scored;
use crate::solution::Solution;
use crate::stop::Stop;
use mle_star_domain::role::AgentType;

/// The agent's answer if the solution uses all data.
const ALL_USED: &str = "all the provided information is used.";

/// The revised solution; `None` if all data is used, the call failed or was refused, or the reply has no other code.
pub(crate) async fn data(ctx: &Ctx<'_>, best: &Scored) -> Result<Option<Solution>, Stop> {
    let solution = best.solution();
    let mut inputs = json!({"initial_solution": solution.text(), "task_description": ctx.task().description});
    ctx.name_suspicious_columns(&mut inputs);
    let call = Call::new(AgentType::Data, "data.md", inputs).telling("current", run_of(best));
    let answer = ctx.ask(call).await?;
    let code = reply::code(&answer);
    if reply::prose(&answer).is_some_and(|text| denies_revision(&text, code.as_deref())) {
        return Ok(None);
    }
    if code.is_none() {
        ctx.warn(format!(
            "the data check's reply holds neither code nor a verdict: {}",
            reply::excerpt(&answer)
        ));
    }
    Ok(code.filter(|text| *text != solution.text()).map(|text| solution.with_text(text)))
}

/// Whether a reply says that all data is used: anywhere, or at its beginning if it has a script.
fn denies_revision(text: &str, code: Option<&str>) -> bool {
    let text = text.to_lowercase();
    match code.filter(|code| code.trim().contains('\n')) {
        Some(_) => text.trim_start_matches(|letter: char| !letter.is_alphanumeric()).starts_with(ALL_USED),
        None => text.contains(ALL_USED),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_revision_is_not_taken_for_a_verdict() {
        let check = |text: &str, code: Option<&str>, expected: bool| {
            assert_eq!(denies_revision(text, code), expected, "{text}");
        };
        let (script, sentence) = (Some("x = 1\ny = 2"), "All the provided information is used.");
        check(sentence, None, true);
        check(&format!("I looked at it. {sentence}"), None, true);
        check(&format!("```\n{sentence}\n```"), Some(sentence), true);
        check(&format!("**{sentence}**\n```\nx = 1\ny = 2\n```"), script, true);
        check(&format!("Not {}\n```\nx = 1\ny = 2\n```", sentence.to_lowercase()), script, false);
    }
}
