//! Cost by phase, role and path, and time by phase and path.

use std::collections::BTreeMap;

use mle_star::journal::Kind;
use serde_json::{Value, json};

use super::steps::took;
use super::{Context, RunReport};
use crate::chart::strips;
use crate::usage::{self, CostTable};
use crate::words::phase_title;

/// Seconds of agents and of scripts by part, in the order of the parts. Parallel work counts for each part, so sums can exceed
/// the time of the run.
type Times = BTreeMap<(usize, String), [f64; 2]>;

/// What the run cost, and how long its parts took.
pub fn costs(context: &Context<'_>, _: &RunReport) -> Option<Value> {
    let spending = &context.run.spending;
    let table = |table: &CostTable| json!({"by": table.title, "rows": table.rows});
    Some(json!({
        "line": usage::line(spending),
        "is_free": usage::is_free(context.run.snapshot.frozen.config.agents),
        "money": usage::tables(spending).iter().map(table).collect::<Vec<_>>(),
        "time": times(context),
    }))
}

fn times(context: &Context<'_>) -> Vec<Value> {
    let (mut phases, mut paths) = (Times::new(), Times::new());
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
    }
    let table = |(by, times): (&str, Times)| {
        let rows: Vec<(String, [f64; 2])> = times.into_iter().map(|((_, name), took)| (name, took)).collect();
        let bars = strips(&rows.iter().map(|(_, took)| (took.iter().sum(), None)).collect::<Vec<_>>());
        (!bars.is_empty()).then(|| json!({"by": by, "rows": rows, "bars": bars}))
    };
    [("phase", phases), ("path", paths)].into_iter().filter_map(table).collect()
}
