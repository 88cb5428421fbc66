//! The offline agents: every answer parses, and every script they write runs.

#[cfg(test)]
mod ask;
#[cfg(test)]
mod cells;
#[cfg(test)]
mod composition;
#[cfg(test)]
mod corners;
#[cfg(test)]
mod derived;
#[cfg(test)]
mod dropped;
#[cfg(test)]
mod folders;
#[cfg(test)]
mod forecasts;
#[cfg(test)]
mod gate;
#[cfg(test)]
mod grouped;
#[cfg(test)]
mod history;
#[cfg(test)]
mod joins;
#[cfg(test)]
mod large;
mod metrics;
#[cfg(test)]
#[cfg(test)]
mod python;
#[cfg(test)]
mod refining;
#[cfg(test)]
mod role_answers;
mod roles;
#[cfg(test)]
mod roles_of_columns;
#[cfg(test)]
mod several_targets;
#[cfg(test)]
mod tasks;
#[cfg(test)]
mod timed;
#[cfg(test)]
mod wide;
