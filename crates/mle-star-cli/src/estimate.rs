//! Expected agent calls, script runs and cost of a run.

use std::collections::{BTreeMap, BTreeSet};

use mle_star::estimate::{Count, PhaseEstimate, estimate};
use mle_star::money::{HIGHEST_PRICE, Prices, expected_tokens};
use mle_star_domain::config::{AgentsChoice, Config};
use mle_star_domain::role::AgentType;
use mle_star_domain::trouble::Trouble;
use mle_star_report::words::phase_title;
use mle_star_report::{money, usage::is_free};
use mle_star_run::Prepared;
use mle_star_run::prepare::RunSettings;
use serde::Serialize;
use serde_json::json;

use crate::exit::{Exit, Failure};
use crate::output;
use crate::table::Table;

/// The estimate for a run.
#[derive(Debug, Serialize)]
pub struct Estimate {
    agents: AgentsChoice,
    phases: Vec<PhaseEstimate>,
    pub calls: Count,
    pub scripts: Count,
    /// US dollars, lowest and highest; `None` for agents that are free, and if a price is unknown.
    pub cost_usd: Option<(f64, f64)>,
    /// Models whose prices are unknown.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub without_price: BTreeSet<String>,
    max_budget_usd: Option<f64>,
}

/// Prints the estimate; creates no run folder.
///
/// # Errors
/// The offline agents cannot solve the task, or JSON cannot be written.
pub fn print(prepared: &Prepared) -> Result<Exit, Failure> {
    let estimate = of(prepared)?;
    if prepared.configured.invocation.json {
        let mut whole = serde_json::to_value(&estimate).unwrap_or_default();
        whole["task"] = json!(prepared.task);
        whole["guesses"] = json!(prepared.guesses);
        whole["notes"] = json!(prepared.lines());
        output::json(&whole)?;
    } else {
        prepared.lines().iter().for_each(|line| output::talk(line));
        prepared.guesses.iter().for_each(|guess| output::talk(&format!("  {guess}")));
        let most = prepared.configured.config.max_debug_attempts;
        lines(&estimate, most).iter().for_each(|line| output::shown(line));
    }
    Ok(Exit::Done)
}

/// The estimate for a run.
///
/// # Errors
/// The offline agents cannot solve the task.
pub fn of(prepared: &Prepared) -> Result<Estimate, Trouble> {
    prepared.rules()?;
    let Prepared { task, configured: RunSettings { config, retrieved_models, .. }, .. } = prepared;
    let phases = estimate(config, task, retrieved_models.as_ref().map(Vec::len));
    let roles = by_role(&phases);
    let (mut calls, mut scripts) = (Count::default(), Count::default());
    phases.iter().for_each(|phase| scripts += phase.scripts);
    roles.values().for_each(|count| calls += *count);
    let paid = roles.iter().filter(|_| !is_free(config.agents));
    let mut without_price = BTreeSet::new();
    let mut cost_usd = None;
    for (role, count) in paid {
        let model = config.agent_models.get(role).unwrap_or(&config.model);
        match cost(config, *role, model) {
            Some(of_call) => {
                let ((low, high), (least, most)) = (cost_usd.unwrap_or_default(), *count * of_call);
                cost_usd = Some((low + least, high + most));
            }
            None => drop(without_price.insert(model.clone())),
        }
    }
    Ok(Estimate {
        agents: config.agents,
        cost_usd: cost_usd.filter(|_| without_price.is_empty()),
        without_price,
        max_budget_usd: config.max_budget_usd,
        phases,
        calls,
        scripts,
    })
}

fn by_role(phases: &[PhaseEstimate]) -> BTreeMap<AgentType, Count> {
    let mut roles: BTreeMap<AgentType, Count> = BTreeMap::new();
    for (role, count) in phases.iter().flat_map(|phase| &phase.calls) {
        *roles.entry(*role).or_default() += *count;
    }
    roles
}

/// The expected cost of one call, in US dollars, lowest and highest: an assumed number of tokens at the price of the model,
/// halved and doubled. An unknown model of `claude` has the dearest price.
fn cost(config: &Config, role: AgentType, model: &str) -> Option<(f64, f64)> {
    let is_priced = matches!(config.agents, AgentsChoice::OpenAi | AgentsChoice::Codex);
    let price = Prices::of(config).known_price(model).or((!is_priced).then_some(HIGHEST_PRICE))?;
    let (tokens_in, tokens_out) = expected_tokens(role);
    let usd = (f64::from(tokens_in) * price.input + f64::from(tokens_out) * price.output) / 1e6;
    Some((usd / 2.0, usd * 2.0))
}

/// An estimate in lines; `repairs` is the most for each script.
pub fn lines(estimate: &Estimate, repairs: u32) -> Vec<String> {
    let of_phase = |phase: &PhaseEstimate| {
        let mut calls = Count::default();
        phase.calls.values().for_each(|count| calls += *count);
        (phase_title(phase.phase), calls, phase.scripts)
    };
    let mut rows: Vec<(String, Count, Count)> = estimate.phases.iter().map(of_phase).collect();
    rows.push(("All".to_owned(), estimate.calls, estimate.scripts));
    let range = |count: Count| Some(format!("{} to {}", count.fewest, count.most));
    let mut lines = Table::of(&rows)
        .text("", 0, |(phase, ..)| Some(phase.clone()))
        .number("agent calls", 0, |(_, calls, _)| range(*calls))
        .number("script runs", 0, |(.., scripts)| range(*scripts))
        .lines(None);
    lines.push(format!(
        "fewest: every script works at once; most: {repairs} repairs of every script, and a leakage fix before every run"
    ));
    lines.push(String::new());
    lines.extend(cost_lines(estimate));
    lines
}

fn cost_lines(estimate: &Estimate) -> Vec<String> {
    if !estimate.without_price.is_empty() {
        let models: Vec<&str> = estimate.without_price.iter().map(String::as_str).collect();
        return vec![format!("cost: unknown, because prices has no entry for {}", models.join(", "))];
    }
    let Some((low, high)) = estimate.cost_usd else {
        let why = match estimate.agents {
            AgentsChoice::Files => "answers from files are free",
            _ => "the offline agents use no language model",
        };
        return vec![format!("cost: none, {why}")];
    };
    let (least, most) = (money::usd(low), money::usd(high));
    let mut lines = vec![format!(
        "cost: {least} to {most}, by list prices and the tokens of usual calls, half to double"
    )];
    let over = estimate.max_budget_usd.filter(|max| *max < high);
    lines.extend(over.map(|max| {
        let how = if max < low { "will" } else { "may" };
        format!("note: max_budget_usd {} {how} end the search early", money::usd(max))
    }));
    lines
}
