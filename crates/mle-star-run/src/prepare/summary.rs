//! The data in a few lines, for the prompts.

use std::path::{Path, PathBuf};

use mle_star_domain::config::{Config, Context};
use mle_star_domain::protocol::{Protocol, Split};
use mle_star_domain::task::Task;
use mle_star_domain::trouble::Trouble;
use mle_star_tables::profile::{self, Profile};
use mle_star_tables::summary::{Asked, summarize};

/// What the data holds that scripts of the search see in `data_dir`; `None` with `context: paper`.
///
/// # Errors
/// The data cannot be read.
pub fn summary(
    task: &Task,
    config: &Config,
    (profile, data_dir): (Option<&Profile>, &Path),
    protocol: Option<&Protocol>,
    instead: &[(PathBuf, PathBuf)],
) -> Result<Option<String>, Trouble> {
    if config.context != Context::Full {
        return Ok(None);
    }
    let is_held_out = protocol.is_some_and(|protocol| protocol.holdout.is_on());
    let known = profile::Context { text_columns: Some(&task.text_columns), ..profile::Context::default() };
    let of_search = is_held_out.then(|| profile::read_with(data_dir, &known)).transpose()?;
    let roles = task.column_roles();
    let split = protocol.and_then(|protocol| protocol.split.as_ref());
    // Where series end at times of their own, periods count in stretches and say nothing about a length of time.
    let periods = protocol
        .filter(|_| !split.is_some_and(Split::has_own_ends))
        .and_then(|protocol| protocol.periods.as_ref());
    Ok(Some(summarize(&Asked {
        data_dir,
        profile: of_search.as_ref().or(profile),
        target: task.target(),
        id: task.id_column.as_deref(),
        roles: Some(&roles),
        period: periods.map(|periods| periods.held_out.as_ref().unwrap_or(&periods.test).at),
        split,
        instead,
    })))
}
