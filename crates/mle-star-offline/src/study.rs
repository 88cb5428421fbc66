//! Ablation studies: the script that disables parts, the summary of its output, and the choice of the part to
//! refine.

use serde::Serialize;
use serde_json::json;

use crate::catalogue::{self, Block};
use crate::families::{Family, ScriptModel};
use crate::inputs::{Inputs, fenced};
use crate::portfolio::Model;
use crate::problem::Problem;
use crate::sections::{Script, Section, heading, kind};
use crate::templates::{TemplateError, render};

/// The number of parts in one study.
const PARTS: usize = 3;
/// The share of a study's time that its models are planned to take. Libraries and tables are loaded in the rest.
const TIME_SHARE: f64 = 0.8;
/// A study of fewer rows would say little.
const MIN_ROWS: usize = 1_000;
/// About as many rows of each class are in a sample, so that all folds have some.
const MIN_CLASS_ROWS: f64 = 30.0;

/// One part of a solution, as the ablation template needs it.
#[derive(Clone, Debug, Serialize)]
struct Part {
    kind: String,
    heading: String,
    title: String,
    slug: String,
    /// Model parameters that cannot be left at the library's defaults.
    defaults: &'static str,
    /// The current scale of the target.
    scale: &'static str,
    /// The Python expression for all members.
    members: String,
    /// Python: one more argument of cross-validation, if the model has a history.
    history: String,
    /// The alternative postprocessing, for a docstring and the printed line.
    words: &'static str,
    change: &'static str,
}

/// The ablation script: the solution and two or three variants, each measured. `told` says how long the solution took
/// and how long the study may take.
///
/// # Errors
/// A template is broken.
pub(crate) fn ablation(
    problem: &Problem,
    inputs: Inputs<'_>,
    told: Inputs<'_>,
    path: usize,
) -> Result<String, TemplateError> {
    let Some(mut script) = Script::parse(inputs.text("solution_script")) else {
        return Ok(fenced("print(\"Nothing measured: this script has no parts that can be switched off.\")"));
    };
    let problem = &*problem.seen_by(inputs.text("solution_script"));
    let members = script.members();
    let mut parts = parts(problem, &script);
    // Only a part that a strategy can change is worth measuring.
    parts.retain(|part| script.section(&part.heading).is_some_and(|section| is_refinable(problem, section)));
    let mut parts = studied(&parts, &inputs.texts("previous_ablations"), path);
    if let Some(share) = affordable(told, &parts) {
        if problem.grouping.is_some() || problem.time.is_some() {
            let most = (share * (1 + trained(&parts)) as f64) as usize;
            let mut left = most.saturating_sub(1).max(1);
            parts.retain(|part| {
                let stays = !trains(part) || left > 0;
                left -= usize::from(trains(part) && stays);
                stays
            });
        } else if let Some(after) = script.sections.iter().position(|section| section.heading == "Data") {
            let sample = render("sample", &json!({ "p": problem, "rows": sampled_rows(problem, share) }))?;
            script.sections.insert(after + 1, Section::new(sample));
        }
    }
    let given = given_columns(&script);
    let values = json!({
        "p": problem, "parts": parts, "members": members, "single": members.len() == 1, "given": given,
    });
    let study = render("ablation", &values)?;
    script.remove("Validation");
    script.remove("Submission");
    script.remove("Other rows");
    script.sections.push(Section::new(study));
    Ok(fenced(&script.text()))
}

/// The share of its work that a study has time for; `None` for all of it, and if nothing is known.
fn affordable(told: Inputs<'_>, parts: &[Part]) -> Option<f64> {
    let (seconds, limit) = (told.number_of("current", "seconds")?, told.number("study_limit")?);
    let share = TIME_SHARE * limit / (seconds * (1 + trained(parts)) as f64);
    (share < 1.0).then_some(share)
}

/// The number of parts whose variant trains models.
fn trained(parts: &[Part]) -> usize {
    parts.iter().filter(|part| trains(part)).count()
}

fn trains(part: &Part) -> bool {
    !["Blend", "Postprocessing"].contains(&part.kind.as_str())
}

/// The rows of a study that has time for this share of its work: enough of them, also of the rarest class.
fn sampled_rows(problem: &Problem, share: f64) -> usize {
    let afforded = (share * problem.used_rows as f64) as usize;
    let rare = if problem.rarest > 0.0 { (MIN_CLASS_ROWS / problem.rarest).ceil() as usize } else { 0 };
    afforded.max(MIN_ROWS).max(rare)
}

/// The Python expression for the unchanged columns of the tables.
fn given_columns(script: &Script) -> String {
    let data = script.section("Data").map_or("", |section| section.text.as_str());
    let lists = ["NUMERIC", "CATEGORICAL", "MANY_LEVELS"].into_iter();
    let known = lists.filter(|name| data.contains(&format!("\n{name} = ")));
    format!("[{}\"all_text\", \"terms\"]", known.map(|name| format!("*{name}, ")).collect::<String>())
}

/// The parts measured least often so far, rotated so that paths start with different ones.
fn studied(parts: &[Part], previous: &[&str], path: usize) -> Vec<Part> {
    let mut order: Vec<Part> = parts.to_vec();
    if !order.is_empty() {
        let start = (path * 2) % order.len();
        order.rotate_left(start);
    }
    order.sort_by_key(|part| previous.iter().filter(|text| is_measured(part, text)).count());
    order.truncate(PARTS);
    order
}

fn is_measured(part: &Part, summary: &str) -> bool {
    effects(summary).iter().any(|effect| effect.part == part.heading)
}

/// Every part that can be disabled, the most informative first.
fn parts(problem: &Problem, script: &Script) -> Vec<Part> {
    let columns = &problem.columns;
    let encodes =
        !(columns.categorical.is_empty() && columns.many_levels.is_empty() && columns.texts.is_empty());
    let members = script.members();
    let mut parts = Vec::new();
    for (position, member) in members.iter().enumerate() {
        // Series depend on their history more than on anything else.
        for part in ["History", "Features", "Model", "Encoding"] {
            let heading = format!("{part}: {}", member.title);
            // CatBoost encodes categories itself, and without numbers there would be nothing to fit.
            let possible = match part {
                _ if is_forecast_alone(member) => false,
                "Features" => !columns.numeric.is_empty(),
                "Encoding" => encodes,
                _ => true,
            };
            if possible && script.section(&heading).is_some() {
                let mut made = plain_part(part, &heading);
                (made.title, made.slug) = (member.title.clone(), member.slug.clone());
                made.history =
                    if member.has_history { format!(", history_{}", member.slug) } else { String::new() };
                made.defaults = defaults(&member.slug, problem.classification);
                parts.push(made);
            }
        }
        if position == 0 {
            parts.extend(shared_parts(problem, script));
        }
    }
    parts
}

fn shared_parts(problem: &Problem, script: &Script) -> Vec<Part> {
    let mut parts = Vec::new();
    let members = script.members();
    if members.len() > 1 && script.section("Blend").is_some() {
        parts.push(plain_part("Blend", "Blend"));
    }
    let mut rule = plain_part("Postprocessing", "Postprocessing");
    (rule.words, rule.change) = match (problem.classification, problem.metric.labels) {
        (false, _) => {
            ("Predictions drawn a little towards their mean", "predictions drawn 5 % towards their mean")
        }
        (true, true) => ("Classes weighted by their rarity", "rare classes named as readily as common ones"),
        (true, false) => ("Probabilities made more extreme", "probabilities made more extreme"),
    };
    parts.push(rule);
    if let (Some(section), true) = (script.section("Target"), problem.target_range.0 >= 0.0) {
        let mut target = plain_part("Target", "Target");
        target.scale = if section.text.contains("log1p") { "log" } else { "plain" };
        target.members = in_dictionary(&members);
        parts.push(target);
    }
    parts
}

/// Whether nothing of a model can be left out, because it is the forecast of each series.
fn is_forecast_alone(member: &ScriptModel) -> bool {
    Model::by_slug(&member.slug).is_some_and(|model| model.family == Family::Seasons)
}

/// The Python dictionary of all members and their functions.
fn in_dictionary(members: &[ScriptModel]) -> String {
    let entry = |member: &ScriptModel| format!("{:?}: ({})", member.title, member.functions);
    format!("{{{}}}", members.iter().map(entry).collect::<Vec<_>>().join(", "))
}

fn plain_part(kind: &str, heading: &str) -> Part {
    Part {
        kind: kind.to_owned(),
        heading: heading.to_owned(),
        title: String::new(),
        slug: String::new(),
        defaults: "{}",
        scale: "plain",
        members: String::new(),
        history: String::new(),
        words: "",
        change: "",
    }
}

fn defaults(slug: &str, classification: bool) -> &'static str {
    match Model::by_slug(slug).map(|model| model.family) {
        // With all columns at each split, a wide table would take several times as long as the solution.
        Some(Family::CatBoost) => "{\"iterations\": 100, \"rsm\": tuned.get(\"rsm\")}",
        Some(Family::Linear | Family::TfidfLinear) if classification => "{\"C\": 0.01, \"max_iter\": 3000}",
        Some(Family::Linear | Family::TfidfLinear) => "{\"alpha\": 100.0}",
        _ => "{}",
    }
}

/// A measured part: its heading, the change, and the effect on the score.
struct Effect<'a> {
    part: &'a str,
    change: &'a str,
    score: f64,
    baseline: f64,
}

fn effects(output: &str) -> Vec<Effect<'_>> {
    output.lines().filter_map(effect).collect()
}

fn effect(line: &str) -> Option<Effect<'_>> {
    let rest = line.trim().trim_start_matches("- ").strip_prefix("Without ")?;
    let (named, numbers) = rest.split_once("): ")?;
    let (part, change) = named.split_once(" (")?;
    let (score, rest) = numbers.split_once(" | baseline ")?;
    let baseline = rest.split(" | ").next()?;
    Some(Effect { part, change, score: score.parse().ok()?, baseline: baseline.parse().ok()? })
}

/// A summary of the study.
pub(crate) fn summarize(inputs: Inputs<'_>) -> String {
    let output = inputs.text("raw_result");
    let mut found = effects(output);
    if found.is_empty() {
        let head: String = output.trim().chars().take(600).collect();
        return format!("The study measured no part. It printed: {head}");
    }
    found.sort_by(|a, b| (b.score - b.baseline).abs().total_cmp(&(a.score - a.baseline).abs()));
    let line = |effect: &Effect<'_>| {
        format!(
            "- Without {} ({}): {} | baseline {} | difference {:+.6}",
            effect.part,
            effect.change,
            effect.score,
            effect.baseline,
            effect.score - effect.baseline
        )
    };
    let lines: Vec<String> = found.iter().map(line).collect();
    let most = found.first().map_or("", |effect| effect.part);
    let least = found.last().map_or("", |effect| effect.part);
    format!(
        "The ablation study switched off one part at a time; larger differences mean that more depends on \
         the part.\n{}\n{most} matters most to the score, {least} least.",
        lines.join("\n")
    )
}

/// The part to refine and its first plan, as JSON.
pub(crate) fn extractor(problem: &Problem, inputs: Inputs<'_>, path: usize) -> String {
    let script = Script::split(inputs.text("solution_script"));
    let previous = inputs.texts("previous_code_blocks");
    let blocks = ranked(problem, &script, inputs.text("ablation_summary"), &previous, path);
    let plan = |section: &&Section| {
        let block = Block::read(problem, &section.text);
        let strategy = catalogue::applicable(&block, path).into_iter().next()?;
        Some(json!({ "code_block": section.text, "plan": strategy.plan(), "category": category(section) }))
    };
    let plans: Vec<_> = blocks.iter().filter_map(plan).take(3).collect();
    if plans.is_empty() {
        whole_script(inputs.text("solution_script"))
    } else {
        json!({ "plans": plans }).to_string()
    }
}

/// The category of a section in the extractor's answer.
fn category(section: &Section) -> &'static str {
    match section.kind() {
        "Features" | "History" | "Seasons" => "feature_engineering",
        "Encoding" | "Target" | "Data" => "preprocessing",
        "Model" => "model_selection",
        "Training" => "training",
        "Blend" => "ensemble",
        "Postprocessing" => "postprocessing",
        _ => "other",
    }
}

/// The blocks to refine: new ones first, then by effect. Paths start with different ones.
fn ranked<'a>(
    problem: &Problem,
    script: &'a Script,
    summary: &str,
    previous: &[&str],
    path: usize,
) -> Vec<&'a Section> {
    let mut blocks: Vec<&Section> = script.sections.iter().filter(|s| is_refinable(problem, s)).collect();
    let measured = effects(summary);
    // Several variants of one part count by the smallest effect.
    let size = |section: &Section| {
        let of_part = measured.iter().filter(|effect| effect.part == section.heading);
        of_part.map(|effect| (effect.score - effect.baseline).abs()).reduce(f64::min).unwrap_or(-1.0)
    };
    let times = |section: &Section| previous.iter().filter(|block| same_part(section, block)).count();
    blocks.sort_by(|a, b| size(b).total_cmp(&size(a)));
    blocks.sort_by_key(|section| times(section));
    let fresh = blocks.iter().filter(|section| times(section) == 0).count();
    let chosen = path.min(fresh.saturating_sub(1));
    if chosen < blocks.len() {
        let block = blocks.remove(chosen);
        blocks.insert(0, block);
    }
    blocks
}

/// A script without refinable sections is refined as a whole, if possible.
fn whole_script(script: &str) -> String {
    let plan = "Keep the block as it is. None of the known strategies fits this script.";
    json!({ "plans": [{ "code_block": script.trim_end(), "plan": plan }] }).to_string()
}

fn is_refinable(problem: &Problem, section: &Section) -> bool {
    !catalogue::applicable(&Block::read(problem, &section.text), 0).is_empty()
}

fn same_part(section: &Section, block: &str) -> bool {
    let first = block.lines().find_map(heading);
    first == Some(section.heading.as_str())
        || (first.is_some_and(|other| kind(other) == section.kind()) && block.trim() == section.text.trim())
}
