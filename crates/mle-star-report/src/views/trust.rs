//! Trust in the score of a finished run: its rows, checks, findings, and the choice of the solution.

mod split;

use mle_star::journal::Kind;
use mle_star_domain::protocol::{Holdout, Protocol, Split};
use mle_star_domain::trust::{ChoiceCandidate, Finding, Trust};
use serde_json::{Value, json};

use super::{Context, RunReport};

/// Fewer held-out rows than this get a note.
const FEW_ROWS: u64 = 1000;

/// What is known about the score; `None` if the result says nothing about it.
pub fn trust(context: &Context<'_>, report: &RunReport) -> Option<Value> {
    let trust = context.result()?.trust.as_ref()?;
    let score = &report.score;
    let candidate = |one: &ChoiceCandidate| {
        let step = one.place.step().filter(|step| context.steps.at(*step).is_some());
        json!({"of": one, "step": step})
    };
    let ran = |finding: &Finding| {
        let mut effects = context.run.snapshot.effects.iter();
        effects.any(|effect| effect.kind == Kind::Script && effect.place == finding.place)
    };
    let finding = |one: &Finding| json!({"of": one, "ran": ran(one)});
    Some(json!({
        "rows": rows(trust),
        "verification": score.verification(),
        "not_held_out": score.not_held_out(),
        "few_rows": few_rows(trust),
        "few": score.few(),
        "split": trust.split.as_ref().map(|split| chosen_rows(context, split)),
        "split_picture": split::picture(context, trust),
        "candidates": trust.choice.candidates.iter().map(candidate).collect::<Vec<_>>(),
        "gate": context.run.snapshot.frozen.config.leakage_gate,
        "findings": trust.findings.iter().map(finding).collect::<Vec<_>>(),
    }))
}

fn rows(trust: &Trust) -> Option<u64> {
    trust.holdout.as_ref().map_or(trust.holdout_rows, Holdout::rows)
}

/// The number of held-out rows, if they are few, with the difference of scores that says nothing: half the width of the
/// interval, 1.96 standard errors of the difference to a score on the test rows.
fn few_rows(trust: &Trust) -> Option<Value> {
    let rows = trust.holdout_reported_rows.or(rows(trust)).filter(|rows| *rows < FEW_ROWS)?;
    let [low, high] = trust.holdout_interval?;
    let least = (high - low) / 2.0;
    (least.is_finite() && least > 0.0).then(|| json!({"rows": rows, "least": least}))
}

/// Which rows are validated.
fn chosen_rows(context: &Context<'_>, split: &Split) -> String {
    match context.run.snapshot.frozen.protocol.as_ref() {
        Some(Protocol { own_folds: Some(given), .. }) => format!("the folds are those of `{}`", given.from),
        Some(Protocol { is_papers: true, .. }) => "the agents chose the validation rows".to_owned(),
        _ => split.instruction(),
    }
}
