//! Tables and positions that are put together: `concat` and the like, with rows that are in the result more than once.

use crate::calls::Arguments;
use crate::info::Dependency;
use crate::machine::Machine;
use crate::rows::RowsId;
use crate::table::Table;
use crate::value::{Object, Value};

impl Machine<'_> {
    /// The rows of a table whose parts by the values of a column, as in a loop over all of them, these are.
    fn whole_of_parts(&self, tables: &[Table]) -> Option<RowsId> {
        let whole = self.whole_of_value(tables.first()?.rows)?;
        let varies = self.varies(tables.first()?.rows);
        let same = tables.iter().all(|table| self.whole_of_value(table.rows) == Some(whole));
        (same && !varies).then_some(whole)
    }

    /// What was learnt from each part of a table was learnt from all of it.
    fn learn_from_whole(&mut self, table: &mut Table, whole: RowsId) {
        let columns = table.columns.iter_mut().map(|(_, column)| column);
        for column in columns.chain([&mut table.rest]) {
            let from_whole = |dep: Dependency| match self.whole_of_value(dep.from) {
                Some(of) if of == whole => Dependency { from: whole, ..dep },
                _ => dep,
            };
            let deps: Vec<Dependency> = self.infos.deps(&column.deps).map(from_whole).collect();
            column.deps = deps.into_iter().map(|dep| self.infos.dep(dep)).collect();
        }
    }

    /// How many of the first items of a list were in it before a loop added more.
    pub(crate) fn fixed_tables(&self, list: &Value) -> usize {
        match self.state.get(list) {
            Some(Object::List(list)) => list.fixed,
            _ => 0,
        }
    }

    /// The rows of tables of a list to which a loop added some, if rows are in it more than once.
    fn repeated_in_list(&mut self, tables: &[Table], fixed: usize, site: crate::site::Site) -> RowsId {
        if let Some(whole) = self.whole_of_parts(tables).filter(|_| fixed == 0) {
            return self.rows.some(whole, site);
        }
        let (before, added) = tables.split_at(fixed.min(tables.len()));
        let twice = before.iter().find(|table| {
            added.iter().any(|other| !self.varies(other.rows) && self.rows.overlap(table.rows, other.rows))
        });
        match twice {
            Some(table) => self.rows.repeated(table.rows, site),
            None => RowsId::UNKNOWN,
        }
    }

    /// Tables one below the other.
    pub(crate) fn below(
        &mut self,
        tables: &[Table],
        open: bool,
        fixed: usize,
        arguments: &Arguments,
    ) -> Value {
        let mut joined = tables.first().cloned().unwrap_or_default();
        for table in tables.iter().skip(1) {
            joined = Table { whole: joined.whole || table.whole, ..joined.join(table) };
        }
        joined.mask.condition = None;
        joined.order.by_target = None;
        joined.by_target = false;
        // Positions of parts, put together, are positions.
        joined.index =
            tables.iter().all(|table| table.index) && (!open || self.whole_of_parts(tables).is_some());
        if open && !tables.iter().any(|table| table.rows.is_known()) {
            joined.rest.deps = self.over_folds(&joined.rest.deps);
            for (_, column) in &mut joined.columns {
                column.deps = self.over_folds(&column.deps);
            }
        }
        let site = self.site(arguments.range);
        let parts: Vec<RowsId> = tables.iter().map(|table| table.rows).collect();
        let twice = |rows: &Self| {
            let pairs = parts
                .iter()
                .enumerate()
                .flat_map(|(at, one)| parts.iter().skip(at + 1).map(move |other| (*one, *other)));
            let mut pairs = pairs.into_iter().filter(|(_, other)| !rows.varies(*other));
            pairs.find(|(one, other)| rows.rows.overlap(*one, *other))
        };
        // What a loop takes in each step is not the same rows again.
        let open =
            open || parts.iter().skip(1).any(|part| self.varies(*part) && self.rows.overlap(parts[0], *part));
        joined.rows = if open {
            if let Some(whole) = self.whole_of_parts(tables) {
                self.learn_from_whole(&mut joined, whole);
            }
            self.repeated_in_list(tables, fixed, site)
        } else if twice(self).is_some() {
            let all = |whole: &&RowsId| parts.iter().all(|part| self.rows.contains(**whole, *part));
            let whole = parts.iter().find(all).copied();
            let whole = whole.unwrap_or_else(|| self.rows.joined(&parts, site));
            self.rows.repeated(whole, site)
        } else {
            self.rows.joined(&parts, site)
        };
        if !open && !joined.rows.is_known() {
            joined.rest.deps = self.lagged(&joined.rest.deps);
        }
        self.table(joined)
    }
}
