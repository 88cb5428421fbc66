//! The offline agents: every answer parses, and every script they write runs.

#[cfg(test)]
mod asked;
#[cfg(test)]
mod groups;
#[cfg(test)]
mod python;
#[cfg(test)]
mod roles;
#[cfg(test)]
mod tasks;
