//! Opens a run again, optionally with larger limits.

use std::path::{Path, PathBuf};
use std::{fs, io};

use mle_star::event::Event;
use mle_star::journal::{EffectRecord, Frozen, Journal, JournalError, Kind, Opening};
use mle_star::pipeline::check_recorded;
use mle_star::prompts::Prompts;
use mle_star::result::FinalResult;
use mle_star::shell;
use mle_star::spending::{spending, was_made};
use mle_star_backends::runners::entry::{RunnerEntry, selected};
use mle_star_domain::config::Config;
use mle_star_domain::layout;
use mle_star_domain::place::Place;
use mle_star_domain::trouble::Trouble;
use mle_star_tables::digest::digest;

use crate::data_folders::DataFolders;
use crate::error::RunError;
use crate::open_run::{OpenRun, first_opening};
use crate::prepare::intake::MadeData;
use crate::prepare::{Data, given_models};
use crate::provider;
use crate::runs::{self, inputs};
use crate::runtime::block_on;
use crate::settings::document::Document;
use crate::settings::{Setting, check_machines, from_file, process_environment, resolve, resolve_over};
use crate::version::VERSION;
use mle_star_report::cuts::{self, More};
use mle_star_report::figures::count;
use mle_star_report::run_view;
use mle_star_report::{money, usage};

/// The options of a resume.
#[derive(Clone, Debug, Default)]
pub struct ResumeOptions {
    /// Larger limits: `time_limit_seconds`, `max_budget_usd`.
    pub limits: Vec<Setting>,
    /// A config file with the runners to use; `None` for those that the run used last.
    pub config: Option<PathBuf>,
    /// The names of the runners to use, all if there are none; `none` for no runner.
    pub runners: Vec<String>,
}

/// A run that was opened again.
pub enum ReopenedRun {
    /// The run is finished.
    Finished(Box<FinalResult>),
    /// The run can go on.
    Unfinished(Box<OpenRun>),
}

/// Opens a run again, to go on with it.
///
/// # Errors
/// Another process works on it, or its inputs have changed.
pub fn reopen(folder: &Path, options: &ResumeOptions) -> Result<ReopenedRun, RunError> {
    let (journal, mut frozen) = Journal::open(folder).map_err(|error| open_failure(folder, &error))?;
    inputs::check_unchanged(folder, &frozen)?;
    let result = run_view::read_result(folder);
    let is_finished = result.as_ref().is_some_and(|result| run_view::is_current(result, &frozen.config));
    let prompts = frozen_prompts(&frozen)?;
    let before = frozen.clone();
    let raised = raise_limits(&options.limits, &mut frozen.config)?;
    let cuts = cuts::of(&journal.cuts().map_err(|error| RunError::journal(&error))?, raised);
    match result {
        Some(result) if is_finished && cuts.is_empty() => {
            return Ok(ReopenedRun::Finished(Box::new(result)));
        }
        _ => {}
    }
    check_build(folder, &journal, &before, &prompts)?;
    let choice = block_on(provider::choose(&frozen.config, &process_environment))??;
    let data_dir = runs::data_dir(folder, &frozen.task);
    let has_own = MadeData::of_run(folder).is_some();
    let recorded = if has_own { &data_dir } else { &frozen.task.data_dir };
    if !recorded.exists() {
        return Err(data_missing(recorded).into());
    }
    if digest(recorded)? != frozen.data_id {
        let message = format!("the data in {} has changed since the run started", recorded.display());
        return Err(Trouble::new(message, "restore it, or start a new run").into());
    }
    let made_with = journal.made_with().map_err(|error| RunError::journal(&error))?;
    let begun_by = made_with.first().map(|first| first.mle_star.as_str());
    let data = Data::of_run(inputs::read_facts(folder), begun_by)?;
    let protocol = frozen.protocol.as_ref();
    let profile = data.profile.as_ref();
    let rules = provider::rules(&choice.chosen, &frozen.task, &frozen.config, profile, protocol)?;
    let rules = rules.map(|rules| rules.with_metric(frozen.metric_source.clone()));
    let runners = runners(options, folder, &frozen.config)?;
    // Nothing is refused any more.
    inputs::write_runners(folder, &runners).map_err(RunError::failed)?;
    if raised.time || raised.money {
        keep_limits(folder, &journal, &frozen, result.as_ref())?;
    }
    let effects = journal.ledger().map_err(|error| RunError::journal(&error))?;
    // A run that was only frozen so far.
    let opening = if effects.is_empty() && frozen.opening != Opening::default() {
        first_opening(folder, &frozen)
    } else {
        let mut opening = vec![
            choice.line(),
            format!("task: {}", frozen.task.competition_id),
            format!("run: {} (resumed; finished steps are replayed)", folder.display()),
        ];
        opening.extend(replayed_line(&effects, &frozen.config));
        opening.extend((!cuts.is_empty()).then(|| format!("goes on with: {}", cuts::in_words(&cuts))));
        opening.extend(given_models::opening(&frozen.config, frozen.retrieved_models.as_deref()));
        opening.into_iter().map(Event::said).collect()
    };
    let chosen = choice.chosen;
    let folder = folder.to_owned();
    DataFolders { folder: &folder, frozen: &frozen }.make(&data.facts, None, None, &|_| ())?;
    let run = OpenRun { folder, frozen, prompts, journal, chosen, rules, data, runners, opening };
    Ok(ReopenedRun::Unfinished(Box::new(run)))
}

/// Checks that another build than the last one asks what is recorded, before anything new is paid.
fn check_build(folder: &Path, journal: &Journal, frozen: &Frozen, prompts: &Prompts) -> Result<(), RunError> {
    let made_with = journal.made_with().map_err(|error| RunError::journal(&error))?;
    let Some(last) = made_with.last().filter(|last| last.mle_star != VERSION) else { return Ok(()) };
    replayed(folder, journal, frozen, prompts)?.map(drop).map_err(|error| {
        let message = format!("this build, {VERSION}, cannot continue the run: {error}");
        let hint = format!("use mle-star {}, which it was made with last", last.mle_star);
        RunError::failed(Trouble::new(message, hint))
    })
}

/// Asks again what the journal of a run has recorded, on a copy. Returns the places that were not reached.
///
/// # Errors
/// The copy cannot be made. The inner error says what is asked otherwise.
pub(crate) fn replayed(
    folder: &Path,
    journal: &Journal,
    frozen: &Frozen,
    prompts: &Prompts,
) -> Result<Result<Vec<Place>, JournalError>, RunError> {
    let copies = folder.join(layout::WORK).join("replay");
    // Left by a process that was killed.
    drop(fs::remove_dir_all(&copies));
    let ask_again = || {
        fs::create_dir_all(&copies).map_err(|error| RunError::failed(inputs::unwritable(folder, &error)))?;
        journal.copy_to(&copies).map_err(|error| RunError::journal(&error))?;
        let (copy, _) = Journal::open(&copies).map_err(|error| RunError::journal(&error))?;
        let checked = block_on(check_recorded(frozen, prompts, &copy))?;
        Ok(checked.and_then(|()| copy.unread()))
    };
    let replayed = ask_again();
    drop(fs::remove_dir_all(&copies));
    replayed
}

/// The templates of a run.
///
/// # Errors
/// The templates are of another version.
pub(crate) fn frozen_prompts(frozen: &Frozen) -> Result<Prompts, Trouble> {
    Prompts::new(frozen.config.context, frozen.prompts.clone())
        .map_err(|error| Trouble::new(error.to_string(), "use the version of mle-star that started the run"))
}

/// The runners of the config file, or else those that the run used last.
fn runners(options: &ResumeOptions, folder: &Path, config: &Config) -> Result<Vec<RunnerEntry>, Trouble> {
    let known = match &options.config {
        Some(file) => {
            let settings = from_file(&Document::read(file)?);
            let of_runners = settings.into_iter().filter(|setting| setting.key == "runners");
            resolve(of_runners)?.invocation.runners
        }
        None => inputs::read_runners(folder),
    };
    let runners = match options.runners.as_slice() {
        [none] if none == "none" => Vec::new(),
        names => selected(&known, names)?,
    };
    check_machines(config, &runners)?;
    Ok(runners)
}

/// The replayed steps in a line; `None` without any.
fn replayed_line(effects: &[EffectRecord], config: &Config) -> Option<String> {
    let done = |is_it: &dyn Fn(&EffectRecord) -> bool, what: &str| {
        let is_done = |effect: &&EffectRecord| effect.counts() && effect.limit.is_none() && is_it(effect);
        let done = effects.iter().filter(is_done).count() as u64;
        (done, count(done, what))
    };
    let ((calls, asked), (scripts, run)) =
        (done(&was_made, "agent call"), done(&|effect| effect.kind == Kind::Script, "script"));
    let all = count(calls + scripts, "step");
    let spending = usage::without_free_calls(spending(effects, config), config.agents);
    let (used, cut) = (spending.total().usage, usage::estimated_remark(&spending));
    let paid = match used.cost_usd {
        _ if money::is_free(&used) => String::new(),
        None => ", at unknown cost".to_owned(),
        Some(_) => format!(", {} already paid", money::cost_of(&used)),
    };
    (calls + scripts > 0).then(|| format!("replayed {all}: {asked}, {run}{paid}{cut}"))
}

fn data_missing(data_dir: &Path) -> Trouble {
    let message = format!("the data of the run is gone: there is no folder {}", data_dir.display());
    let hint =
        format!("put it back, or a link to where it is now: ln -s NEW_PLACE {}", shell::quoted(data_dir));
    Trouble::new(message, hint)
}

fn open_failure(folder: &Path, error: &JournalError) -> RunError {
    if !matches!(error, JournalError::Missing(_)) {
        return RunError::journal(error);
    }
    if !runs::holds_only_beginnings(folder) {
        return error.trouble().into();
    }
    let id = runs::name(folder).unwrap_or_default();
    let message = format!("run {id} ended before it did anything: it has no journal");
    let hint =
        format!("start it again with `mle-star run TASK --run-id {id}`, or remove {}", folder.display());
    Trouble::new(message, hint).into()
}

/// Raises limits in the configuration; returns which were raised.
///
/// # Errors
/// A mistake in a limit, or a limit that is smaller than before.
pub fn raise_limits(limits: &[Setting], config: &mut Config) -> Result<More, Trouble> {
    let raised = resolve_over(config, limits.iter().cloned())?.config;
    if config.max_budget_usd.is_none() && raised.max_budget_usd.is_some() {
        let message = "the run has no max_budget_usd, and a resume can only raise one";
        return Err(Trouble::new(message, "leave the option out"));
    }
    not_smaller("time_limit_seconds", raised.time_limit_seconds >= config.time_limit_seconds)?;
    not_smaller("max_budget_usd", raised.max_budget_usd >= config.max_budget_usd)?;
    let more = More {
        time: raised.time_limit_seconds != config.time_limit_seconds,
        money: raised.max_budget_usd != config.max_budget_usd,
    };
    *config = raised;
    Ok(more)
}

fn not_smaller(key: &str, holds: bool) -> Result<(), Trouble> {
    if holds {
        return Ok(());
    }
    let message = format!("{key} can only be raised on resume");
    Err(Trouble::new(message, "set a larger value, or leave the option out"))
}

/// Makes raised limits permanent. The order makes an interruption harmless: a result of smaller limits stays, but the run is
/// unfinished, the journal is the authority for the limits, and the next resume moves the staged configuration into place.
fn keep_limits(
    folder: &Path,
    journal: &Journal,
    frozen: &Frozen,
    result: Option<&FinalResult>,
) -> Result<(), RunError> {
    let unwritable = |error: io::Error| RunError::failed(inputs::unwritable(folder, &error));
    inputs::stage_config(folder, &frozen.config).map_err(unwritable)?;
    journal.reopen_with(frozen, result).map_err(|error| RunError::journal(&error))?;
    inputs::check_unchanged(folder, frozen).map_err(RunError::failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raise(time: Option<&str>, money: Option<&str>) -> Result<(bool, u64, Option<f64>), Trouble> {
        let mut config = Config { time_limit_seconds: 100, max_budget_usd: Some(1.0), ..Config::default() };
        let limits =
            [("time_limit_seconds", "--time-limit", time), ("max_budget_usd", "--max-budget-usd", money)];
        let limits: Vec<Setting> = limits
            .into_iter()
            .filter_map(|(key, option, value)| Some(Setting::from_text(key, value?, option)))
            .collect();
        let More { time, money } = raise_limits(&limits, &mut config)?;
        Ok((time || money, config.time_limit_seconds, config.max_budget_usd))
    }

    #[test]
    fn limits_are_only_raised() {
        assert_eq!(raise(None, None), Ok((false, 100, Some(1.0))));
        assert_eq!(raise(Some("100"), None), Ok((false, 100, Some(1.0))));
        assert_eq!(raise(Some("200"), Some("2.5")), Ok((true, 200, Some(2.5))));
        for (time, money, key) in
            [(Some("99"), None, "time_limit_seconds"), (None, Some("0.5"), "max_budget_usd")]
        {
            assert!(raise(time, money).unwrap_err().message.contains(key));
        }
        let config = Config { max_budget_usd: None, ..Config::default() };
        let more = Setting::from_text("max_budget_usd", "2", "--max-budget-usd");
        let refused = raise_limits(&[more], &mut config.clone()).map(drop).unwrap_err();
        assert!(refused.message.contains("has no max_budget_usd"), "{refused}");
        assert!(raise(Some("soon"), None).unwrap_err().message.contains("--time-limit"));
    }
}
