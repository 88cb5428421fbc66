//! The data in a few lines, for the prompts.

use std::path::PathBuf;

use mle_star_domain::config::{Config, Context};
use mle_star_domain::protocol::Split;
use mle_star_domain::task::Task;
use mle_star_tables::profile::Profile;
use mle_star_tables::summary::{Asked, summarize};

use super::protocol::Decided;

/// What the data holds, as scripts of the search see it; `None` with `context: paper`.
pub fn summary(
    task: &Task,
    config: &Config,
    profile: Option<&Profile>,
    decided: Option<&Decided>,
    instead: &[(PathBuf, PathBuf)],
) -> Option<String> {
    let roles = task.column_roles();
    let asked = Asked {
        data_dir: &task.data_dir,
        profile,
        target: task.target(),
        id: task.id_column.as_deref(),
        roles: Some(&roles),
        // Where series end at times of their own, periods count in stretches and say nothing about a length of time.
        period: decided
            .filter(|decided| !decided.protocol.split.as_ref().is_some_and(Split::has_own_ends))
            .and_then(|decided| decided.protocol.periods.as_ref())
            .map(|periods| periods.held_out.as_ref().unwrap_or(&periods.test).at),
        split: decided.and_then(|decided| decided.protocol.split.as_ref()),
        held_out: decided.and_then(|decided| decided.held_out.as_ref()),
        instead,
    };
    (config.context == Context::Full).then(|| summarize(&asked))
}
