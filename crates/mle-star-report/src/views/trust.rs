//! How far the score of a finished run can be trusted.

mod disclosure;
mod picture;
mod shift;

use std::fmt;

use mle_star::journal::Kind;
use mle_star_domain::config::LeakageGate;
use mle_star_domain::protocol::{Holdout, Split};
use mle_star_domain::trust::{self, ProbeVerdict, Severity};
use serde::Serialize;

use super::context::Context;
use super::steps::node_id;
use crate::cut::{PROSE, cut, line_of};
use crate::figures::{grouped, interval, number, rounded};
use crate::words::place_name;
use picture::Picture;
use shift::Shift;

/// Fewer held-out rows than this get a note.
const FEW_ROWS: u64 = 1000;

/// The part of a run's page about its score.
#[derive(Clone, Debug, Serialize)]
pub struct Trust {
    /// The metric.
    pub metric: String,
    /// The validation score of the chosen solution.
    pub validated: Option<Figure>,
    /// The number of rows that gave it, if they are known.
    pub validation_rows: Option<String>,
    /// The score on held-out rows.
    pub held_out: Option<Figure>,
    /// The number of held-out rows.
    pub rows: Option<String>,
    /// How often predictions for held-out rows were scored.
    pub looks: u64,
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
    /// How well they can be told apart.
    pub shift: Option<Shift>,
    /// The rule that chose the final solution.
    pub rule: String,
    /// The solutions that were compared, the chosen one first.
    pub candidates: Vec<Candidate>,
    /// Whether they were compared on held-out rows.
    pub has_held_out: bool,
    /// Whether the finalized script predicts like the chosen one.
    pub equivalence: String,
    /// What was found in scripts.
    pub findings: Vec<Finding>,
    /// The results of probes.
    pub probes: Vec<Probe>,
    /// What to tell about the score where it is published.
    pub disclosure: String,
}

/// A score with its 95 % interval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Figure {
    /// The score.
    pub score: String,
    /// Its interval, if known.
    pub interval: Option<String>,
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
pub struct Finding {
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
pub struct Probe {
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
pub fn trust(context: &Context<'_>) -> Option<Trust> {
    let result = context.result()?;
    let trust = result.trust.as_ref()?;
    let (verified, verified_mood) = verified(trust);
    Some(Trust {
        metric: result.task.evaluation_metric.clone(),
        validated: validated(trust),
        validation_rows: trust.validation_rows.map(grouped),
        held_out: held_out(trust),
        rows: rows(trust).map(grouped),
        looks: trust.holdout_looks,
        verified,
        verified_mood,
        holdout: holdout(trust),
        few: few_rows(trust).into_iter().chain(few_clusters(trust)).collect(),
        picture: picture::picture(context, trust),
        split: trust.split.as_ref().map(split),
        shift: trust.shift.as_ref().map(shift::shift),
        rule: line_of(trust.choice.rule.trim_end_matches('.')),
        candidates: trust.choice.candidates.iter().map(|one| candidate(context, one)).collect(),
        has_held_out: trust.choice.candidates.iter().any(|one| one.holdout.is_some()),
        equivalence: cut(&trust.equivalence, PROSE),
        findings: trust.findings.iter().map(|one| finding(context, one)).collect(),
        probes: trust.probes.iter().map(probe).collect(),
        disclosure: disclosure::disclosure(result, trust),
    })
}

/// The validation score of the chosen solution.
pub fn validated(trust: &trust::Trust) -> Option<Figure> {
    trust.validation_score.map(|score| Figure::of(score, trust.validation_interval))
}

/// The score on held-out rows.
pub fn held_out(trust: &trust::Trust) -> Option<Figure> {
    trust.holdout_score.map(|score| Figure::of(score, trust.holdout_interval))
}

impl Figure {
    fn of(score: f64, bounds: Option<[f64; 2]>) -> Self {
        Self { score: number(score), interval: bounds.map(interval) }
    }

    /// `0.81230, 95 % interval [0.801, 0.823]`.
    fn in_words(&self) -> String {
        let interval = self.interval.as_ref().map(|interval| format!(", 95 % interval {interval}"));
        format!("{}{}", self.score, interval.unwrap_or_default())
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.interval {
            Some(interval) => write!(f, "{} {interval}", self.score),
            None => f.write_str(&self.score),
        }
    }
}

/// Whether the validation score was recomputed, and how good that is.
fn verified(trust: &trust::Trust) -> (String, &'static str) {
    // A script whose printed score differs has failed, so there is no `Some(false)`.
    if trust.verified.is_some() {
        let words = "The program recomputed the validation score from the script's predictions: same score.";
        return (words.to_owned(), "good");
    }
    let why = trust
        .unverified
        .as_deref()
        .unwrap_or("the script wrote no validation predictions that can be scored");
    (format!("The validation score is not verified. {}", sentence(why)), "soft")
}

fn rows(trust: &trust::Trust) -> Option<u64> {
    match trust.holdout {
        Some(Holdout::Off { .. }) => None,
        Some(Holdout::On { rows, .. }) => Some(rows),
        None => trust.holdout_rows,
    }
}

fn holdout(trust: &trust::Trust) -> String {
    match &trust.holdout {
        Some(Holdout::On { rows, of, .. }) => format!(
            "The program kept {} of {} labelled rows from every script until the final choice.",
            grouped(*rows),
            grouped(*of)
        ),
        Some(Holdout::Off { why }) => format!("No rows were held out. {}", sentence(why)),
        None if trust.holdout_rows.is_some() => String::new(),
        None => "No rows were held out.".to_owned(),
    }
}

/// The difference is half the width of the interval: 1.96 standard errors of the difference to a score on the test rows.
fn few_rows(trust: &trust::Trust) -> Option<String> {
    let rows = rows(trust).filter(|rows| *rows < FEW_ROWS)?;
    let [low, high] = trust.holdout_interval?;
    let least = (high - low) / 2.0;
    let is_known = least.is_finite() && least > 0.0;
    is_known.then(|| {
        format!(
            "With {} held-out rows, a score on the test rows that differs by less than {} says nothing.",
            grouped(rows),
            rounded(least)
        )
    })
}

/// The score and its rows, if they are of too few groups or times.
fn few_clusters(trust: &trust::Trust) -> Vec<String> {
    let Some(split) = &trust.split else { return Vec::new() };
    let column = line_of(split.column.as_deref().unwrap_or_default());
    let of = |rows: &str, clusters: Option<u64>| {
        let values = match clusters? {
            1 => format!("one value of \"{column}\""),
            clusters => format!("{clusters} values of \"{column}\""),
        };
        Some(format!(
            "The {rows} rows have {values}, too few to tell how values differ. The interval is for other rows with the same values: with others, the score may be further away."
        ))
    };
    let both = [of("held-out", trust.holdout_clusters), of("validation", trust.validation_clusters)];
    both.into_iter().flatten().collect()
}

fn split(split: &Split) -> String {
    format!("{} {}", sentence(&split.why), sentence(&cut(&split.instruction(), PROSE)))
}

/// The text as one sentence: a capital, a full stop, no line breaks. Names in backticks get quotation marks.
fn sentence(text: &str) -> String {
    let text = line_of(text.lines().next().unwrap_or_default().trim()).replace('`', "\"");
    let mut letters = text.chars();
    let capital = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    let text = format!("{capital}{}", letters.as_str());
    if text.is_empty() || text.ends_with(['.', '!', '?']) { text } else { format!("{text}.") }
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

fn finding(context: &Context<'_>, finding: &trust::Finding) -> Finding {
    let mut effects = context.run.snapshot.effects.iter();
    let ran = effects.any(|effect| effect.kind == Kind::Script && effect.place == finding.place);
    let gate = context.run.snapshot.frozen.config.leakage_gate;
    let (effect, mood) = match finding.severity {
        Severity::Block if gate == LeakageGate::Warn => ("reported", "bad"),
        Severity::Block if ran => ("corrected", "good"),
        Severity::Block => ("no score", "bad"),
        Severity::Warn => ("reported", "soft"),
    };
    Finding {
        rule: line_of(&finding.rule),
        effect,
        mood,
        name: place_name(&finding.place),
        line: finding.line,
        text: cut(&finding.text, PROSE),
    }
}

fn probe(probe: &trust::Probe) -> Probe {
    let (verdict, mood) = match probe.verdict {
        ProbeVerdict::Pass => ("passed", "good"),
        ProbeVerdict::Suspect => ("suspect", "bad"),
        ProbeVerdict::Skipped => ("skipped", "soft"),
    };
    Probe { name: line_of(&probe.name), verdict, mood, detail: cut(&probe.detail, PROSE) }
}
