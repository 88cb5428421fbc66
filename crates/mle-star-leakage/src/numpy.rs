//! Functions of numpy and scipy.

use std::rc::Rc;

use crate::calls::Arguments;
use crate::machine::Machine;
use crate::rows::RowsId;
use crate::table::{Filling, Mask, Table};
use crate::value::{Number, Object, Value};

impl Machine<'_> {
    /// Functions of numpy and scipy.
    pub(crate) fn call_numpy(&mut self, symbol: &str, name: &str, arguments: &Arguments) -> Option<Value> {
        if !["numpy", "scipy", "cupy", "jax", "torch", "np"].iter().any(|library| symbol.starts_with(library))
        {
            return None;
        }
        let of_torch = symbol.starts_with("torch");
        if of_torch && name.starts_with(char::is_uppercase) {
            let is_tensor = name.ends_with("Tensor");
            return is_tensor.then(|| self.as_array(&arguments.first_value()));
        }
        if of_torch && matches!(name, "max" | "min" | "topk" | "sort") && arguments.get(1, "dim").is_some() {
            // The values, and where they are.
            let made = self.elementwise(&Arguments {
                positional: arguments.positional.iter().take(1).cloned().collect(),
                ..Arguments::default()
            });
            return Some(Value::Tuple([made.clone(), made].into()));
        }
        let first = arguments.first_value();
        Some(match name {
            "zeros" | "ones" | "empty" | "full" => self.blank(&first),
            "zeros_like" | "ones_like" | "empty_like" | "full_like" => match self.table_of(&first) {
                Some(table) => self.table(Table::blank(table.rows)),
                None => Value::some_number(),
            },
            "arange" => first.length().map_or_else(Value::some_number, |rows| self.positions(rows)),
            "linspace" | "logspace" | "geomspace" => Value::some_number(),
            "dirichlet" => self.random(),
            "choice" => self.drawn_rows(&first, arguments),
            "rand" | "random" | "uniform" | "normal" | "randn" | "random_sample" | "randint"
            | "permutation" | "standard_normal" | "integers" => self.drawn(arguments),
            "default_rng" | "RandomState" => Value::Symbol("numpy.random".into()),
            "concatenate" | "vstack" | "hstack" | "column_stack" | "row_stack" | "stack" | "append"
            | "c_" | "r_" => self.stacked(name, arguments),
            "repeat" | "tile" => match self.table_of(&first).cloned() {
                Some(table) => {
                    let rows = self.rows.repeated(table.rows, self.site(arguments.range));
                    self.table(table.with_rows(rows))
                }
                None => Value::Unknown,
            },
            "mean" | "sum" | "average" | "nanmean" | "median" | "std" | "var" | "nanmedian" | "nanstd"
            | "percentile" | "quantile" | "prod" | "nansum" | "gmean" | "mode" => {
                self.averaged(name, &first, arguments)
            }
            "max" | "min" | "amax" | "amin" | "argmax" | "argmin" | "nanargmax" | "nanargmin" | "nanmax"
            | "nanmin" => self.extreme(&first, arguments),
            "array" | "asarray" | "ascontiguousarray" | "copy" | "ravel" | "squeeze" | "csr_matrix"
            | "tensor" | "from_numpy" | "atleast_2d" => self.as_array(&first),
            _ => self.call_positions(name, &first, arguments),
        })
    }

    /// Functions that give positions of rows, put values in order, or choose among them.
    fn call_positions(&mut self, name: &str, first: &Value, arguments: &Arguments) -> Value {
        match name {
            "where" | "nonzero" if arguments.positional.len() == 1 => {
                let positions = self.positions_of(first);
                Value::Tuple([positions].into())
            }
            "flatnonzero" => self.positions_of(first),
            "argsort" | "argpartition" => match self.table_of(first).map(|table| table.rows) {
                Some(rows) => self.positions(rows),
                None => first.if_number(),
            },
            "sort" | "flip" | "fliplr" | "flipud" | "digitize" | "searchsorted" => {
                self.elementwise(arguments)
            }
            "where" | "select" => self.chosen_values(arguments),
            "unique" | "bincount" | "isnan" | "isfinite" | "nonzero" | "setdiff1d" | "intersect1d"
            | "histogram" | "ix_" | "shuffle" | "corrcoef" | "cov" => self.arranged(name, arguments),
            _ => self.elementwise(arguments),
        }
    }

    /// The positions of rows.
    pub(crate) fn positions(&mut self, rows: RowsId) -> Value {
        self.table(Table::positions(rows))
    }

    /// The positions of the rows that a condition holds for.
    fn positions_of(&mut self, condition: &Value) -> Value {
        let Some(rows) = self.table_of(condition).map(|table| table.rows) else {
            return condition.if_number();
        };
        match self.chosen_rows(&Table::of(rows), condition) {
            Some(rows) => self.positions(rows),
            None => Value::Unknown,
        }
    }

    /// An array that is filled later: `zeros(len(table))`.
    fn blank(&mut self, shape: &Value) -> Value {
        let items = self.contents(shape);
        let first = items.as_ref().map_or(Some(shape), |items| items.first());
        self.table(Table::blank(first.and_then(Value::length).unwrap_or_default()))
    }

    fn drawn(&mut self, arguments: &Arguments) -> Value {
        let length = arguments.all().find_map(|value| match value {
            Value::Tuple(items) => items.iter().find_map(Value::length),
            _ => value.length(),
        });
        let table = arguments.first().and_then(|value| self.table_of(value)).cloned();
        match (length, table) {
            (Some(rows), _) => self.table(Table::blank(rows)),
            (None, Some(_)) => Value::Unknown,
            _ => self.random(),
        }
    }

    fn as_array(&mut self, value: &Value) -> Value {
        match self.table_of(value).cloned() {
            Some(table) => self.table(table.values()),
            None => value.clone(),
        }
    }

    /// Several arrays one after the other, or side by side.
    pub(crate) fn stacked(&mut self, name: &str, arguments: &Arguments) -> Value {
        let first = arguments.first_value();
        let (items, open) = if name == "append" {
            (arguments.positional.clone(), false)
        } else {
            let open = matches!(self.state.get(&first), Some(Object::List(list)) if list.open);
            (self.contents(&first).unwrap_or_default(), open)
        };
        let across = match arguments.named("axis").or_else(|| arguments.positional.get(1)) {
            _ if matches!(name, "hstack" | "column_stack" | "c_") => true,
            Some(Value::Int(axis)) => *axis != 0,
            Some(Value::Str(axis)) => &**axis == "columns",
            _ => name == "stack",
        };
        let tables: Vec<Table> = items.iter().filter_map(|item| self.table_of(item)).cloned().collect();
        if let (true, Some(positions)) = (tables.is_empty() && !open, self.both_sides(&items, arguments)) {
            return positions;
        }
        if tables.is_empty() {
            return if self.scores_of(&first, 2).is_empty() { Value::Unknown } else { first };
        }
        // Predictions of the folds in a row: `np.hstack([fold, ...])`.
        let across = across && !(open && name == "hstack");
        if across {
            return self.table(beside(&tables));
        }
        let fixed = self.fixed_tables(&first);
        self.below(&tables, open || tables.len() < items.len(), fixed, arguments)
    }

    /// The positions of the training rows and of the validation rows of a fold, put together.
    fn both_sides(&mut self, items: &[Value], arguments: &Arguments) -> Option<Value> {
        let [Value::Positions { of, part }, Value::Positions { of: other, part: rest }] = items else {
            return None;
        };
        if of != other || part == rest || self.other_side(*of, *part) != Some(*rest) {
            return None;
        }
        let joined = self.rows.joined(&[*part, *rest], self.site(arguments.range));
        Some(Value::Positions { of: *of, part: joined })
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
        let drawn = tables.iter().find_map(|table| Some((table.rows, self.rows.repetition(table.rows)?)));
        if let Some((rows, repeated)) = drawn {
            let of = self.rows.ancestors(rows).last().unwrap_or_default();
            let some = self.rows.some(of, site);
            return self.rows.repeated(some, repeated);
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
        joined.index = false;
        if open && !tables.iter().any(|table| table.rows.is_known()) {
            joined.rest.lessons = self.over_folds(&joined.rest.lessons);
            for (_, column) in &mut joined.columns {
                column.lessons = self.over_folds(&column.lessons);
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
            self.repeated_in_list(tables, fixed, site)
        } else if let Some((one, other)) = twice(self) {
            let whole = if self.rows.contains(one, other) { one } else { other };
            self.rows.repeated(whole, site)
        } else {
            self.rows.joined(&parts, site)
        };
        self.table(joined)
    }

    fn averaged(&mut self, name: &str, first: &Value, arguments: &Arguments) -> Value {
        if matches!(name, "mean" | "sum" | "average" | "nanmean" | "nansum" | "gmean") {
            if self.table_of(first).is_none() {
                let weights =
                    arguments.named("weights").map(|weights| self.lessons_of(weights)).unwrap_or_default();
                let mean = self.mean_of(first, arguments);
                let rows = self.table_of(&mean).map_or(RowsId::UNKNOWN, |table| table.rows);
                let weights = self.applied(&weights, rows);
                return self.with_lessons(&mean, &weights);
            }
            return self.mean_of(first, arguments);
        }
        match self.table_of(first).cloned() {
            Some(table) if arguments.named("axis").is_none_or(|axis| matches!(axis, Value::Int(0))) => {
                self.reduce(&table, true, arguments.range)
            }
            Some(table) => self.table(table.values()),
            None => self.mean_of(first, arguments),
        }
    }

    fn extreme(&mut self, first: &Value, arguments: &Arguments) -> Value {
        let across =
            arguments.get(1, "axis").is_some_and(|axis| !matches!(axis, Value::Int(0) | Value::None));
        match self.table_of(first).cloned() {
            Some(table) if across => self.table(table.values()),
            Some(table) => self.reduce(&table, false, arguments.range),
            None => {
                let given = Arguments { positional: vec![first.clone()], ..arguments.clone() };
                self.best(&given)
            }
        }
    }

    /// `where(condition, one, other)`: predictions may be replaced by true values.
    fn chosen_values(&mut self, arguments: &Arguments) -> Value {
        let made = self.elementwise(arguments);
        let values: Vec<Table> =
            arguments.positional.iter().skip(1).filter_map(|value| self.table_of(value)).cloned().collect();
        let predicted = |table: &Table| self.infos.has_model(&table.lessons());
        let mixed = values.iter().any(Table::is_target) && values.iter().any(predicted);
        if let (true, Some(table)) = (mixed, self.table_of(&made).cloned()) {
            return self.table(Table { filling: Filling { mixed, ..table.filling }, ..table });
        }
        made
    }

    /// Rows drawn at random by their positions: `choice(index, size)`.
    fn drawn_rows(&mut self, first: &Value, arguments: &Arguments) -> Value {
        let rows = match (first, self.table_of(first)) {
            (_, Some(table)) if table.index => table.rows,
            (Value::Length(rows), _) => *rows,
            _ => return self.drawn(arguments),
        };
        let site = self.site(arguments.range);
        let replaced = !matches!(arguments.get(2, "replace"), Some(Value::Bool(false)));
        let rows = if replaced { self.rows.repeated(rows, site) } else { self.rows.some(rows, site) };
        self.positions(rows)
    }

    /// Functions that return rows in another arrangement.
    fn arranged(&mut self, name: &str, arguments: &Arguments) -> Value {
        let first = arguments.first_value();
        match (name, self.table_of(&first).cloned()) {
            ("isnan" | "isfinite", Some(table)) => {
                let key = format!("{name}{}", self.compact(arguments.range));
                self.table(Table::conditions(table.rows, &key))
            }
            // `oof[np.ix_(rows, columns)]`
            ("ix_", _) if matches!(first, Value::Positions { .. }) => first,
            _ => Value::Unknown,
        }
    }

    /// Functions of each value by itself.
    pub(crate) fn elementwise(&mut self, arguments: &Arguments) -> Value {
        let values: Vec<Value> = arguments.all().cloned().collect();
        let tables: Vec<Table> =
            values.iter().filter_map(|value| self.table_of(value)).map(Table::values).collect();
        let others = values.iter().filter(|value| self.table_of(value).is_none());
        let lessons = others.map(|value| self.lessons_of(value)).collect();
        let rows = tables.iter().map(|table| table.rows).find(|rows| rows.is_known()).unwrap_or_default();
        let lessons = self.applied(&lessons, rows);
        let Some((first, rest)) = tables.split_first() else {
            let scores = values.iter().map(|value| self.scores_of(value, 2)).collect();
            let known = values.iter().any(|value| matches!(value, Value::Number(_)));
            let truth = known && values.iter().all(is_of_truth);
            let number = Number { lessons, scores, truth, ..Number::default() };
            return if known { Value::Number(Rc::new(number)) } else { Value::Unknown };
        };
        let mut made = first.clone();
        made.mask.condition = made.mask.condition.filter(|_| values.len() == 1);
        for table in rest {
            let rows = if made.rows.is_known() { made.rows } else { table.rows };
            let compared = made.mask.compared.or(table.mask.compared);
            let mask = Mask { compared, ..Mask::default() };
            made = Table { mask, ..Table::array(rows, made.rest.lessons.and(&table.rest.lessons)) };
        }
        made.learn(&lessons);
        self.table(made)
    }
}

/// Tables side by side.
pub(crate) fn beside(tables: &[Table]) -> Table {
    let mut joined = tables.first().cloned().unwrap_or_default();
    for table in tables.iter().skip(1) {
        if !joined.rows.is_known() {
            joined.rows = table.rows;
        }
        for (name, column) in &table.columns {
            joined.set(Rc::clone(name), column.clone());
        }
        joined.rest.lessons.add(&table.rest.lessons);
        joined.rest.target = false;
        joined.unnamed.add(&table.unnamed);
    }
    joined.label = None;
    joined.mask.condition = None;
    joined.whole = false;
    joined
}

/// Whether a number is computed from true values alone, or is a constant.
pub(crate) fn is_of_truth(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.truth,
        value => value.is_constant_number(),
    }
}
