//! The disclosure as text.

use std::fmt::Write as _;

use mle_star_domain::config::Switch;
use mle_star_domain::protocol::Holdout;
use mle_star_report::figures::{count, duration, grouped};
use mle_star_report::money;
use mle_star_report::sanitize::one_line;

use super::{DisclosedRun, Disclosure, Versions};
use crate::bench::folder::Hardware;

/// The text, in Markdown.
pub fn text(disclosure: &Disclosure) -> String {
    let sections = [
        opening(disclosure),
        hardware(disclosure),
        models(disclosure),
        network(disclosure),
        looks(disclosure),
        hidden(disclosure),
        versions(disclosure),
        runs(disclosure),
    ];
    sections.join("\n")
}

fn opening(disclosure: &Disclosure) -> String {
    let runs = count(disclosure.runs.len() as u64, "run");
    let budgets: Vec<String> =
        disclosure.budgets_seconds.iter().flatten().map(|budget| format!("{budget} s")).collect();
    let budgets = match budgets.as_slice() {
        [] => "the settings' own".to_owned(),
        some => some.join(", "),
    };
    let seeds: Vec<String> = disclosure.seeds.iter().map(u32::to_string).collect();
    let tasks: Vec<String> = disclosure.tasks.iter().map(|task| one_line(&task.name)).collect();
    let open = if disclosure.complete { "" } else { " The bench is not complete." };
    format!(
        "# Disclosure\n\n{runs} of mle-star {}, agents: {}.{open} All details are in `disclosure.json`.\n\n\
         - Tasks: {}\n- Time limits: {budgets}\n- Seeds: {}. A seed draws the held-out rows, the folds that agents are told \
         to use, and the scripts of the offline agents. Language models draw their answers themselves.\n",
        disclosure.program,
        disclosure.agents,
        tasks.join(", "),
        seeds.join(", ")
    )
}

fn hardware(disclosure: &Disclosure) -> String {
    let mut text = "## Hardware\n\n".to_owned();
    for (number, machine) in disclosure.hardware.iter().enumerate() {
        let _ = writeln!(text, "- Machine {number}: {}", machine_words(machine));
    }
    let most = disclosure.runs.iter().map(|run| run.spent.side_by_side).max().unwrap_or(1);
    let _ = writeln!(text, "- Runs at once: {most}");
    text
}

fn machine_words(machine: &Hardware) -> String {
    let gpus: Vec<String> = machine
        .gpus
        .iter()
        .map(|gpu| format!("{} ({} MiB)", one_line(&gpu.name), grouped(gpu.memory_mib)))
        .collect();
    let gpus = if gpus.is_empty() { "no GPU".to_owned() } else { gpus.join(", ") };
    let processor = if machine.processor.is_empty() { "unknown processor" } else { &machine.processor };
    format!(
        "{}, {} cores, {} MiB of memory, {gpus}, {}",
        one_line(processor),
        machine.cores,
        grouped(machine.memory_mib),
        machine.platform
    )
}

fn models(disclosure: &Disclosure) -> String {
    let mut text = "## Tokens and money\n\n".to_owned();
    if disclosure.models.is_empty() {
        text.push_str("No language model was used.\n");
        return text;
    }
    text.push_str(
        "| model | calls | tokens in | of these cached | tokens out | cost |\n|---|---|---|---|---|---|\n",
    );
    for (model, calls) in &disclosure.models {
        let usage = &calls.usage;
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} |",
            one_line(model),
            calls.calls,
            grouped(money::tokens_in(usage)),
            grouped(usage.cache_read),
            grouped(usage.output),
            money::cost_of(usage)
        );
    }
    let cut: u64 = disclosure.runs.iter().map(|run| run.spent.interrupted_calls).sum();
    if cut > 0 {
        let _ = writeln!(text, "\nInterrupted calls, which the table lacks: {cut}.");
    }
    text
}

fn network(disclosure: &Disclosure) -> String {
    let count = |holds: fn(&DisclosedRun) -> bool| disclosure.runs.iter().filter(|run| holds(run)).count();
    let of = disclosure.runs.len();
    let scripts = count(|run| run.network.scripts == Switch::On);
    let search = count(|run| run.network.search == Switch::On);
    let lookups: usize = disclosure.runs.iter().map(|run| run.network.lookups).sum();
    format!(
        "## Network\n\n- Scripts could use a network in {scripts} of {of} runs.\n- The retriever could search the web in \
         {search} of {of} runs; it made {lookups} requests.\n"
    )
}

fn looks(disclosure: &Disclosure) -> String {
    let looks: u64 = disclosure.runs.iter().map(|run| run.labels.holdout_looks).sum();
    let holds_out = |holdout: &Holdout| holdout.rows().is_some();
    let with =
        disclosure.runs.iter().filter(|run| run.labels.holdout.as_ref().is_some_and(holds_out)).count();
    format!(
        "## Looks at held-out rows\n\nThe program kept labelled rows from all scripts until the final choice in {with} of {} \
         runs. Predictions for them were scored {looks} times in all; no agent saw a result.\n",
        disclosure.runs.len()
    )
}

fn hidden(disclosure: &Disclosure) -> String {
    let hidden = &disclosure.hidden_answers;
    let mut text = "## Hidden answers\n\n".to_owned();
    if hidden.graded_runs == 0 {
        text.push_str("No submission was graded with hidden answers.\n");
        return text;
    }
    let graded = count(hidden.graded_runs as u64, "run");
    let were = if hidden.graded_runs == 1 { "was" } else { "were" };
    let gradings = count(hidden.gradings, "time");
    let _ = writeln!(text, "{graded} {were} graded, {gradings} in all.\n");
    match hidden.statement {
        Some(statement) => text.push_str(statement),
        None => text
            .push_str("A statement that no signal from the hidden answers reached the agents is not made."),
    }
    text.push_str("\n\n");
    for check in &hidden.checks {
        let verdict = if check.holds { "holds" } else { "**not shown**" };
        let _ = writeln!(text, "- {} ({verdict}: {})", check.claim, check.evidence);
    }
    text
}

fn versions(disclosure: &Disclosure) -> String {
    let mut lines: Vec<String> = Vec::new();
    for versions in disclosure.runs.iter().flat_map(|run| &run.made_of.versions) {
        let Versions { mle_star, python, platform, claude, codex } = versions;
        let agents = [("claude", claude), ("codex", codex)].into_iter();
        let agents = agents.filter_map(|(name, version)| Some(format!(", {name} {}", version.as_ref()?)));
        let line =
            format!("- mle-star {mle_star}, Python {python}{}, {platform}", agents.collect::<String>());
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines.extend(
        disclosure.libraries.values().map(|libraries| format!("- Libraries: {}", libraries.join(", "))),
    );
    lines.extend(disclosure.configurations.keys().map(|digest| format!("- Configuration `{digest}`")));
    format!("## Versions\n\n{}\n", lines.join("\n"))
}

fn runs(disclosure: &Disclosure) -> String {
    let mut text = "## Runs\n\n| run | limit | time | machine | valid | looks | gradings | submission |\n|---|---|---|---|---|---|---|---|\n".to_owned();
    for run in &disclosure.runs {
        let machines: Vec<String> = run.spent.hardware.iter().map(usize::to_string).collect();
        let digest = run.made_of.digests.get("final/submission.csv").map_or("-", String::as_str);
        let _ = writeln!(
            text,
            "| {} | {} s | {} | {} | {} | {} | {} | {} |",
            run.run,
            run.spent.limit_seconds,
            duration(run.spent.seconds),
            machines.join(", "),
            if run.valid { "yes" } else { "no" },
            run.labels.holdout_looks,
            run.labels.gradings,
            digest
        );
    }
    text.push_str("\nDigests are BLAKE3. Those of journals, logs and scripts are in `disclosure.json`.\n");
    text
}
