//! Cost and time by phase, role and path.

use std::collections::BTreeMap;

use mle_star::journal::Kind;
use mle_star::spending::{Calls, Spending, role};
use mle_star_domain::place::Phase;
use mle_star_domain::role::AgentType;
use serde::Serialize;

use super::context::Context;
use super::steps::took;
use crate::chart::{self, About, Bar, Mood};
use crate::figures::duration;
use crate::money;
use crate::run_view::State;
use crate::usage;
use crate::words::{agent_name, phase_title};

/// Cost and time of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Costs {
    /// `$1.23 for 85 calls, …`; `None` if nothing was spent.
    pub line: Option<String>,
    /// What is told without such a line.
    pub nothing: &'static str,
    /// Cost by phase, path and role.
    pub money: Vec<MoneyTable>,
    /// Time by phase, path, and worker.
    pub time: Vec<TimeTable>,
}

/// Cost by one kind of part.
#[derive(Clone, Debug, Serialize)]
pub struct MoneyTable {
    /// `phase`, `path` or `role`.
    pub by: &'static str,
    /// SVG.
    pub chart: Option<String>,
    /// The meaning of the chart's bars.
    pub unit: &'static str,
    /// One per part.
    pub rows: Vec<usage::CostRow>,
}

/// Time by one kind of part.
#[derive(Clone, Debug, Serialize)]
pub struct TimeTable {
    /// `phase`, `path` or `worker`.
    pub by: &'static str,
    /// SVG.
    pub chart: Option<String>,
    /// One per part.
    pub rows: Vec<TimeRow>,
}

/// Time of one part. Parallel work counts for each part, so sums can exceed the time of the run.
#[derive(Clone, Debug, Serialize)]
pub struct TimeRow {
    /// The part.
    pub name: String,
    /// Time of agent calls, with their waits for slots.
    pub agents: String,
    /// Time of scripts, without their waits for slots, and of the program's own looks and selections.
    pub scripts: String,
    /// The sum of both.
    pub total: String,
}

#[derive(Clone, Copy, Debug, Default)]
struct Seconds {
    agents: f64,
    scripts: f64,
}

/// Creates the view of a run.
pub fn costs(context: &Context<'_>) -> Costs {
    let spending = &context.run.spending;
    let tables = usage::tables(spending).into_iter();
    Costs {
        line: usage::line(spending),
        nothing: nothing(context),
        money: tables.map(|table| money_table(table, spending)).collect(),
        time: times(context),
    }
}

fn nothing(context: &Context<'_>) -> &'static str {
    let agents = context.run.snapshot.frozen.config.agents;
    match (usage::is_free(agents), context.run.summary.run.state) {
        (true, _) => "The agents of this run have no cost.",
        (false, State::Running) => "Nothing was spent yet.",
        (false, State::Finished | State::Unfinished) => "Nothing was spent.",
    }
}

fn money_table(table: usage::CostTable, spending: &Spending) -> MoneyTable {
    let is_known = spending.total().usage.unpriced() == 0;
    let amounts: BTreeMap<String, &Calls> = match table.title {
        "phase" => spending.by_phase.iter().map(|(phase, calls)| (phase_title(*phase), calls)).collect(),
        "role" => spending.by_role.iter().map(|(role, calls)| (agent_name(*role), calls)).collect(),
        _ => spending.by_path.iter().map(|(path, calls)| (path_name(path), calls)).collect(),
    };
    let bar = |row: &usage::CostRow| {
        let calls = amounts.get(&row.name);
        #[expect(clippy::cast_precision_loss, reason = "for a picture")]
        let tokens = calls.map_or(0.0, |calls| money::all_tokens(&calls.usage) as f64);
        let usd = calls.and_then(|calls| calls.usage.cost_usd).unwrap_or_default();
        let (value, shown) = if is_known {
            (usd, row.cost.clone())
        } else {
            (tokens, format!("{} + {}", row.tokens_in, row.tokens_out))
        };
        Bar { name: row.name.clone(), value, shown, mood: Mood::Plain }
    };
    let bars: Vec<Bar> = table.rows.iter().map(bar).collect();
    let unit = if is_known { "US dollars" } else { "tokens in + out" };
    let (id, title) = (format!("cost-by-{}", table.title), format!("Cost by {}", table.title));
    let chart = chart::bars(&About { id: &id, title: &title, description: unit }, &bars);
    MoneyTable { by: table.title, chart, unit, rows: table.rows }
}

fn path_name(path: &str) -> String {
    format!("path {}", mle_star_domain::place::path_of_session(path).unwrap_or_default() + 1)
}

fn times(context: &Context<'_>) -> Vec<TimeTable> {
    let mut phases: BTreeMap<Phase, Seconds> = BTreeMap::new();
    let mut paths: BTreeMap<usize, Seconds> = BTreeMap::new();
    let mut roles: BTreeMap<AgentType, Seconds> = BTreeMap::new();
    let mut scripts = Seconds::default();
    for record in &context.run.snapshot.effects {
        let Some(seconds) = took(record) else { continue };
        let took = match record.kind {
            Kind::Agent => Seconds { agents: seconds, scripts: 0.0 },
            _ => Seconds { agents: 0.0, scripts: seconds },
        };
        if let Some(phase) = record.place.phase() {
            phases.entry(phase).or_default().add(took);
        }
        if let Some(path) = record.place.path() {
            paths.entry(path).or_default().add(took);
        }
        match role(record) {
            Some(role) => roles.entry(role).or_default().add(took),
            None => scripts.add(took),
        }
    }
    let mut workers: Vec<(String, Seconds)> =
        roles.into_iter().map(|(role, took)| (agent_name(role), took)).collect();
    workers.push(("scripts".to_owned(), scripts));
    workers.sort_by(|one, other| other.1.total().total_cmp(&one.1.total()));
    let phases = phases.into_iter().map(|(phase, took)| (phase_title(phase), took)).collect();
    let paths = paths.into_iter().map(|(path, took)| (format!("path {}", path + 1), took)).collect();
    [("phase", phases), ("path", paths), ("worker", workers)]
        .into_iter()
        .filter(|(_, rows): &(_, Vec<_>)| rows.iter().any(|(_, took)| took.total() > 0.0))
        .map(|(by, rows)| time_table(by, &rows))
        .collect()
}

fn time_table(by: &'static str, rows: &[(String, Seconds)]) -> TimeTable {
    let bar = |(name, took): &(String, Seconds)| Bar {
        name: name.clone(),
        value: took.total(),
        shown: duration(took.total()),
        mood: Mood::Plain,
    };
    let row = |(name, took): &(String, Seconds)| TimeRow {
        name: name.clone(),
        agents: duration(took.agents),
        scripts: duration(took.scripts),
        total: duration(took.total()),
    };
    let bars: Vec<Bar> = rows.iter().map(bar).collect();
    let (id, title) = (format!("time-by-{by}"), format!("Time by {by}"));
    let about = About { id: &id, title: &title, description: "Seconds of agents and scripts together." };
    TimeTable { by, chart: chart::bars(&about, &bars), rows: rows.iter().map(row).collect() }
}

impl Seconds {
    fn total(self) -> f64 {
        self.agents + self.scripts
    }

    fn add(&mut self, other: Self) {
        self.agents += other.agents;
        self.scripts += other.scripts;
    }
}
