//! Columns that no model may use because of their roles: ignored ones, weights, and groups that stay whole in time.

use std::borrow::Cow;

use mle_star_domain::task::Task;
use mle_star_tables::profile::Profile;
use mle_star_tables::relations::Link;

use crate::row_time::TimeColumn;

/// The names of all columns that are no features: those with such a role, and those that are predicted or name rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct NoFeatures {
    /// Ignored columns, weights, and groups that stay whole in time.
    of_roles: Vec<String>,
    /// Columns that are predicted or name rows.
    others: Vec<String>,
}

impl NoFeatures {
    /// The columns of a task. `others` are predicted or name rows.
    pub(crate) fn of(task: &Task, time: Option<&TimeColumn>, others: [Option<&str>; 3]) -> Self {
        let grouped = time.and_then(|time| time.groups.clone());
        let is_time = |name: &str| time.is_some_and(|time| time.column == name);
        let of_roles = task.roles.ignored.iter().chain(&task.roles.weight).chain(&grouped);
        Self {
            of_roles: of_roles.cloned().collect(),
            // The time may name rows, too.
            others: others.into_iter().flatten().filter(|name| !is_time(name)).map(str::to_owned).collect(),
        }
    }

    /// Whether a column is one of them.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.has_role(name) || self.others.iter().any(|column| column == name)
    }

    fn has_role(&self, name: &str) -> bool {
        self.of_roles.iter().any(|column| column == name)
    }

    /// The links between tables that need no column with such a role.
    pub(crate) fn links(&self, profile: &Profile) -> Vec<Link> {
        let mut links = profile.relations.links.clone();
        links.retain(|link| !link.columns.iter().any(|column| self.has_role(column)));
        links
    }

    /// The profile with auxiliary tables that lack columns with such a role.
    pub(crate) fn without<'a>(&self, profile: &'a Profile) -> Cow<'a, Profile> {
        let mut columns = profile.auxiliary.iter().flat_map(|table| &table.columns);
        if !columns.any(|column| self.has_role(&column.name)) {
            return Cow::Borrowed(profile);
        }
        let mut profile = profile.clone();
        for table in &mut profile.auxiliary {
            table.columns.retain(|column| !self.has_role(&column.name));
        }
        Cow::Owned(profile)
    }
}
