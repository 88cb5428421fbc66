//! Cost and time by phase, role and path.

use std::collections::BTreeMap;

use mle_star::journal::Kind;
use mle_star::spending::role;
use mle_star_domain::role::AgentType;
use serde_json::{Value, json};

use super::context::Context;
use super::steps::took;
use crate::chart::{self, About, Bar, Mood};
use crate::figures::duration;
use crate::money;
use crate::usage::{self, CostRow, CostTable};
use crate::words::phase_title;

/// Seconds of agents and of scripts by part, in the order of the parts. Parallel work counts for each part, so sums can exceed
/// the time of the run.
type Times = BTreeMap<(usize, String), [f64; 2]>;

/// What the run cost, and how long its parts took.
pub fn costs(context: &Context<'_>) -> Option<Value> {
    let spending = &context.run.spending;
    let is_known = spending.total().usage.unpriced() == 0;
    let tables = usage::tables(spending);
    let money = tables
        .iter()
        .map(|table| json!({"by": table.title, "rows": table.rows, "chart": money_chart(table, is_known)}));
    Some(json!({
        "line": usage::line(spending),
        "is_free": usage::is_free(context.run.snapshot.frozen.config.agents),
        "unit": unit(is_known),
        "money": money.collect::<Vec<_>>(),
        "time": times(context),
    }))
}

fn unit(is_known: bool) -> &'static str {
    if is_known { "US dollars" } else { "tokens in + out" }
}

fn money_chart(table: &CostTable, is_known: bool) -> Option<String> {
    let tokens = |row: &CostRow| {
        let usage = &row.calls.usage;
        format!("{} + {}", money::tokens(money::tokens_in(usage)), money::tokens(usage.output))
    };
    let shown = |row: &CostRow| if is_known { row.cost.clone() } else { tokens(row) };
    let bar = |row: &CostRow| Bar::new(&row.name, row.share, shown(row), Mood::Plain);
    let bars: Vec<Bar> = table.rows.iter().map(bar).collect();
    let (id, title) = (format!("cost-by-{}", table.title), format!("Cost by {}", table.title));
    chart::bars(&About { id: &id, title: &title, description: unit(is_known) }, &bars)
}

fn times(context: &Context<'_>) -> Vec<Value> {
    let (mut phases, mut paths, mut workers) = (Times::new(), Times::new(), Times::new());
    for record in &context.run.snapshot.effects {
        let Some(seconds) = took(record) else { continue };
        let add = |times: &mut Times, order: usize, name: String| {
            let [agents, scripts] = times.entry((order, name)).or_default();
            *(if record.kind == Kind::Agent { agents } else { scripts }) += seconds;
        };
        if let Some(phase) = record.place.phase() {
            add(&mut phases, phase as usize, phase_title(phase));
        }
        if let Some(path) = record.place.path() {
            add(&mut paths, path, format!("path {}", path + 1));
        }
        add(&mut workers, 0, role(record).map_or("scripts", AgentType::name).to_owned());
    }
    let rows = |times: Times| times.into_iter().map(|((_, name), took)| (name, took)).collect::<Vec<_>>();
    let mut workers = rows(workers);
    workers.sort_by(|(_, one), (_, other)| other.iter().sum::<f64>().total_cmp(&one.iter().sum()));
    let tables = [("phase", rows(phases)), ("path", rows(paths)), ("worker", workers)].into_iter();
    let some =
        tables.filter(|(_, rows)| rows.iter().flat_map(|(_, took)| took).any(|seconds| *seconds > 0.0));
    some.map(|(by, rows)| json!({"by": by, "chart": time_chart(by, &rows), "rows": rows})).collect()
}

fn time_chart(by: &str, rows: &[(String, [f64; 2])]) -> Option<String> {
    let bar = |(name, took): &(String, [f64; 2])| {
        let seconds = took.iter().sum();
        Bar::new(name, seconds, duration(seconds), Mood::Plain)
    };
    let bars: Vec<Bar> = rows.iter().map(bar).collect();
    let (id, title) = (format!("time-by-{by}"), format!("Time by {by}"));
    chart::bars(
        &About { id: &id, title: &title, description: "Seconds of agents and scripts together." },
        &bars,
    )
}
