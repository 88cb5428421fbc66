//! Ablation studies: their measurements, and the block chosen after each.
//!
//! The output of a study has no fixed format. [`measured`] parses lines that look like a measurement: a part that
//! was removed or changed, and the score without it. If there are none, the output is shown as text.

use mle_star::reply as read;
use mle_star::solution::{Solution, SolutionPhase};
use mle_star_domain::answers::RefinePlan;
use mle_star_domain::metric::{Direction, Score};
use mle_star_domain::place::{self, Name};
use mle_star_domain::role::AgentType;
use serde::Serialize;
use serde_json::{Value, json};

use super::steps::{Step, StepKind};
use super::{Context, RunReport};
use crate::sanitize::first_line;

/// A measurement.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AttemptEffect {
    /// The part that was removed or changed.
    pub part: String,
    /// The score without it.
    pub score: f64,
    /// The baseline score.
    pub baseline: f64,
}

/// The studies that have begun, in order; `None` if there are none.
pub fn ablation(context: &Context<'_>, _: &RunReport) -> Option<Value> {
    let begun = context.steps.of_kind(StepKind::Study).filter(|step| !step.records.is_empty());
    let studies: Vec<Value> = begun.map(|step| study(context, step)).collect();
    (!studies.is_empty()).then(|| studies.into())
}

/// The block that an outer step refines and the first plan for it, as the algorithm takes them from the extractor's
/// replies.
pub fn target(context: &Context<'_>, study: place::Step) -> Option<RefinePlan> {
    let current = context.steps.at(*context.descent.from(study).first()?)?.text()?;
    let solution = Solution::new(current.to_owned(), SolutionPhase::Refined);
    let usable = |plan: RefinePlan| {
        let block = solution.find_block(&plan.code_block).ok().filter(|_| !plan.plan.trim().is_empty())?;
        Some(RefinePlan { code_block: block.as_str().to_owned(), ..plan })
    };
    let plans = |name: Name| -> Vec<RefinePlan> {
        let reply = context.steps.reply(&study.place().named(name));
        reply.and_then(|reply| read::list(&reply, "plans")).map(|found| found.items).unwrap_or_default()
    };
    let again = |call| Name::Again(AgentType::Extractor, call);
    let calls = [Name::Agent(AgentType::Extractor), again(2), again(3)].map(plans);
    let first = calls.iter().filter_map(|plans| plans.first().cloned()).find_map(usable);
    first.or_else(|| calls.into_iter().flatten().find_map(usable))
}

fn study(context: &Context<'_>, step: &Step<'_>) -> Value {
    let direction = context.run.snapshot.frozen.task.metric_direction;
    let output = step.runs.iter().rev().find(|run| run.is_ok()).and_then(|run| run.outcome.as_ref());
    let output = output.map(|outcome| outcome.stdout.text());
    let effects = output.as_deref().map(measured).unwrap_or_default();
    let summary = context.steps.reply(&step.place.named(Name::Agent(AgentType::Summarize)));
    let row = |effect: &AttemptEffect| json!({"of": effect, "gain": gain(effect, direction)});
    json!({
        "place": step.place,
        "effects": effects.iter().map(row).collect::<Vec<_>>(),
        "output": output,
        "summary": summary.as_ref().and_then(read::prose),
        "target": target(context, step.step),
    })
}

/// The gain of the score from the part.
fn gain(effect: &AttemptEffect, direction: Direction) -> f64 {
    let score = |value| Score::new(value, direction);
    score(effect.baseline).zip(score(effect.score)).map_or(0.0, |(with, without)| with.gain_over(without))
}

/// The measurements in a study's output, in order.
pub fn measured(output: &str) -> Vec<AttemptEffect> {
    const BASE: [&str; 4] = ["baseline", "original", "full model", "all features"];
    const PARTS: [&str; 10] =
        ["without", "w/o", "ablat", "remov", "no ", "disabl", "replac", "variant", "drop", "instead"];
    let lines: Vec<(String, Vec<f64>)> = output.lines().filter_map(measurement).collect();
    let says = |label: &str, words: &[&str]| words.iter().any(|word| label.to_lowercase().contains(word));
    let is_base = |label: &str| says(label, &BASE) && !says(label, &["without", "w/o", "ablat"]);
    let common =
        lines.iter().find(|(label, _)| is_base(label)).and_then(|(_, numbers)| numbers.first().copied());
    let effect = |(label, numbers): &(String, Vec<f64>)| {
        let is_part = says(label, &PARTS) && !is_base(label);
        let score = *numbers.first().filter(|_| is_part)?;
        Some(AttemptEffect { part: part_name(label), score, baseline: numbers.get(1).copied().or(common)? })
    };
    let mut effects: Vec<AttemptEffect> = Vec::new();
    for effect in lines.iter().filter_map(effect) {
        // A study that prints a table at its end repeats its measurements.
        if effects.len() < 40 && !effects.iter().any(|known| known.part == effect.part) {
            effects.push(effect);
        }
    }
    effects
}

/// `LABEL: NUMBER`, and the baseline if the same line has `baseline NUMBER`.
fn measurement(line: &str) -> Option<(String, Vec<f64>)> {
    let line = line.trim().trim_start_matches(['-', '*', '•', ' ']);
    let at = line.rmatch_indices([':', '=']).map(|(at, _)| at);
    let (label, rest) =
        at.filter_map(|at| Some((&line[..at], line.get(at + 1..)?))).find(|(label, rest)| {
            !label.contains("baseline ")
                && first_number(rest).is_some()
                && !label.ends_with(|c: char| c.is_ascii_digit())
        })?;
    let score = first_number(rest)?;
    let baseline = rest.split_once("baseline").and_then(|(_, rest)| first_number(rest));
    Some((label.trim().to_owned(), [Some(score), baseline].into_iter().flatten().collect()))
}

/// The number at the beginning of a text, after any punctuation.
fn first_number(text: &str) -> Option<f64> {
    let text = text.trim_start_matches([' ', ':', '=', '(', '*', '\t']);
    let end = text.find(|c: char| !(c.is_ascii_digit() || "+-.eE".contains(c))).unwrap_or(text.len());
    let number: f64 = text[..end].trim_end_matches(['.', 'e', 'E', '-', '+']).parse().ok()?;
    number.is_finite().then_some(number)
}

/// A part's name without words such as "without".
fn part_name(label: &str) -> String {
    let label = first_line(label, 90);
    let short = label.strip_prefix("Without ").or_else(|| label.strip_prefix("without "));
    let name = short.unwrap_or(&label).split(" (").next().unwrap_or_default();
    if short.is_some() { name.to_owned() } else { label.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measurements_are_read_from_what_studies_print() {
        let check = |output: &str, expected: &[(&str, f64, f64)]| {
            let found = measured(output);
            let found: Vec<(&str, f64, f64)> =
                found.iter().map(|effect| (effect.part.as_str(), effect.score, effect.baseline)).collect();
            assert_eq!(found, expected, "{output}");
        };
        check(
            "Without Model: CatBoost (library defaults): 0.71 | baseline 0.72 | difference -0.01",
            &[("Model: CatBoost", 0.71, 0.72)],
        );
        check(
            "Baseline RMSE: 0.5\nAblation 1 (no scaling): 0.6\n- Without PCA: 0.45 (worse)\nTime: 3.2\n",
            &[("Ablation 1 (no scaling)", 0.6, 0.5), ("PCA", 0.45, 0.5)],
        );
        check(
            "**Original model**: 0.9\nRemoving dropout = 0.8\nRemoving dropout = 0.7",
            &[("Removing dropout", 0.8, 0.9)],
        );
        check("Without x: 0.3\n", &[]);
        check("Epoch 1: 0.5\nbaseline: 0.4\nnothing", &[]);
        check("", &[]);
        check("Baseline: nan\nWithout a: 0.1", &[]);
    }
}
