//! `run`: solves a task.

use std::fs;
use std::path::{Path, PathBuf};

use mle_star_domain::config::AgentsChoice;
use mle_star_report::money::usd;
use mle_star_run::prepare::{Intent, Prepared, RunOptions, prepare_for, settings_of, task_source};
use mle_star_run::provider;
use mle_star_run::provider::choice::Claude;
use mle_star_run::runs::DEFAULT_DIR;
use mle_star_run::runtime::block_on;
use mle_star_run::settings::{Invocation, Settings, process_environment};

use super::{agreed, can_ask, detach};
use crate::args::{RunArgs, ViewArgs};
use crate::estimate;
use crate::exit::{Exit, Failure};
use crate::foreground::{View, drive};
use crate::output;

/// Solves a task.
///
/// # Errors
/// A mistake in the input, which leaves no folder behind, or what stopped the run.
pub fn run(args: &RunArgs) -> Result<Exit, Failure> {
    let task = task_source::find_one(&args.path)?;
    let options = args.options()?;
    let (settings, _) = settings_of(&options, &task_source::find(&task)?, &process_environment)?;
    let made = missing(settings.invocation.runs_dir.as_deref().unwrap_or(Path::new(DEFAULT_DIR)));
    let ended = solve(args, &options, &task, &settings);
    if matches!(&ended, Err(failure) if failure.exit == Exit::Usage) {
        // One with files stays.
        made.iter().for_each(|folder| drop(fs::remove_dir(folder)));
    }
    ended
}

fn solve(args: &RunArgs, options: &RunOptions, task: &Path, settings: &Settings) -> Result<Exit, Failure> {
    let prepared = prepared(args, options, task, settings)?;
    if args.estimate {
        return estimate::print(&prepared);
    }
    // The config file may say it, too.
    let Invocation { json, quiet, .. } = prepared.configured.invocation;
    let view = ViewArgs { json, quiet, ..args.view };
    let say: &(dyn Fn(&str) + Sync) = if quiet { &|_| () } else { &output::talk };
    let run = prepared.freeze(say)?;
    if args.view.detach {
        let folder = run.folder.clone();
        let started = detach(run, &view);
        forget_if_unusable(&folder, &started);
        return started;
    }
    drive(run, View::of(&view), forget_if_unusable)
}

/// Removes the folder of a run that stopped with a usage error: it has done nothing, and corrected input makes another
/// run.
pub fn forget_if_unusable<T>(folder: &Path, ended: &Result<T, Failure>) {
    if !matches!(ended, Err(failure) if failure.exit == Exit::Usage) {
        return;
    }
    if let Err(error) = fs::remove_dir_all(folder) {
        output::talk(&format!("note: could not remove {}: {error}", folder.display()));
    }
}

/// The folder and those above it that do not exist.
fn missing(folder: &Path) -> Vec<PathBuf> {
    folder.ancestors().take_while(|folder| !folder.exists()).map(Path::to_owned).collect()
}

/// The inputs of the run; with a model that costs money, if there is one and somebody says yes to it.
fn prepared(
    args: &RunArgs,
    options: &RunOptions,
    task: &Path,
    settings: &Settings,
) -> Result<Prepared, Failure> {
    let intent = if args.estimate { Intent::Estimate } else { Intent::Begin };
    let prepare = |options: &RunOptions| prepare_for(intent, options, task, &process_environment);
    if let Some(claude) = offered(args, settings)? {
        let paid = prepare(&options.clone().set("agents=claude")?)?;
        if agreed(&question(&claude, &paid)?) {
            return Ok(paid);
        }
    }
    Ok(prepare(options)?)
}

/// The model that `auto` does not use unless somebody agrees to its cost.
fn offered(args: &RunArgs, settings: &Settings) -> Result<Option<Claude>, Failure> {
    let Settings { config, invocation, .. } = settings;
    let is_open = config.agents == AgentsChoice::Auto && config.max_budget_usd.is_none();
    if !is_open || args.estimate || invocation.json || invocation.quiet || !can_ask() {
        return Ok(None);
    }
    Ok(block_on(provider::claude(config, &process_environment, true))?.ok())
}

fn question(claude: &Claude, paid: &Prepared) -> Result<String, Failure> {
    let cost = estimate::of(paid)?.cost_usd;
    let cost =
        cost.map_or("an unknown amount".to_owned(), |(low, high)| format!("{} to {}", usd(low), usd(high)));
    Ok(format!(
        "claude can write the solutions ({}).\n\
         This run may cost {cost}, and sends parts of the data to the provider.\n\
         Without claude, built-in rules write the solutions, at no cost.\n\
         use claude?",
        claude.login.reason()
    ))
}
