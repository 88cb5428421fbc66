//! The targets of a script: their names, the files that have them, and what they were made from.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::info::TargetId;
use crate::rows::RowsId;

/// The targets of a script.
#[derive(Clone, Debug, Default)]
pub(crate) struct Targets {
    /// The names of their columns.
    names: BTreeSet<String>,
    /// Those among them that a file certainly has, with the file.
    pub(crate) in_files: BTreeSet<(Rc<str>, String)>,
    /// Those that certainly hold numbers.
    pub(crate) numeric: BTreeSet<String>,
    /// The column of which later values make one.
    leads: BTreeMap<String, String>,
    /// The column of the file that one was computed from, value by value.
    pub(crate) made_from: BTreeMap<String, String>,
}

/// What a run of the machine finds out about targets.
#[derive(Debug, Default)]
pub(crate) struct SeenTargets {
    /// Columns that models were given as their target.
    pub(crate) names: BTreeSet<String>,
    /// Columns that others were correlated with.
    pub(crate) associated: BTreeSet<String>,
    /// Columns that the script took from a file, with the file.
    pub(crate) columns: BTreeSet<(Rc<str>, String)>,
    /// Columns that the script computed with as with numbers.
    pub(crate) numeric: BTreeSet<String>,
    /// Columns that were made from later values of another one.
    pub(crate) leads: BTreeMap<String, String>,
    /// Columns that were made from one column of a file, value by value.
    pub(crate) made_from: BTreeMap<String, String>,
    /// Files by the rows of their tables.
    pub(crate) files: FxHashMap<RowsId, Rc<str>>,
}

impl Targets {
    /// The targets with these names.
    pub(crate) fn named(names: &[String]) -> Self {
        Self { names: names.iter().cloned().collect(), ..Self::default() }
    }

    /// These targets, or those that a run saw, with what it saw of them.
    pub(crate) fn after(self, seen: SeenTargets) -> Self {
        let mut names = if self.names.is_empty() { seen.likely() } else { self.names };
        let mut made: Vec<String> = names.iter().cloned().collect();
        while let Some(name) = made.pop() {
            let source = seen.made_from.get(&name).filter(|source| names.insert((*source).clone()));
            made.extend(source.cloned());
        }
        let columns = seen.columns.into_iter().filter(|(_, name)| names.contains(name)).collect();
        Self { names, in_files: columns, numeric: seen.numeric, leads: seen.leads, made_from: seen.made_from }
    }

    /// Whether a column is a target.
    pub(crate) fn contains(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// Whether a target is computed from a column, value by value.
    pub(crate) fn is_source(&self, name: &str) -> bool {
        self.contains(name) && self.made_from.iter().any(|(made, from)| from == name && self.contains(made))
    }

    /// The names of the columns.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &String> {
        self.names.iter()
    }

    /// The target that is made from later values of a column.
    pub(crate) fn ahead_of(&self, column: &str) -> Option<TargetId> {
        let (name, _) = self.leads.iter().find(|(name, of)| *of == column && self.contains(name))?;
        self.number(name)
    }

    /// The number of a target. One that was made from another one has the same.
    pub(crate) fn number(&self, name: &str) -> Option<TargetId> {
        let mut name = name;
        // Two columns may be made from each other.
        for _ in 0..self.made_from.len() {
            match self.made_from.get(name) {
                Some(source) => name = source,
                None => break,
            }
        }
        let at = self.names.iter().position(|known| known == name)?;
        Some(TargetId(u16::try_from(at).unwrap_or(u16::MAX)))
    }
}

impl SeenTargets {
    /// What models and metrics got as their target. Without them, it is the only column that others were correlated with.
    fn likely(&self) -> BTreeSet<String> {
        if !self.names.is_empty() {
            return self.names.clone();
        }
        if self.associated.len() == 1 { self.associated.clone() } else { BTreeSet::new() }
    }
}
