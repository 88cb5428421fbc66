//! What agent calls cost: prices of models, the longest answers, and estimates where a service reports no cost.
//!
//! An unknown cost counts as much as the dearest call of its agent so far, or by price and tokens. A [`CostEstimator`] knows
//! what the calls of a run have cost; the limits and the sums of a run use the same one.

use std::collections::{BTreeMap, HashMap};

use mle_star_domain::config::{AgentsChoice, Config, Price};
use mle_star_domain::effects::Usage;
use mle_star_domain::role::AgentType;

/// US dollars per million tokens, read and written, by a part of the name of a model of `claude`.
const CLAUDE: [(&str, f64, f64); 3] = [("opus", 5.0, 25.0), ("sonnet", 3.0, 15.0), ("haiku", 1.0, 5.0)];
/// The price of a model of which nothing is known: the dearest of them.
pub const HIGHEST_PRICE: Price = Price { input: 5.0, output: 25.0, cached_input: None };
/// The most tokens that one answer has, as `claude` asks for them.
const MAX_ANSWER_TOKENS: u64 = 128_000;
/// The fewest bytes that one token of a prompt stands for.
const BYTES_PER_TOKEN: f64 = 3.0;
/// The price of tokens written to a cache for an hour, as a multiple of that of tokens read.
const TO_CACHE: f64 = 2.0;

/// The prices of the models of a run.
#[derive(Clone, Debug)]
pub struct Prices {
    agents: AgentsChoice,
    by_model: BTreeMap<String, Price>,
    /// The most tokens that one answer has.
    longest_answer: u64,
    /// Whether a model without a price has the dearest one, because a budget must hold.
    is_limited: bool,
}

/// An estimator of unknown costs, which knows what the calls of a run have cost, by agent.
#[derive(Clone, Debug)]
pub struct CostEstimator {
    prices: Prices,
    /// The most that a call of each agent is known to have cost.
    dearest: HashMap<AgentType, f64>,
}

/// What the cost of a call depends on.
#[derive(Clone, Copy, Debug)]
pub struct CallKey<'a> {
    /// The agent.
    pub agent: AgentType,
    /// The model that is asked.
    pub model: &'a str,
    /// The length of its prompts in bytes; 0 if that is not known any more.
    pub prompt_bytes: usize,
}

impl Prices {
    /// The prices of a run.
    pub fn of(config: &Config) -> Self {
        let most = config.openai.max_tokens.filter(|_| config.agents == AgentsChoice::OpenAi);
        Self {
            agents: config.agents,
            by_model: config.prices.clone(),
            longest_answer: most.unwrap_or(MAX_ANSWER_TOKENS),
            is_limited: config.max_budget_usd.is_some(),
        }
    }

    /// The price of a model, if it is known.
    pub fn known_price(&self, model: &str) -> Option<Price> {
        match self.agents {
            AgentsChoice::Offline | AgentsChoice::Files => {
                Some(Price { input: 0.0, output: 0.0, cached_input: None })
            }
            AgentsChoice::OpenAi | AgentsChoice::Codex => self.by_model.get(model).copied(),
            AgentsChoice::Auto | AgentsChoice::Claude => {
                let lower = model.to_lowercase();
                let family = CLAUDE.iter().find(|(name, ..)| lower.contains(name));
                family.map(|(_, input, output)| Price { input: *input, output: *output, cached_input: None })
            }
        }
    }

    /// The price to count with: the dearest one for an unknown model in a run with a budget.
    fn counted(&self, model: &str) -> Option<Price> {
        self.known_price(model).or_else(|| self.is_limited.then_some(HIGHEST_PRICE))
    }
}

impl CostEstimator {
    /// Without any call.
    pub fn new(prices: Prices) -> Self {
        Self { prices, dearest: HashMap::new() }
    }

    /// Counts what a call is known to have cost.
    pub fn count(&mut self, agent: AgentType, usage: &Usage) {
        // A call that was not asked, or that another run paid, has no tokens and tells nothing of the next one.
        let tells = |cost: &f64| if *cost == 0.0 { usage.output > 0 } else { *cost > usage.estimated_usd };
        let Some(cost) = usage.cost_usd.filter(tells) else { return };
        let dearest = self.dearest.entry(agent).or_insert(0.0);
        *dearest = dearest.max(cost - usage.estimated_usd);
    }

    /// What a call is expected to cost: the most that one of its agent did; before the first, what its agent usually
    /// needs at the price of the model, but at most what the dearest call of the run cost.
    pub fn expected(&self, call: &CallKey<'_>) -> f64 {
        let usual = || usual_cost(call, self.prices.known_price(call.model).unwrap_or(HIGHEST_PRICE));
        let at_most = self.dearest_of_all().unwrap_or(f64::INFINITY);
        self.dearest(call.agent).unwrap_or_else(|| usual().min(at_most))
    }

    /// The most that a call of this agent is known to have cost.
    fn dearest(&self, agent: AgentType) -> Option<f64> {
        self.dearest.get(&agent).copied()
    }

    fn dearest_of_all(&self) -> Option<f64> {
        self.dearest.values().copied().reduce(f64::max)
    }

    /// The most that a call costs which gets one answer, in US dollars: its prompt and the longest answer, or what a call
    /// of its agent has cost.
    pub fn most(&self, call: &CallKey<'_>) -> f64 {
        let price = self.prices.known_price(call.model).unwrap_or(HIGHEST_PRICE);
        #[expect(clippy::cast_precision_loss, reason = "no answer is that long")]
        let answer = self.prices.longest_answer as f64 * price.output;
        ((read(call) * price.input + answer) / 1e6).max(self.dearest(call.agent).unwrap_or(0.0))
    }

    /// What a call cost of whose answer nothing is known, estimated upwards; `None` without any price.
    pub fn estimate(&self, call: &CallKey<'_>) -> Option<f64> {
        let known = self.dearest(call.agent).filter(|usd| *usd > 0.0);
        let by_price = || Some(usual_cost(call, self.prices.counted(call.model)?));
        let of_all = || self.dearest_of_all().filter(|usd| *usd > 0.0);
        known.or_else(by_price).or_else(of_all)
    }

    /// The usage of a call, with an estimate for the part of its cost that is unknown.
    #[must_use]
    pub fn completed(&self, call: &CallKey<'_>, usage: Usage) -> Usage {
        let missing = usage.unpriced();
        // Where something is known, it is not known which tokens it paid for.
        let by_tokens = usage.cost_usd.is_none().then(|| self.price_of_tokens(call.model, &usage)).flatten();
        let rest = f64::from(missing.saturating_sub(u32::from(by_tokens.is_some())));
        let estimate = match (missing, by_tokens) {
            (0, _) => return usage,
            (1, Some(usd)) => Some(usd),
            (_, usd) => self.estimate(call).map(|each| each * rest + usd.unwrap_or(0.0)),
        };
        let Some(estimate) = estimate else { return usage };
        Usage {
            cost_usd: Some(usage.cost_usd.unwrap_or(0.0) + estimate),
            estimated_usd: usage.estimated_usd + estimate,
            unpriced: 0,
            ..usage
        }
    }

    /// What reported tokens cost; `None` without any.
    fn price_of_tokens(&self, model: &str, usage: &Usage) -> Option<f64> {
        let price = self.prices.counted(model).filter(|_| usage.output > 0)?;
        #[expect(clippy::cast_precision_loss, reason = "no call has that many tokens")]
        let [input, output, cached, to_cache] =
            [usage.input, usage.output, usage.cache_read, usage.cache_write].map(|tokens| tokens as f64);
        Some(cost_of_tokens(&price, input + to_cache * TO_CACHE, cached, output))
    }
}

/// What so many tokens cost that are read, read from a cache, and written, in US dollars.
pub(crate) fn cost_of_tokens(price: &Price, read: f64, cached: f64, written: f64) -> f64 {
    let of_cache = price.cached_input.unwrap_or(price.input);
    (read * price.input + cached * of_cache + written * price.output) / 1e6
}

/// What a call usually costs at a price, with an answer that is longer than most.
fn usual_cost(call: &CallKey<'_>, price: Price) -> f64 {
    let written = 2.0 * f64::from(expected_tokens(call.agent).1);
    (read(call) * price.input + written * price.output) / 1e6
}

/// The tokens that a call reads: those of its prompts, and what its agent usually reads with its tools.
fn read(call: &CallKey<'_>) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "no prompt is that long")]
    let prompt = call.prompt_bytes as f64 / BYTES_PER_TOKEN;
    prompt.max(f64::from(expected_tokens(call.agent).0))
}

/// Tokens that a call of an agent usually reads and writes, thinking included: estimated from the prompts and usual
/// scripts.
pub fn expected_tokens(agent: AgentType) -> (u32, u32) {
    match agent {
        AgentType::Retriever => (40_000, 4_000),
        AgentType::Init | AgentType::Test | AgentType::Data => (6_000, 3_000),
        AgentType::Merger | AgentType::Ablation => (6_000, 4_000),
        AgentType::Summarize | AgentType::Leakage => (5_000, 1_000),
        AgentType::Extractor => (6_000, 2_000),
        AgentType::Coder => (3_000, 2_000),
        AgentType::Planner => (3_000, 1_000),
        AgentType::EnsPlanner => (10_000, 1_500),
        AgentType::Ensembler => (10_000, 5_000),
        AgentType::Debugger => (10_000, 4_000),
    }
}

#[cfg(test)]
mod tests;
