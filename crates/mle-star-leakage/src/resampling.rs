//! Rows that are drawn again: samplers and bootstrap samples.

use crate::calls::Arguments;
use crate::effects::Made;
use crate::machine::Machine;
use crate::rows::RowsId;
use crate::value::{Estimator, Role, Value};

impl Machine<'_> {
    /// `sampler.fit_resample(x, y)`.
    pub(crate) fn resampled(&mut self, estimator: &Estimator, arguments: &Arguments) -> Value {
        let given: Vec<Value> = arguments.all().take(2).cloned().collect();
        let repeats = match estimator.role {
            Role::Sampler => Some(true),
            _ => (estimator.known == Some(Made::Undersampling)).then_some(false),
        };
        Value::Tuple(self.drawn_again(&given, repeats, arguments).into())
    }

    /// `sklearn.utils.resample(...)`.
    pub(crate) fn resample(&mut self, arguments: &Arguments) -> Value {
        let repeats = !matches!(arguments.named("replace"), Some(Value::Bool(false)));
        match &*self.drawn_again(&arguments.positional, Some(repeats), arguments) {
            [only] => only.clone(),
            parts => Value::Tuple(parts.into()),
        }
    }

    /// Tables with rows that were drawn from them, if it is known how.
    fn drawn_again(&mut self, given: &[Value], repeats: Option<bool>, arguments: &Arguments) -> Vec<Value> {
        let drawn = given.iter().map(|value| {
            let Some(table) = self.table_of(value).cloned() else { return Value::Unknown };
            let site = self.site(arguments.range);
            let rows = match repeats {
                Some(true) => self.rows.repeated(table.rows, site),
                Some(false) => self.rows.some(table.rows, site),
                None => RowsId::UNKNOWN,
            };
            self.table(table.with_rows(rows))
        });
        drawn.collect()
    }
}
