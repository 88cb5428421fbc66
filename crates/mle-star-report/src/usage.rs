//! What the agents of a run used and cost, as a line and as tables; empty for a run without a language model.

use mle_star::journal::{EffectState, Snapshot};
use mle_star::spending::{Calls, Spending, spending};
use mle_star_domain::config::AgentsChoice;
use mle_star_domain::place::{Phase, path_of_session};
use mle_star_domain::role::AgentType;
use serde::Serialize;

use crate::figures::count;
use crate::money;
use crate::words::phase_title;

/// The calls of one phase, path or role.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CostRow {
    /// The name of the phase, path or role for people.
    pub name: String,
    /// The calls.
    #[serde(flatten)]
    pub calls: Calls,
    /// `$1.23`, `~$1.23` if a part of it is estimated, or `unknown`. Stored calls do not tell that some have no known price.
    pub cost: String,
    /// Share of the total cost; of the tokens if the cost is unknown.
    pub share: f64,
}

/// Rows under a title.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CostTable {
    /// `phase`, `path` or `role`.
    pub title: &'static str,
    /// The rows.
    pub rows: Vec<CostRow>,
}

/// The usage of a run. Calls that are in progress in a live run are not counted as interrupted.
pub fn run_spending(snapshot: &Snapshot, is_running: bool) -> Spending {
    let (effects, config) = (&snapshot.effects, &snapshot.frozen.config);
    let spending = if is_running {
        let ended = effects.iter().filter(|effect| effect.state != EffectState::Begun);
        spending(&ended.cloned().collect::<Vec<_>>(), config)
    } else {
        spending(effects, config)
    };
    without_free_calls(spending, config.agents)
}

/// Whether no call of these agents costs anything.
pub fn is_free(agents: AgentsChoice) -> bool {
    matches!(agents, AgentsChoice::Offline | AgentsChoice::Files)
}

/// Removes interrupted calls of agents that are free.
pub fn without_free_calls(mut spending: Spending, agents: AgentsChoice) -> Spending {
    if is_free(agents) {
        spending.interrupted_calls = 0;
    }
    spending
}

/// `$1.23 for 85 calls, 120k tokens in, 30k out`; `None` without calls to a language model.
pub fn line(spending: &Spending) -> Option<String> {
    let Calls { calls, usage } = spending.total();
    if money::is_free(&usage) && spending.interrupted_calls == 0 {
        return None;
    }
    let (read, written) = (money::tokens(money::tokens_in(&usage)), money::tokens(usage.output));
    let mut line =
        format!("{} for {}, {read} tokens in, {written} out", money::cost_of(&usage), count(calls, "call"));
    line.push_str(&estimated_remark(spending));
    Some(line)
}

/// A remark about what is estimated in a sum, or missing in it because a call was interrupted; empty without any.
pub fn estimated_remark(spending: &Spending) -> String {
    let cut = count(spending.interrupted_calls, "interrupted call");
    let estimated = spending.total().usage.estimated_usd;
    match (estimated > 0.0, spending.interrupted_calls) {
        (true, 0) => format!("; {} of it is estimated", money::usd(estimated)),
        (true, _) => format!("; {} of it is estimated, with {cut}", money::usd(estimated)),
        (false, 0) => String::new(),
        (false, _) => format!("; the usage of {cut} is unknown and not counted"),
    }
}

/// Tables by phase, path and role; empty for a free run.
pub fn tables(spending: &Spending) -> Vec<CostTable> {
    let total = spending.total();
    if money::is_free(&total.usage) {
        return Vec::new();
    }
    let row = |name: String, calls: &Calls| row(name, *calls, total);
    let phases = Phase::ALL.iter().filter_map(|phase| Some((phase, spending.by_phase.get(phase)?)));
    let phases = phases.map(|(phase, calls)| row(phase_title(*phase), calls)).collect();
    let mut paths: Vec<(u32, &Calls)> = spending
        .by_path
        .iter()
        .map(|(path, calls)| (path_of_session(path).unwrap_or_default(), calls))
        .collect();
    paths.sort_by_key(|(path, _)| *path);
    let paths = paths.into_iter().map(|(path, calls)| row(format!("path {}", path + 1), calls)).collect();
    let mut roles: Vec<(&AgentType, &Calls)> = spending.by_role.iter().collect();
    roles.sort_by(|(_, one), (_, other)| weight(**other, total).total_cmp(&weight(**one, total)));
    let roles = roles.into_iter().map(|(role, calls)| row(role.name().to_owned(), calls)).collect();
    [("phase", phases), ("path", paths), ("role", roles)]
        .into_iter()
        .filter(|(_, rows): &(_, Vec<CostRow>)| !rows.is_empty())
        .map(|(title, rows)| CostTable { title, rows })
        .collect()
}

fn row(name: String, calls: Calls, total: Calls) -> CostRow {
    let share = weight(calls, total) / weight(total, total).max(f64::MIN_POSITIVE);
    CostRow { name, calls, cost: money::cost_of(&calls.usage), share }
}

/// The measure for shares: the cost if the total is known, else tokens.
fn weight(part: Calls, total: Calls) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "used for percentages")]
    let tokens = money::all_tokens(&part.usage) as f64;
    let is_known = total.usage.unpriced() == 0;
    if is_known { part.usage.cost_usd.unwrap_or_default() } else { tokens }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use mle_star_domain::effects::Usage;

    use super::*;

    fn spent(cost_usd: Option<f64>, interrupted_calls: u64) -> Spending {
        let calls = |calls, cost_usd, input| {
            let usage = Usage { cost_usd, input, output: 5, cache_read: 100, ..Usage::default() };
            Calls { calls, usage }
        };
        let (one, two) = (calls(3, Some(0.3), 300), calls(1, cost_usd, 100));
        Spending {
            by_role: BTreeMap::from([(AgentType::Init, two), (AgentType::Coder, one)]),
            by_phase: BTreeMap::from([(Phase::Phase1, two), (Phase::Phase2, one)]),
            by_path: BTreeMap::from([("path-10".to_owned(), two), ("path-2".to_owned(), one)]),
            interrupted_calls,
        }
    }

    #[test]
    fn the_line_mentions_interrupted_calls_and_estimates() {
        let check = |spending: Spending, expected: &str| {
            assert_eq!(line(&spending).unwrap_or_default(), expected);
        };
        check(Spending::default(), "");
        check(spent(Some(0.1), 0), "$0.40 for 4 calls, 600 tokens in, 10 out");
        check(spent(None, 0), ">$0.30 for 4 calls, 600 tokens in, 10 out");
        check(
            spent(Some(0.1), 1),
            "$0.40 for 4 calls, 600 tokens in, 10 out; the usage of 1 interrupted call is unknown and not counted",
        );
        let mut estimated = spent(Some(0.1), 1);
        estimated.by_phase.values_mut().for_each(|calls| calls.usage.estimated_usd = 0.05);
        check(
            estimated.clone(),
            "~$0.40 for 4 calls, 600 tokens in, 10 out; $0.10 of it is estimated, with 1 interrupted call",
        );
        estimated.interrupted_calls = 0;
        check(estimated, "~$0.40 for 4 calls, 600 tokens in, 10 out; $0.10 of it is estimated");
        let only_cut = Spending { interrupted_calls: 2, ..Spending::default() };
        check(
            only_cut,
            "$0 for 0 calls, 0 tokens in, 0 out; the usage of 2 interrupted calls is unknown and not counted",
        );
    }
}
