//! Rows that are drawn again: samplers and bootstrap samples.

use crate::calls::Arguments;
use crate::machine::Machine;
use crate::names;
use crate::rows::RowsId;
use crate::value::{Estimator, Role, Value};

impl Machine<'_> {
    /// `sampler.fit_resample(x, y)`.
    pub(crate) fn resampled(&mut self, estimator: &Estimator, arguments: &Arguments) -> Value {
        let site = self.site(arguments.range);
        let mut parts = Vec::new();
        for value in arguments.all().take(2).cloned().collect::<Vec<_>>() {
            let Some(table) = self.table_of(&value).cloned() else {
                parts.push(Value::Unknown);
                continue;
            };
            let rows = if estimator.role == Role::Sampler {
                self.rows.repeated(table.rows, site)
            } else if names::removes_rows(&estimator.name) {
                self.rows.some(table.rows, site)
            } else {
                RowsId::UNKNOWN
            };
            parts.push(self.table(table.with_rows(rows)));
        }
        Value::Tuple(parts.into())
    }

    /// `sklearn.utils.resample(...)`.
    pub(crate) fn resample(&mut self, arguments: &Arguments) -> Value {
        let replaced = !matches!(arguments.named("replace"), Some(Value::Bool(false)));
        let site = self.site(arguments.range);
        let mut parts = Vec::new();
        for value in arguments.positional.clone() {
            let Some(table) = self.table_of(&value).cloned() else {
                parts.push(Value::Unknown);
                continue;
            };
            let rows = if replaced {
                self.rows.repeated(table.rows, site)
            } else {
                self.rows.some(table.rows, site)
            };
            parts.push(self.table(table.with_rows(rows)));
        }
        match parts.as_slice() {
            [only] => only.clone(),
            _ => Value::Tuple(parts.into()),
        }
    }
}
