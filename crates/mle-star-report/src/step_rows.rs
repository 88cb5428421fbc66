//! The rows of `steps` in `show --json`: what each record of a journal came to, and its score.

use mle_star::journal::{EffectRecord, EffectState, Kind, Outcome, Snapshot};
use mle_star::verdict::Verdicts;
use mle_star_domain::effects::{AgentReply, Answer, Limit, Purpose, ScriptOutcome};
use mle_star_domain::measure::Measurement;
use mle_star_domain::place::Step;
use mle_star_domain::question::{HoldoutScore, Selection};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One record of the journal.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StepRow {
    /// The place of the record.
    pub place: String,
    /// Agent, script or decision.
    pub kind: Kind,
    /// The outcome in words.
    pub outcome: String,
    /// Did it succeed?
    pub ok: bool,
    /// The score of a script.
    pub score: Option<f64>,
    /// Can the score be the best one?
    pub counts: bool,
    /// Time; of a script without its wait for a slot. `None` while it runs.
    pub seconds: Option<f64>,
    /// When it ended, in seconds since the start of the run.
    pub ended: Option<f64>,
    /// When it ended, RFC 3339; for exports.
    #[serde(skip)]
    pub ended_at: Option<String>,
}

/// Whether a record stands: neither a longer limit nor a repetition has set it aside.
pub(crate) fn stands(record: &EffectRecord) -> bool {
    matches!(record.state, EffectState::Begun | EffectState::Ended)
}

/// The rows of a journal, oldest first.
pub fn rows(snapshot: &Snapshot) -> Vec<StepRow> {
    let (corrected, verdicts) = (snapshot.corrected(), snapshot.verdicts());
    let replaced = replaced_by_leakage_check(&verdicts);
    let counted = |record: &EffectRecord| {
        let row = row(record);
        let Some(step) = record.place.step().filter(|_| row.counts) else { return row };
        let leaks = corrected.contains(&step) && !record.place.is_corrected() || replaced.contains(&step);
        if leaks {
            return StepRow { outcome: "ran with a leak".to_owned(), counts: false, ..row };
        }
        StepRow { counts: verdicts.get(&step).is_none_or(|verdict| verdict.score == row.score), ..row }
    };
    snapshot.effects.iter().filter(|record| is_shown(record)).map(counted).collect()
}

/// The steps whose solution the last check of Phase 1 found to leak, if it is replaced by one without the leak.
fn replaced_by_leakage_check(verdicts: &Verdicts) -> &[Step] {
    let check = verdicts.get(&Step::LeakageCheck).filter(|check| check.score.is_some());
    check.map_or(&[], |check| &check.from)
}

fn is_shown(record: &EffectRecord) -> bool {
    // A decision without a limit only marks the start or end of a phase.
    let is_effect = match record.kind {
        Kind::Agent | Kind::Script | Kind::Look | Kind::Selection => true,
        Kind::Decision => record.limit.is_some(),
        Kind::Gate | Kind::Probe | Kind::Verdict | Kind::Failure => false,
    };
    stands(record) && is_effect
}

fn row(record: &EffectRecord) -> StepRow {
    let row = StepRow {
        place: record.place.to_string(),
        kind: record.kind,
        outcome: "unreadable".to_owned(),
        ok: false,
        score: None,
        counts: false,
        seconds: record.elapsed_ended.map(|ended| (ended - record.elapsed_begun).max(0.0)),
        ended: record.elapsed_ended,
        ended_at: record.ended_at.clone(),
    };
    let Some(outcome) = &record.outcome else {
        let not_ended = || "not ended".to_owned();
        return StepRow { outcome: record.limit.map_or_else(not_ended, skipped), ..row };
    };
    let known = match record.kind {
        Kind::Agent => AgentReply::deserialize(outcome).map(|reply| agent_row(reply, row.clone())),
        Kind::Script => ScriptOutcome::deserialize(outcome)
            .map(|outcome| script_row(&outcome, &record.request, row.clone())),
        Kind::Look => HoldoutScore::deserialize(outcome)
            .map(|look| question_row(look.measured, "scored".to_owned(), look.failure, row.clone())),
        Kind::Selection => Selection::deserialize(outcome).map(|selection| {
            let chosen = selection.weights.iter().filter(|weight| **weight > 0.0).count();
            question_row(
                selection.measured,
                format!("{chosen} solutions chosen"),
                selection.failure,
                row.clone(),
            )
        }),
        Kind::Decision | Kind::Gate | Kind::Probe | Kind::Verdict | Kind::Failure => {
            Ok(StepRow { outcome: record.limit.map(skipped).unwrap_or_default(), ..row.clone() })
        }
    };
    known.unwrap_or(row)
}

fn skipped(limit: Limit) -> String {
    format!("skipped: {}", limit.name())
}

fn agent_row(reply: AgentReply, row: StepRow) -> StepRow {
    match reply.answer {
        Answer::Text { .. } => StepRow { outcome: "answered".to_owned(), ok: true, ..row },
        Answer::Failed { reason } => StepRow { outcome: reason, ..row },
        Answer::Refused { limit } => StepRow { outcome: skipped(limit), ..row },
    }
}

fn script_row(outcome: &ScriptOutcome, request: &Value, row: StepRow) -> StepRow {
    if let Some(limit) = outcome.limit() {
        return StepRow { outcome: skipped(limit), ..row };
    }
    let ok = !outcome.is_error();
    let failure = outcome.traceback.as_deref().and_then(|text| text.lines().last());
    let words = match (ok, failure, outcome.submission.as_ref()) {
        (true, ..) if outcome.mismatch.is_some() => outcome.mismatch.clone().unwrap_or_default(),
        (true, _, Some(submission)) if !submission.findings.is_empty() => submission.findings.join("; "),
        (true, _, _) => "ran".to_owned(),
        (false, Some(failure), _) => failure.to_owned(),
        (false, None, _) => outcome.headline(),
    };
    let (score, seconds) = (outcome.value(), Some(outcome.duration_seconds));
    StepRow { outcome: words, ok, score, counts: can_be_best(outcome, request), seconds, ..row }
}

/// Whether the score of a script can be the best one.
pub(crate) fn can_be_best(outcome: &ScriptOutcome, request: &Value) -> bool {
    let purpose = request.get("purpose").and_then(|name| Purpose::deserialize(name).ok());
    !outcome.is_error() && outcome.mismatch.is_none() && purpose == Some(Purpose::Score)
}

/// The answer to a question about predictions.
fn question_row(measured: Option<Measurement>, words: String, failure: String, row: StepRow) -> StepRow {
    let score = measured.map(|measured| measured.score);
    StepRow { outcome: if score.is_some() { words } else { failure }, ok: score.is_some(), score, ..row }
}
