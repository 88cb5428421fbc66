//! `bench --estimate`: the greatest time, and the expected calls and cost.

use std::path::Path;

use mle_star::estimate::Count;
use mle_star_report::figures::count;
use mle_star_report::figures::duration;
use mle_star_report::money;
use mle_star_run::prepare::{Intent, prepare_for};
use mle_star_run::settings::process_environment;
use serde::Serialize;

use crate::args::{BenchArgs, RunArgs};
use crate::bench::plan::{Plan, PlannedTask};
use crate::estimate;
use crate::exit::{Exit, Failure};
use crate::output;
use crate::table::Table;

/// The estimate for a bench.
#[derive(Debug, Serialize)]
struct Estimate {
    /// The number of runs.
    runs: usize,
    /// The time limits of the runs, added up.
    most_seconds: f64,
    tasks: Vec<OfTask>,
    /// US dollars, lowest and highest; `None` for agents that are free, and if a price is unknown.
    cost_usd: Option<(f64, f64)>,
}

/// The estimate for a task.
#[derive(Debug, Default, Serialize)]
struct OfTask {
    task: String,
    runs: usize,
    /// Of one run.
    calls: Count,
    /// Of one run.
    scripts: Count,
    /// Of all its runs.
    cost_usd: Option<(f64, f64)>,
    /// Why nothing can be said.
    error: Option<String>,
}

/// Prints the estimate; creates nothing.
///
/// # Errors
/// JSON cannot be written.
pub fn print(args: &BenchArgs, plan: &Plan, options: &RunArgs) -> Result<Exit, Failure> {
    let tasks: Vec<OfTask> = plan.tasks.iter().map(|task| of_task(task, plan, options)).collect();
    let costs: Option<Vec<(f64, f64)>> = tasks.iter().map(|task| task.cost_usd).collect();
    let sum = |costs: Vec<(f64, f64)>| {
        costs.into_iter().fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    };
    let limit = |budget: Option<u64>, task: &PlannedTask| budget.unwrap_or(task.config.time_limit_seconds);
    let cells = plan.cells();
    #[expect(clippy::cast_precision_loss, reason = "seconds")]
    let most_seconds = cells.iter().map(|cell| limit(cell.budget, cell.task)).sum::<u64>() as f64;
    let estimate = Estimate { runs: cells.len(), most_seconds, cost_usd: costs.map(sum), tasks };
    if args.json {
        output::json(&estimate)?;
    } else {
        lines(&estimate).iter().for_each(|line| output::shown(line));
    }
    Ok(if estimate.tasks.iter().any(|task| task.error.is_some()) { Exit::Usage } else { Exit::Done })
}

fn of_task(task: &PlannedTask, plan: &Plan, options: &RunArgs) -> OfTask {
    let runs = plan.budgets.len() * plan.seeds.len();
    let args = RunArgs { estimate: true, path: task.task.clone(), ..options.clone() };
    let of_run = estimated(&args, &task.task);
    let nothing = OfTask { task: task.name.clone(), runs, ..OfTask::default() };
    match of_run {
        Ok(of_run) => {
            #[expect(clippy::cast_precision_loss, reason = "a few runs")]
            let times = |(low, high): (f64, f64)| (low * runs as f64, high * runs as f64);
            let cost_usd = of_run.cost_usd.map(times);
            OfTask { calls: of_run.calls, scripts: of_run.scripts, cost_usd, ..nothing }
        }
        Err(failure) => OfTask { error: Some(failure.trouble.message), ..nothing },
    }
}

fn estimated(args: &RunArgs, task: &Path) -> Result<estimate::Estimate, Failure> {
    let prepared = prepare_for(Intent::Estimate, &args.options()?, task, &process_environment)?;
    Ok(estimate::of(&prepared)?)
}

fn lines(estimate: &Estimate) -> Vec<String> {
    let range = |count: Count| Some(format!("{} to {}", count.fewest, count.most));
    let dollars = |(low, high): (f64, f64)| format!("{} to {}", money::usd(low), money::usd(high));
    let mut lines = Table::of(&estimate.tasks)
        .words("task", 0, |task| Some(task.task.clone()))
        .figures("runs", 0, |task| Some(task.runs.to_string()))
        .figures("calls a run", 0, |task| range(task.calls))
        .figures("scripts a run", 0, |task| range(task.scripts))
        .words("cost", 0, |task| match &task.error {
            Some(error) => Some(format!("error: {error}")),
            None => task.cost_usd.map(dollars),
        })
        .lines(None);
    let cost = estimate.cost_usd.map(|cost| format!(", {}", dollars(cost)));
    let (runs, time) = (count(estimate.runs as u64, "run"), duration(estimate.most_seconds));
    lines.push(format!("{runs}, at most {time}{}", cost.unwrap_or_default()));
    lines
}
