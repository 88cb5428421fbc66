//! Expected agent calls, script runs and cost of a run.

use std::collections::{BTreeMap, BTreeSet};

use mle_star::estimate::{Count, PhaseEstimate, estimate};
use mle_star::money::{DEAREST, Prices, expected_tokens};
use mle_star_domain::config::{AgentsChoice, Config};
use mle_star_domain::role::AgentType;
use mle_star_domain::trouble::Trouble;
use mle_star_report::words::phase_title;
use mle_star_report::{money, usage::is_free};
use mle_star_run::Prepared;
use mle_star_run::prepare::Configured;
use serde::Serialize;
use serde_json::json;

use crate::exit::{Exit, Failure};
use crate::output;

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
    /// The cost of one call, by role.
    call_costs: BTreeMap<AgentType, CallCost>,
    max_budget_usd: Option<f64>,
}

/// The expected cost of one call of a role: an assumed number of tokens at list prices, halved and doubled.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct CallCost {
    model: String,
    /// US dollars, lowest and highest.
    usd: (f64, f64),
    tokens_in: u32,
    tokens_out: u32,
    usd_per_mtok_in: f64,
    usd_per_mtok_out: f64,
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
    let Prepared { task, configured: Configured { config, retrieved_models, .. }, .. } = prepared;
    let phases = estimate(config, task, retrieved_models.as_ref().map(Vec::len));
    let roles = by_role(&phases);
    let (mut calls, mut scripts) = (Count::default(), Count::default());
    phases.iter().for_each(|phase| scripts += phase.scripts);
    roles.values().for_each(|count| calls += *count);
    let mut without_price = BTreeSet::new();
    let mut call_costs: BTreeMap<AgentType, CallCost> = BTreeMap::new();
    for role in roles.keys().filter(|_| !is_free(config.agents)) {
        let model = model(config, *role);
        match price(config, model) {
            Some(price) => drop(call_costs.insert(*role, assumed(*role, model, price))),
            None => drop(without_price.insert(model.to_owned())),
        }
    }
    let is_known = !call_costs.is_empty() && without_price.is_empty();
    let dollars = call_costs.iter().filter_map(|(role, cost)| Some(*roles.get(role)? * cost.usd));
    Ok(Estimate {
        agents: config.agents,
        cost_usd: is_known.then(|| dollars.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1))),
        without_price,
        call_costs,
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

fn model(config: &Config, role: AgentType) -> &str {
    config.agent_models.get(&role).unwrap_or(&config.model)
}

/// The price of a model, in US dollars per million tokens read and written; the dearest for an unknown model of `claude`.
fn price(config: &Config, model: &str) -> Option<(f64, f64)> {
    let is_priced = matches!(config.agents, AgentsChoice::OpenAi | AgentsChoice::Codex);
    let known = Prices::of(config).known(model).or((!is_priced).then_some(DEAREST));
    known.map(|price| (price.input, price.output))
}

fn assumed(role: AgentType, model: &str, (usd_per_mtok_in, usd_per_mtok_out): (f64, f64)) -> CallCost {
    let (tokens_in, tokens_out) = expected_tokens(role);
    let usd = (f64::from(tokens_in) * usd_per_mtok_in + f64::from(tokens_out) * usd_per_mtok_out) / 1e6;
    let (model, usd) = (model.to_owned(), (usd / 2.0, usd * 2.0));
    CallCost { model, usd, tokens_in, tokens_out, usd_per_mtok_in, usd_per_mtok_out }
}

/// An estimate in lines; `repairs` is the most for each script.
pub fn lines(estimate: &Estimate, repairs: u32) -> Vec<String> {
    let mut lines = vec![format!("{:<28} {:>8} {:>8}", "", "fewest", "most")];
    let row = |name: String, count: Count| format!("{name:<28} {:>8} {:>8}", count.fewest, count.most);
    for phase in &estimate.phases {
        let mut calls = Count::default();
        phase.calls.values().for_each(|count| calls += *count);
        lines.push(phase_title(phase.phase));
        lines.push(row("  agent calls".to_owned(), calls));
        lines.extend(phase.calls.iter().map(|(role, count)| row(format!("    {}", role.name()), *count)));
        lines.push(row("  script runs".to_owned(), phase.scripts));
    }
    lines.push("All".to_owned());
    lines.push(row("  agent calls".to_owned(), estimate.calls));
    lines.push(row("  script runs".to_owned(), estimate.scripts));
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
    let mut lines = vec![format!("cost: {} to {}", money::usd(low), money::usd(high))];
    lines.extend(estimate.call_costs.iter().map(|(role, cost)| {
        let (low, high) = (money::usd(cost.usd.0), money::usd(cost.usd.1));
        format!(
            "  {:<14} {} {low} to {high} a call (assumed: {} tokens in at ${} and {} out at ${} a million, half to double)",
            role.name(),
            cost.model,
            money::tokens(cost.tokens_in.into()),
            cost.usd_per_mtok_in,
            money::tokens(cost.tokens_out.into()),
            cost.usd_per_mtok_out
        )
    }));
    let over = estimate.max_budget_usd.filter(|max| *max < high);
    lines.extend(over.map(|max| {
        let how = if max < low { "will" } else { "may" };
        format!("note: max_budget_usd {} {how} end the search early", money::usd(max))
    }));
    lines
}
