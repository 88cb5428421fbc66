//! How far the score of a finished run can be trusted.

mod picture;
mod shift;
mod split;

use mle_star::journal::Kind;
use mle_star_domain::config::LeakageGate;
use mle_star_domain::protocol::{Holdout, Protocol, Split};
use mle_star_domain::trust::{self, ProbeVerdict, Severity};
use serde::Serialize;

use super::context::Context;
use super::steps::node_id;
use crate::cut::{PROSE, cut, line_of, sentence};
use crate::figures::{grouped, number, rounded};
use crate::score_report::{Figure, ScoreReport};
use crate::words::place_name;
use picture::Picture;
use shift::Shift;
use split::SplitPicture;

/// Fewer held-out rows than this get a note.
const FEW_ROWS: u64 = 1000;

/// The part of a run's page about its score.
#[derive(Clone, Debug, Serialize)]
pub struct TrustView {
    /// Both scores and their rows.
    pub score: TrustedScore,
    /// Whether the program could recompute the validation score, in one sentence.
    pub verified: String,
    /// Whether that is `good` or not: `soft`.
    pub verified_mood: &'static str,
    /// The held-out rows, or why there are none.
    pub holdout: String,
    /// What few rows, groups or times cannot show.
    pub few: Vec<String>,
    /// All scores, as a picture and a table.
    pub picture: Option<Picture>,
    /// How test rows differ from training rows, and what that means for validation.
    pub split: Option<String>,
    /// The split, as a picture and a table.
    pub split_picture: Option<SplitPicture>,
    /// How well they can be told apart.
    pub shift: Option<Shift>,
    /// How the final solution was chosen.
    pub choice: ChoiceView,
    /// What was found in scripts.
    pub findings: Vec<FindingRow>,
    /// The results of probes.
    pub probes: Vec<ProbeRow>,
}

/// Both scores of the chosen solution.
#[derive(Clone, Debug, Serialize)]
pub struct TrustedScore {
    /// The metric.
    pub metric: String,
    /// The validation score of the chosen solution.
    pub validated: Option<Figure>,
    /// What the best constant prediction scores on the same rows, if it is known.
    pub constant: Option<String>,
    /// What a seasonal naive forecast scores on the same rows, if they are forecasts of numbers.
    pub seasonal_naive: Option<String>,
    /// The number of rows that gave it, if they are known.
    pub validation_rows: Option<String>,
    /// The score on held-out rows.
    pub held_out: Option<Figure>,
    /// The number of held-out rows.
    pub rows: Option<String>,
    /// The number of those that the score is of, if the others took part in a decision.
    pub reported: Option<String>,
    /// How often predictions for held-out rows were scored.
    pub looks: u64,
}

/// How the final solution was chosen.
#[derive(Clone, Debug, Serialize)]
pub struct ChoiceView {
    /// The rule.
    pub rule: String,
    /// The solutions that were compared, the chosen one first.
    pub candidates: Vec<Candidate>,
    /// Whether they were compared on held-out rows.
    pub has_held_out: bool,
    /// Whether the finalized script predicts like the chosen one.
    pub equivalence: String,
}

/// A solution that was compared in the final choice.
#[derive(Clone, Debug, Serialize)]
pub struct Candidate {
    /// The place, for people.
    pub name: String,
    /// The ID of its node, if it has one.
    pub node: Option<String>,
    /// Its validation score.
    pub validation: String,
    /// Its score on the choosing half of the holdout.
    pub held_out: Option<String>,
}

/// Something found in a script.
#[derive(Clone, Debug, Serialize)]
pub struct FindingRow {
    /// The rule.
    pub rule: String,
    /// What became of the script: `no score`, `corrected` or `reported`.
    pub effect: &'static str,
    /// Whether that is `bad`, `good` or neither: `soft`.
    pub mood: &'static str,
    /// The place, for people.
    pub name: String,
    /// The line, from 1.
    pub line: u64,
    /// A description.
    pub text: String,
}

/// The result of a probe.
#[derive(Clone, Debug, Serialize)]
pub struct ProbeRow {
    /// Its name.
    pub name: String,
    /// `passed`, `suspect` or `skipped`.
    pub verdict: &'static str,
    /// Whether that is `good`, `bad` or neither: `soft`.
    pub mood: &'static str,
    /// A description.
    pub detail: String,
}

/// Creates the view of a run; `None` if its result says nothing about its score.
pub fn trust(context: &Context<'_>) -> Option<TrustView> {
    let trust = context.result()?.trust.as_ref()?;
    let score = &context.report.score;
    let few = score.few.iter().map(|few| quoted(&few.words()));
    Some(TrustView {
        score: TrustedScore {
            metric: context.report.run.metric.clone(),
            validated: score.validated(),
            constant: score.constant_score.map(number),
            seasonal_naive: score.seasonal_naive_score.map(number),
            validation_rows: trust.validation_rows.map(grouped),
            held_out: score.held_out(),
            rows: rows(trust).map(grouped),
            reported: trust.holdout_reported_rows.map(grouped),
            looks: trust.holdout_looks,
        },
        verified: quoted(&score.verification()),
        verified_mood: if score.verified.is_some() { "good" } else { "soft" },
        holdout: holdout(trust, score),
        few: few_rows(trust).into_iter().chain(few).collect(),
        picture: picture::picture(context, trust),
        split: trust.split.as_ref().map(|split| split_words(context, split)),
        split_picture: split::picture(context, trust),
        shift: trust.shift.as_ref().map(|found| shift::shift(found, trust.split.as_ref())),
        choice: choice(context, &trust.choice, &trust.equivalence),
        findings: trust.findings.iter().map(|one| finding(context, one)).collect(),
        probes: trust.probes.iter().map(probe).collect(),
    })
}

fn rows(trust: &trust::Trust) -> Option<u64> {
    trust.holdout.as_ref().map_or(trust.holdout_rows, Holdout::rows)
}

fn holdout(trust: &trust::Trust, score: &ScoreReport) -> String {
    match (&trust.holdout, trust.holdout_rows) {
        (Some(Holdout::On { rows, of, .. }), _) => format!(
            "The program kept {} of {} labelled rows from every script until the final choice.",
            grouped(*rows),
            grouped(*of)
        ),
        (Some(Holdout::Test { rows, of, .. }), _) => format!(
            "The program took {} of {} labelled rows of the table as test rows. No script saw their labels.",
            grouped(*rows),
            grouped(*of)
        ),
        (None, Some(_)) => String::new(),
        _ => score.not_held_out().map(|why| quoted(&why)).unwrap_or_default(),
    }
}

/// The difference is half the width of the interval: 1.96 standard errors of the difference to a score on the test rows. Test
/// rows of a single table are the held-out rows themselves.
fn few_rows(trust: &trust::Trust) -> Option<String> {
    let rows = trust.holdout_reported_rows.or(rows(trust)).filter(|rows| *rows < FEW_ROWS)?;
    let [low, high] = trust.holdout_interval?;
    let least = (high - low) / 2.0;
    let is_known = least.is_finite() && least > 0.0;
    let other = match trust.holdout {
        Some(Holdout::Test { .. }) => "as many other rows",
        _ => "the test rows",
    };
    is_known.then(|| {
        format!(
            "With {} held-out rows, a score on {other} that differs by less than {} says nothing.",
            grouped(rows),
            rounded(least)
        )
    })
}

fn split_words(context: &Context<'_>, split: &Split) -> String {
    let protocol = context.run.snapshot.frozen.protocol.as_ref();
    let chosen = match protocol {
        Some(Protocol { own_folds: Some(given), .. }) => format!("The folds are those of `{}`.", given.from),
        Some(Protocol { is_papers: true, .. }) => "The agents chose the validation rows.".to_owned(),
        _ => split.instruction(),
    };
    format!("{} {}", quoted(&split.why), quoted(&cut(&chosen, PROSE)))
}

/// A sentence in which names in backticks get quotation marks.
fn quoted(text: &str) -> String {
    sentence(&text.replace('`', "\""))
}

fn choice(context: &Context<'_>, choice: &trust::Choice, equivalence: &str) -> ChoiceView {
    ChoiceView {
        rule: line_of(choice.rule.trim_end_matches('.')),
        candidates: choice.candidates.iter().map(|one| candidate(context, one)).collect(),
        has_held_out: choice.candidates.iter().any(|one| one.holdout.is_some()),
        equivalence: cut(equivalence, PROSE),
    }
}

fn candidate(context: &Context<'_>, one: &trust::ChoiceCandidate) -> Candidate {
    let step = one.place.step().filter(|step| context.steps.at(*step).is_some());
    Candidate {
        name: place_name(&one.place),
        node: step.map(|step| node_id(&step.place())),
        validation: number(one.validation),
        held_out: one.holdout.map(number),
    }
}

fn finding(context: &Context<'_>, finding: &trust::Finding) -> FindingRow {
    let mut effects = context.run.snapshot.effects.iter();
    let ran = effects.any(|effect| effect.kind == Kind::Script && effect.place == finding.place);
    let gate = context.run.snapshot.frozen.config.leakage_gate;
    let (effect, mood) = match finding.severity {
        Severity::Block if gate == LeakageGate::Warn => ("reported", "bad"),
        Severity::Block if ran => ("corrected", "good"),
        Severity::Block => ("no score", "bad"),
        Severity::Warn => ("reported", "soft"),
    };
    FindingRow {
        rule: line_of(&finding.rule),
        effect,
        mood,
        name: place_name(&finding.place),
        line: finding.line,
        text: cut(&finding.text, PROSE),
    }
}

fn probe(probe: &trust::Probe) -> ProbeRow {
    let (verdict, mood) = match probe.verdict {
        ProbeVerdict::Pass => ("passed", "good"),
        ProbeVerdict::Suspect => ("suspect", "bad"),
        ProbeVerdict::Skipped => ("skipped", "soft"),
    };
    ProbeRow { name: line_of(&probe.name), verdict, mood, detail: cut(&probe.detail, PROSE) }
}
