//! Expected cost and time of one agent call, from earlier runs with the same model, else from assumptions.

use std::collections::HashMap;
use std::path::Path;

use mle_star::journal::{self, EffectRecord, Kind};
use mle_star::money::expected_tokens;
use mle_star::spending::{role, was_made};
use mle_star_domain::role::AgentType;
use serde::Serialize;

use mle_star_run::runs;

/// Cost and time of calls and scripts in the runs of a runs directory.
#[derive(Debug, Default)]
pub struct History {
    /// US dollars by role and model, of calls with a known cost.
    costs: HashMap<(AgentType, String), Vec<f64>>,
    /// Seconds by role and model.
    seconds: HashMap<(AgentType, String), Vec<f64>>,
    /// Seconds of scripts for the same task.
    scripts: Vec<f64>,
}

/// The cost of one call of a role.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CallCost {
    /// The model.
    pub model: String,
    /// US dollars: the 10th and the 90th percentile.
    pub usd: (f64, f64),
    /// The source of the estimate.
    pub source: Source,
}

/// The source of an estimate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Source {
    /// Calls in earlier runs.
    Journals {
        /// Number of calls.
        calls: usize,
    },
    /// An assumed number of tokens at list prices, halved and doubled.
    Assumed {
        /// Tokens read by one call.
        tokens_in: u32,
        /// Tokens written by one call.
        tokens_out: u32,
        /// US dollars per million tokens read.
        usd_per_mtok_in: f64,
        /// US dollars per million tokens written.
        usd_per_mtok_out: f64,
    },
}

/// Reads every journal of a runs directory; skips those that cannot be read. Script times are those of `task` only.
pub fn history(runs_dir: &Path, task: &str) -> History {
    let mut history = History::default();
    for snapshot in runs::all(runs_dir).iter().filter_map(|folder| journal::read(folder).ok()) {
        let same_task = snapshot.frozen.task.competition_id == task;
        for effect in &snapshot.effects {
            history.take(effect, same_task);
        }
    }
    history
}

impl History {
    /// The cost of one call of this role with this model; `None` if it is unknown. `price` is that of the model, in US
    /// dollars per million tokens read and written.
    pub fn call_cost(&self, agent: AgentType, model: &str, price: Option<(f64, f64)>) -> Option<CallCost> {
        let model = model.to_owned();
        match self.costs.get(&(agent, model.clone())).map(Vec::as_slice) {
            Some(costs @ [_, ..]) => {
                let source = Source::Journals { calls: costs.len() };
                Some(CallCost { model, usd: tenths(costs), source })
            }
            _ => price.map(|price| assumed(agent, model, price)),
        }
    }

    /// Seconds of one call; `None` without earlier calls.
    pub fn call_seconds(&self, agent: AgentType, model: &str) -> Option<(f64, f64)> {
        self.seconds.get(&(agent, model.to_owned())).map(|seconds| tenths(seconds))
    }

    /// Seconds of one script; `None` without earlier scripts of the task.
    pub fn script_seconds(&self) -> Option<(f64, f64)> {
        (!self.scripts.is_empty()).then(|| tenths(&self.scripts))
    }

    fn take(&mut self, effect: &EffectRecord, same_task: bool) {
        let seconds = effect.elapsed_ended.map(|ended| (ended - effect.elapsed_begun).max(0.0));
        match effect.kind {
            Kind::Agent if was_made(effect) => {
                let model = effect.request.get("model").and_then(serde_json::Value::as_str);
                let Some(key) = role(effect).zip(model.map(str::to_owned)) else { return };
                // The offline agents also name a model, but use no tokens.
                if effect.usage.output == 0 {
                    return;
                }
                let known = effect.usage.cost_usd.filter(|_| effect.usage.estimated_usd == 0.0);
                self.costs.entry(key.clone()).or_default().extend(known);
                self.seconds.entry(key).or_default().extend(seconds);
            }
            Kind::Script if same_task && effect.counts() && effect.limit.is_none() => {
                let own = effect.outcome.as_ref().and_then(|outcome| outcome.get("duration_seconds"));
                self.scripts.extend(own.and_then(serde_json::Value::as_f64));
            }
            _ => {}
        }
    }
}

/// The 10th and the 90th percentile; of a few values, the least and the greatest.
fn tenths(values: &[f64]) -> (f64, f64) {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let cut = sorted.len() / 10;
    let at = |index: usize| sorted.get(index).copied().unwrap_or_default();
    (at(cut), at(sorted.len().saturating_sub(1 + cut)))
}

fn assumed(agent: AgentType, model: String, price: (f64, f64)) -> CallCost {
    let (tokens_in, tokens_out) = expected_tokens(agent);
    let (usd_per_mtok_in, usd_per_mtok_out) = price;
    let usd = (f64::from(tokens_in) * usd_per_mtok_in + f64::from(tokens_out) * usd_per_mtok_out) / 1e6;
    let source = Source::Assumed { tokens_in, tokens_out, usd_per_mtok_in, usd_per_mtok_out };
    CallCost { model, usd: (usd / 2.0, usd * 2.0), source }
}
