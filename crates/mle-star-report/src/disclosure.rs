//! A text about the score for papers and model cards.

use mle_star::journal::in_words;
use mle_star::result::FinalResult;
use mle_star_domain::answers::Retrieval;
use mle_star_domain::config::{AgentsChoice, Config, LeakageGate, Switch};
use mle_star_domain::protocol::Holdout;
use mle_star_domain::trust::{Probe, ProbeVerdict, Severity, Trust};

use crate::cut::{line_of, sentence};
use crate::figures::grouped;
use crate::score_report::{FewClusters, ScoreReport, leak};
use crate::words::agent_name;

/// The text, one statement per line.
pub fn disclosure(result: &FinalResult, trust: &Trust) -> String {
    let score = ScoreReport::of_trust(trust);
    let statements = [
        task(result),
        validated(&score, trust.validation_rows),
        held_out(&score),
        rows(result, trust, &score),
        choice(trust),
        checks(result, trust),
        network(result),
        search(result),
        models(&result.config),
        format!("Versions: {}.", in_words(&result.made_with)),
        seeds(trust),
    ];
    statements.join("\n")
}

/// What the rules, the agent and the probes found.
fn checks(result: &FinalResult, trust: &Trust) -> String {
    let probe = |probe: &Probe| {
        let verdict = match probe.verdict {
            ProbeVerdict::Pass => "passed",
            ProbeVerdict::Suspect => "suspect",
            ProbeVerdict::Skipped => "not carried out",
        };
        format!("; probe {}: {verdict}", line_of(&probe.name))
    };
    let probes: String = trust.probes.iter().map(probe).collect();
    let suspected = leak(result.leakage_suspected).map(|leak| format!(" {}", sentence(leak)));
    let suspected = suspected.unwrap_or_default();
    format!("Leakage: {}{probes}.{suspected}", rules(result.config.leakage_gate, trust))
}

fn rules(gate: LeakageGate, trust: &Trust) -> String {
    let leaks = trust.findings.iter().filter(|finding| finding.severity == Severity::Block).count();
    match (gate, leaks) {
        (LeakageGate::Off, _) => "scripts were not checked by rules".to_owned(),
        (_, 0) => "rules found no leak in the scripts that were scored".to_owned(),
        (LeakageGate::Warn, 1) => {
            "rules found one leak in a script, which was scored nevertheless".to_owned()
        }
        (LeakageGate::Warn, leaks) => {
            format!("rules found {leaks} leaks in scripts, which were scored nevertheless")
        }
        (LeakageGate::Block, 1) => "rules found one leak in a script before it was scored".to_owned(),
        (LeakageGate::Block, leaks) => {
            format!("rules found {leaks} leaks in scripts before they were scored")
        }
    }
}

fn task(result: &FinalResult) -> String {
    let task = &result.task;
    format!(
        "Task: {}; metric: {}, {} is better.",
        line_of(&task.competition_id),
        line_of(&task.evaluation_metric),
        task.metric_direction.comparative()
    )
}

fn validated(score: &ScoreReport, rows: Option<u64>) -> String {
    let Some(figure) = score.validated() else {
        return "The final solution has no validation score.".to_owned();
    };
    let rows = rows.map(|rows| format!(" on {} rows", grouped(rows)));
    let few = score.few.iter().map(FewClusters::words);
    let periods = [score.by_period(), score.without_interval()].into_iter().flatten();
    let sentences: Vec<String> =
        [score.verification()].into_iter().chain(periods).chain(few).map(|words| sentence(&words)).collect();
    format!(
        "Validation score of the final solution{}: {}. {}",
        rows.unwrap_or_default(),
        figure.in_words(),
        sentences.join(" ")
    )
}

fn held_out(score: &ScoreReport) -> String {
    match score.held_out() {
        Some(figure) => {
            let part =
                score.reported_part().map(|words| format!(" {}", sentence(&words))).unwrap_or_default();
            format!("Score on held-out rows: {}.{part}", figure.in_words())
        }
        None => "There is no score on held-out rows.".to_owned(),
    }
}

fn rows(result: &FinalResult, trust: &Trust, score: &ScoreReport) -> String {
    let looks = match trust.holdout_looks {
        1 => "once".to_owned(),
        looks => format!("{looks} times"),
    };
    match &trust.holdout {
        // More rows than those may be left out beside a held-out period.
        Some(Holdout::On { rows, of, period, .. }) => format!(
            "Before the final choice, agents and scripts could use {}{} of {} labelled rows; {}{} were held out. \
             Predictions for held-out rows were scored {looks}.{}",
            if *period { "at most " } else { "" },
            grouped(of.saturating_sub(*rows)),
            grouped(*of),
            if *period { "" } else { "the other " },
            grouped(*rows),
            within_reach(result)
        ),
        Some(Holdout::Test { rows, of, .. }) => format!(
            "Agents and scripts could use {} of the {} labelled rows of a single table; the other {} are the test table, whose \
             labels they could not see. The predictions for them were scored {looks}.{}",
            grouped(of.saturating_sub(*rows)),
            grouped(*of),
            grouped(*rows),
            within_reach(result)
        ),
        Some(Holdout::Off { .. }) => {
            let why = score.not_held_out().unwrap_or_default();
            format!("Agents and scripts could use all labelled rows. {}", sentence(&why))
        }
        None => "The rows that agents and scripts could use are not recorded.".to_owned(),
    }
}

fn choice(trust: &Trust) -> String {
    let compared = match trust.choice.candidates.len() {
        0 | 1 => String::new(),
        count => format!(" {count} solutions were compared."),
    };
    format!("The final solution was chosen by this rule: {}{compared}", sentence(&trust.choice.rule))
}

/// Who might have read the labels of held-out rows, in sentences after a blank.
fn within_reach(result: &FinalResult) -> String {
    let is_open = result.made_with.iter().any(|made| made.kept_from.is_some_and(|kept| !kept.other_files));
    let scripts = match is_open {
        true => " Nothing on the machine kept scripts from looking for the labels of held-out rows.",
        false => "",
    };
    let agents = match result.config.agents {
        AgentsChoice::Claude | AgentsChoice::Auto => {
            " The agent that repairs scripts could run commands, which the program checks but does not isolate."
        }
        _ => "",
    };
    format!("{scripts}{agents}")
}

fn network(result: &FinalResult) -> String {
    let known: Option<Vec<bool>> =
        result.made_with.iter().map(|made| made.kept_from.map(|kept| kept.network)).collect();
    let words = match (result.config.network, known.as_deref()) {
        (Switch::On, _) => "The scripts could use the network.",
        (Switch::Off, Some([_, ..])) if known.iter().flatten().all(|kept| *kept) => {
            "The scripts could not use the network."
        }
        (Switch::Off, Some([_, ..])) => {
            "The scripts were not allowed to use the network, but the machine did not close all of it."
        }
        (Switch::Off, _) => "The scripts were not allowed to use the network.",
    };
    words.to_owned()
}

fn search(result: &FinalResult) -> String {
    let lookups = result.phase1.lookups.len();
    let words = match (result.phase1.retrieval, result.config.search) {
        (Retrieval::Rules, _) => {
            "The models to try come from rules built into the program; the web was not searched"
        }
        (Retrieval::File, _) => "The models to try were given in a file; the web was not searched",
        (Retrieval::Web, _) => "The retriever searched the web for models",
        (Retrieval::Knowledge, Switch::On) => {
            "The retriever could search the web; its models come from its own knowledge"
        }
        (Retrieval::Knowledge, Switch::Off) => "The retriever could not search the web",
    };
    match lookups {
        0 => format!("{words}."),
        1 => format!("{words} (1 request)."),
        _ => format!("{words} ({lookups} requests)."),
    }
}

fn models(config: &Config) -> String {
    match config.agents {
        AgentsChoice::Offline => return "No language model was used.".to_owned(),
        AgentsChoice::Files => return "People or other programs answered the agents' prompts.".to_owned(),
        AgentsChoice::Auto | AgentsChoice::Claude | AgentsChoice::OpenAi | AgentsChoice::Codex => {}
    }
    let own = config.agent_models.iter();
    let own: String =
        own.map(|(agent, model)| format!("; of {}: {}", agent_name(*agent), line_of(model))).collect();
    format!("Model of the agents: {}{own}.", line_of(&config.model))
}

fn seeds(trust: &Trust) -> String {
    let of_holdout = match &trust.holdout {
        Some(Holdout::On { seed, digest, .. } | Holdout::Test { seed, digest, .. }) => {
            format!(
                " The held-out rows were chosen with seed {seed}; digest of their IDs: {}.",
                line_of(digest)
            )
        }
        _ => String::new(),
    };
    format!("Every script ran with PYTHONHASHSEED=0; the script sets all other seeds.{of_holdout}")
}
