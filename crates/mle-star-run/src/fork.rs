//! Forks: makes a new run that shares the records of another run before a place.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::error::RunError;
use crate::prepare::{absolute_paths, check_outputs, fix_agents};
use crate::provider;
use crate::resume::{frozen_prompts, replayed};
use crate::runs::{self, inputs};
use crate::runtime::block_on;
use crate::settings::{Setting, Settings, process_environment, resolve_over};
use mle_star::journal::{self, Frozen, Journal, JournalError, Opening};
use mle_star::prompts::{Prompts, is_built_in};
use mle_star_domain::config::Config;
use mle_star_domain::layout;
use mle_star_domain::nearest::nearest;
use mle_star_domain::place::Place;
use mle_star_domain::task::Task;
use mle_star_domain::trouble::Trouble;

/// Keys that decide which rows scripts see, or what was asked from the first call on, and the log file, which is the
/// parent's.
const FIXED_KEYS: [&str; 8] = [
    "seed",
    "holdout",
    "holdout_rows",
    "subsample_limit",
    "retrieved_models",
    "prompts",
    "preset",
    "log_file",
];
/// What describes the data of a run, besides its frozen inputs. Data follows what says whose it is.
const DATA_FILES: [&str; 5] =
    [layout::FACTS, layout::INTAKE, layout::DATA, layout::TEST_LABELS, layout::RUNNERS];

/// The options of a fork.
#[derive(Clone, Debug, Default)]
pub struct ForkOptions {
    /// The first place that is not shared.
    pub at: String,
    /// The run ID; made from the task's name and the time without one.
    pub run_id: Option<String>,
    /// Settings from the place on.
    pub settings: Vec<Setting>,
}

/// Makes a new run beside the one in `parent`, which has all of its records before the place. `reopen` goes on with it.
/// Returns its folder.
///
/// # Errors
/// The run has nothing at the place, or a setting would change what is recorded before it.
pub fn fork(parent: &Path, options: &ForkOptions) -> Result<PathBuf, RunError> {
    let known = journal::read(parent).map_err(|error| RunError::journal(&error))?;
    let place = Place::from(options.at.trim().trim_matches('/'));
    let places: BTreeSet<String> = known
        .effects
        .iter()
        .filter(|record| record.counts())
        .map(|record| record.place.to_string())
        .collect();
    if place.phase().is_none() || !places.iter().any(|one| Place::from(one.as_str()).is_within(&place)) {
        return Err(not_reached(&place, &places).into());
    }
    let mut frozen = known.frozen;
    frozen.config = changed(&frozen.config, &options.settings)?;
    let Task { data_dir, output_dir, .. } = &frozen.task;
    check_outputs(data_dir, output_dir.as_deref(), &frozen.config, false)?;
    // The settings may choose the other set.
    frozen.prompts.retain(|name, text| !is_built_in(name, text));
    let prompts = frozen_prompts(&frozen)?;
    frozen.prompts = prompts.texts().clone();
    let name = &frozen.task.competition_id;
    let claimed = runs::claim(&parent_folder(parent)?, options.run_id.as_deref(), name, &jiff::Zoned::now())?;
    let folder = claimed.hold.folder().to_owned();
    frozen.run_id = claimed.id;
    // Of the parent's start.
    frozen.opening = Opening::default();
    let made = || -> Result<(), RunError> {
        let unwritable = |error: io::Error| RunError::failed(inputs::unwritable(&folder, &error));
        copy_data(parent, &folder, &mut frozen).map_err(unwritable)?;
        inputs::write(&folder, &frozen).map_err(RunError::failed)?;
        let hold = claimed.hold;
        let shared =
            Journal::fork(parent, &hold, &frozen, &place).map_err(|error| RunError::journal(&error))?;
        drop(hold);
        copy_files(parent, &folder, &shared).map_err(unwritable)?;
        check(&folder, &frozen, &prompts, &place)
    };
    made().inspect_err(|_| drop(fs::remove_dir_all(&folder)))?;
    Ok(folder)
}

/// The folder that a run is in. The run may be given as `.`.
fn parent_folder(run: &Path) -> Result<PathBuf, Trouble> {
    let named = if run.file_name().is_some() { Ok(run.to_owned()) } else { run.canonicalize() };
    let named = named.map_err(|error| inputs::unwritable(run, &error))?;
    Ok(named.parent().map(Path::to_owned).unwrap_or_default())
}

fn not_reached(place: &Place, places: &BTreeSet<String>) -> Trouble {
    let steps: BTreeSet<String> = places
        .iter()
        .filter_map(|place| Place::from(place.as_str()).step())
        .map(|step| step.to_string())
        .collect();
    let hint = match nearest(place.as_str(), steps.iter().map(String::as_str)) {
        Some(nearest) => format!("did you mean {nearest}? `mle-star show RUN` lists its places"),
        None => "`mle-star show RUN` lists its places".to_owned(),
    };
    Trouble::new(format!("the run has nothing at \"{place}\""), hint)
}

/// The configuration with these settings, which are resolved as those of a run.
fn changed(config: &Config, settings: &[Setting]) -> Result<Config, RunError> {
    let Settings { config: mut changed, mut given, .. } = resolve_over(config, settings.iter().cloned())?;
    for setting in settings {
        let first = setting.key.split('.').next().unwrap_or_default();
        if FIXED_KEYS.contains(&first) || Config::KEYS.iter().all(|key| key.name != first) {
            let message = format!(
                "{} cannot be changed in a fork ({}): it stands for the whole run, or is no setting of one",
                first, setting.origin
            );
            return Err(Trouble::new(message, "start a new run with `mle-star run`").into());
        }
    }
    absolute_paths(&mut changed)?;
    if given.contains("agents") {
        let chosen = block_on(provider::choose(&changed, &process_environment))??.chosen;
        // The model that the parent was given is one of the same agents.
        given.extend((chosen.name() == config.agents).then(|| "model".to_owned()));
        fix_agents(&mut changed, &given, &chosen)?;
    }
    Ok(changed)
}

/// Copies what the program made of the data.
fn copy_data(parent: &Path, folder: &Path, frozen: &mut Frozen) -> io::Result<()> {
    for name in DATA_FILES {
        copy_with_links(&parent.join(name), &folder.join(name))?;
    }
    if folder.join(layout::DATA).is_dir() {
        frozen.task.data_dir = std::path::absolute(folder.join(layout::DATA))?;
    }
    Ok(())
}

/// Copies a file or a folder, if it is there. Made data links to the user's files that were plain already.
fn copy_with_links(from: &Path, to: &Path) -> io::Result<()> {
    if from.is_symlink() {
        return symlink(fs::read_link(from)?, to);
    }
    if !from.is_dir() {
        return inputs::copy(from, to);
    }
    fs::create_dir_all(to)?;
    fs::read_dir(from)?.try_for_each(|entry| {
        let name = entry?.file_name();
        copy_with_links(&from.join(&name), &to.join(&name))
    })
}

/// Copies the files of the shared scripts.
fn copy_files(parent: &Path, folder: &Path, shared: &[Place]) -> io::Result<()> {
    let stems: BTreeSet<String> = shared.iter().map(Place::file_stem).collect();
    let predictions = format!("{}/{}", layout::HOLDOUT, layout::PREDICTIONS);
    for of in [layout::SOLUTIONS, layout::LOGS, layout::SUBMISSIONS, layout::VALIDATION, &predictions] {
        let Ok(entries) = fs::read_dir(parent.join(of)) else { continue };
        for entry in entries {
            let name = entry?.file_name().to_string_lossy().into_owned();
            let belongs = |(end, _): (usize, &str)| stems.contains(&name[..end]);
            if stems.contains(&name) || name.match_indices('.').any(belongs) {
                fs::create_dir_all(folder.join(of))?;
                inputs::copy(&parent.join(of).join(&name), &folder.join(of).join(&name))?;
            }
        }
    }
    Ok(())
}

/// Checks that the run asks what is recorded up to the place, with the settings that it has now.
fn check(folder: &Path, frozen: &Frozen, prompts: &Prompts, place: &Place) -> Result<(), RunError> {
    let (journal, _) = Journal::open(folder).map_err(|error| RunError::journal(&error))?;
    let why = match replayed(folder, &journal, frozen, prompts)? {
        Ok(unread) if unread.is_empty() => return Ok(()),
        Ok(unread) => format!("{} would not be reached as it was", unread[0]),
        Err(error @ (JournalError::OtherInput { .. } | JournalError::OtherVerdict { .. })) => {
            error.to_string()
        }
        Err(error) => return Err(RunError::journal(&error)),
    };
    let message = format!("with these settings, the run before {place} would not be the recorded one: {why}");
    Err(Trouble::new(message, "leave out the setting that changes it, or fork at an earlier place").into())
}
