//! Gives the same columns of all tables the same names.

use std::collections::HashMap;

use mle_star_domain::trouble::Trouble;
use mle_star_formats::Table;

use super::columns::{Columns, key};
use super::{Asked, Look, Taken, opened, quoted};
use crate::folder::Role;

impl Look {
    /// Gives the same columns of all tables the same names, and leaves out those that only number the rows.
    ///
    /// # Errors
    /// A table cannot be read.
    pub(super) fn match_columns(&mut self, asked: &Asked<'_>) -> Result<(), Trouble> {
        self.drop_indices(asked)?;
        self.spell_alike();
        Ok(())
    }

    /// The table, which is opened if it was not.
    pub(super) fn table(&mut self, role: Role, asked: &Asked<'_>) -> Result<Option<&Table>, Trouble> {
        let files = &self.files;
        let Some(taken) = self.tables.iter_mut().find(|taken| taken.role == role) else { return Ok(None) };
        if taken.table.is_none() {
            taken.table = Some(opened(&files.path(&taken.found), asked, None)?);
        }
        Ok(taken.table.as_ref())
    }

    pub(super) fn columns(&mut self, role: Role) -> Option<&mut Columns> {
        self.tables.iter_mut().find(|taken| taken.role == role).map(|taken| &mut taken.columns)
    }

    fn drop_indices(&mut self, asked: &Asked<'_>) -> Result<(), Trouble> {
        let mut dropped = Vec::new();
        let files = &self.files;
        for Taken { found, table, columns, .. } in &mut self.tables {
            if !columns.may_have_index() {
                continue;
            }
            let path = files.path(found);
            let opened = match table.take() {
                Some(table) => table,
                None => opened(&path, asked, None)?,
            };
            columns.drop_index(&opened)?;
            if columns.index.is_some() {
                dropped.push(found.file.display().to_string());
            }
            *table = Some(opened);
        }
        if !dropped.is_empty() {
            let of = dropped.join(", ");
            self.told.push(format!("the unnamed first column of {of} numbers the rows; it is no feature"));
        }
        Ok(())
    }

    /// Names that differ only in case and blanks become those of the training table, or else of the test table.
    fn spell_alike(&mut self) {
        for at in 1..self.tables.len() {
            for before in 0..at {
                let (earlier, later) = self.tables.split_at_mut(at);
                let renamed = spell(&earlier[before].columns, &mut later[0].columns);
                if renamed.is_empty() {
                    continue;
                }
                let (one, other) = (earlier[before].found.file.display(), later[0].found.file.display());
                let [given, names] = [0, 1].map(|part| {
                    let part = renamed.iter().map(|pair| quoted(if part == 0 { &pair.0 } else { &pair.1 }));
                    part.collect::<Vec<_>>().join(", ")
                });
                let are = if renamed.len() == 1 { "is" } else { "are" };
                self.told.push(format!("{given} of {other} {are} {names} of {one}"));
            }
        }
    }
}

/// Renames columns to those of another table that differ only in case and blanks; returns old and new names.
fn spell(known: &Columns, columns: &mut Columns) -> Vec<(String, String)> {
    let count = |columns: &Columns| {
        let mut count: HashMap<String, usize> = HashMap::new();
        columns.all.iter().for_each(|column| *count.entry(key(&column.name)).or_default() += 1);
        count
    };
    let (in_known, in_own) = (count(known), count(columns));
    let mut renamed = Vec::new();
    for at in 0..columns.all.len() {
        let name = columns.all[at].name.clone();
        let is_one = [&in_known, &in_own].iter().all(|count| count.get(&key(&name)) == Some(&1));
        let other = known.all.iter().find(|column| key(&column.name) == key(&name)).filter(|_| is_one);
        if let Some(other) = other.filter(|other| other.name != name) {
            columns.rename(at, &other.name);
            renamed.push((name, other.name.clone()));
        }
    }
    renamed
}
