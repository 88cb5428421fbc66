//! Items of tables, lists and the like: `base[index]`.

use crate::calls::Arguments;
use crate::copies::with_rows;
use crate::effects::{self, Effect};
use crate::info::Kind;
use crate::machine::Machine;
use crate::machine::row_of;
use crate::rows::{DivisionKind, RowsId};
use crate::syntax::key;
use crate::table::{Group, Mask, Order, Table};
use crate::training::is_every_row;
use crate::value::{Bound, List, Names, Object, Value};
use ruff_python_ast::{Expr, ExprSlice, UnaryOp};
use ruff_text_size::{Ranged, TextRange};
use std::rc::Rc;

impl<'a> Machine<'a> {
    /// An item of a value: `base[index]`.
    pub(crate) fn item(&mut self, base: &Value, index: &'a Expr, site: TextRange) -> Value {
        if let Some((of, bound)) = base.bound() {
            if matches!(bound, Bound::History | Bound::CrossScores) {
                let key = self.eval(index);
                return self.item_of_results(of, bound, &key, site);
            }
            return match (self.table_of(of).cloned(), bound) {
                (Some(table), Bound::Places) => self.located(&table, index),
                (None, _) | (_, Bound::Transposed) => Value::Unknown,
                _ => of.clone(),
            };
        }
        if let Value::Symbol(symbol) = base {
            let name = symbol.rsplit('.').next().unwrap_or_default().to_owned();
            let items = self.eval(index);
            let arguments =
                Arguments { positional: vec![items], range: site, called: site, ..Arguments::default() };
            return match effects::of(effects::libraries(symbol), &name) {
                Some(Effect::Stack(stack)) => self.stacked(stack, &arguments),
                _ => Value::Unknown,
            };
        }
        if let Expr::Slice(slice) = index {
            return self.slice(base, slice);
        }
        if let Some(table) = self.table_of(base).cloned() {
            return self.table_item(&table, index);
        }
        // An array that was made from a list.
        if let (Expr::Tuple(axes), Some(Object::List(_))) = (index, self.state.get(base))
            && axes.elts.first().is_some_and(is_every_item)
        {
            return base.clone();
        }
        let index = self.eval(index);
        if let Some(codes) = self.table_of(&index).cloned()
            && let Some(found) = self.looked_up_by(base, &codes, site)
        {
            return found;
        }
        self.value_item(base, &index)
    }

    pub(crate) fn value_item(&mut self, base: &Value, index: &Value) -> Value {
        let index_deps = self.deps_of(index);
        match (base, self.state.handle(base).as_deref()) {
            (Value::Tuple(items), _) => match index {
                Value::Int(position) => at(items, *position),
                _ => self.join_all(items),
            },
            (Value::Number(number), _)
                if number.row.is_none() && index.as_str().is_some_and(|name| self.targets.contains(name)) =>
            {
                // Correlations with the target, of all correlations.
                let deps = self.infos.map_kinds(&number.deps, |kind| match kind {
                    Kind::Unsupervised => Some(Kind::Selection),
                    _ => Some(kind),
                });
                Value::number(deps, number.scores.clone())
            }
            (Value::Number(number), _) => {
                let value = match index.as_str() {
                    Some(name) => self.value_of_row(number, name),
                    None => base.clone(),
                };
                self.with_deps(&value, &index_deps)
            }
            (Value::Names(_), _) if matches!(index, Value::Names(_)) => index.clone(),
            (Value::Names(names), _) => {
                let deps = names.deps.and(&self.selecting(index));
                Value::Names(Rc::new(Names { deps, ..Names::default() }))
            }
            (_, Some(Object::List(list))) => match index {
                Value::Int(position) if !list.open => at(&list.items, *position),
                _ => {
                    let joined = self.join_all(&list.items);
                    let rows = match index {
                        Value::Number(number) => number.row.as_ref().filter(|row| row.index),
                        _ => None,
                    };
                    let rows = rows.map_or(RowsId::UNKNOWN, |row| row.rows);
                    let joined = if list.open { with_rows(&joined, rows) } else { joined };
                    self.with_deps(&joined, &index_deps)
                }
            },
            (_, Some(Object::Dict(dict))) => {
                let found = match index.constant() {
                    Some(key) => dict.get(&key).cloned().unwrap_or_else(|| self.join_all(&dict.others)),
                    None => self.join_all(&dict.values()),
                };
                let found = self.so_far(found);
                let chosen =
                    self.infos.map(&index_deps, |dep| matches!(dep.kind, Kind::Choice(_)).then_some(dep));
                self.with_deps(&found, &chosen)
            }
            (_, Some(Object::Group(group))) => self.choose_columns(group, index),
            _ => Value::Unknown,
        }
    }

    /// `groups[columns]` or `groups.column`.
    pub(crate) fn choose_columns(&mut self, group: &Group, index: &Value) -> Value {
        let table = match (index.constant(), self.texts(index)) {
            (Some(name), _) => self.select(&group.table, &name),
            (None, Some(names)) => self.select_all(&group.table, &names),
            _ => Table::of(group.table.rows),
        };
        self.state.add(Object::Group(Group { table, chosen: true, ..group.clone() }))
    }

    fn table_item(&mut self, table: &Table, index: &'a Expr) -> Value {
        if let Expr::Tuple(tuple) = index {
            return self.array_item(table, &tuple.elts);
        }
        let range = index.range();
        let chooses_rows = self.is_mask(index);
        let index = self.eval(index);
        if matches!(index, Value::Unknown) && chooses_rows {
            return self.table(table.with_rows(RowsId::UNKNOWN));
        }
        if table.is_nameless()
            && let Some(codes) = self.table_of(&index).cloned()
        {
            let base = self.table(table.clone());
            if let Some(found) = self.looked_up_by(&base, &codes, range) {
                return found;
            }
        }
        self.table_item_by(table, &index)
    }

    /// Whether an index of which nothing is known chooses rows: it is inverted here or elsewhere.
    fn is_mask(&self, index: &Expr) -> bool {
        match index {
            Expr::UnaryOp(operation) => operation.op == UnaryOp::Invert,
            Expr::Name(name) => self.syntax.inverted.contains(name.id.as_str()),
            _ => false,
        }
    }

    /// `table[index]`.
    pub(crate) fn table_item_by(&mut self, table: &Table, index: &Value) -> Value {
        if let Some(name) = index.name() {
            let column = self.select(table, &name);
            return self.table(column);
        }
        if matches!(index, Value::Names(names) if names.each) {
            let (rest, by_target) = (table.rest.clone(), table.by_target);
            return self.table(Table { rest, by_target, ..Table::of(table.rows) });
        }
        if let Some(rows) = self.chosen_rows(table, index) {
            let mut chosen = table.with_rows(rows);
            chosen.by_target = self.table_of(index).is_some_and(|index| index.by_target);
            let deps = self.about_features(index);
            chosen = self.ordered_by(&chosen, &deps);
            return self.table(chosen);
        }
        if let Some(names) = self.texts(index) {
            let selected = self.select_all(table, &names);
            return self.table(selected);
        }
        let deps = self.selecting(index);
        let mut selected = match index {
            Value::Names(names) if names.sure => self.columns_named(table, names),
            Value::Int(_) | Value::Number(_) if table.is_nameless() => {
                return self.one_value(table, index);
            }
            // Of an array it may be any rows.
            _ if table.is_nameless() => {
                Table { rest: table.rest.clone(), label: table.label.clone(), ..Table::default() }
            }
            _ => Table {
                rest: table.rest.clone(),
                order: Order { times: Vec::new(), ..table.order.clone() },
                by_target: table.by_target,
                framed: matches!(index, Value::Names(_)),
                ..Table::of(table.rows)
            },
        };
        if !table.is_nameless() {
            selected.label = None;
        }
        selected.learn(&deps);
        self.table(selected)
    }

    /// One value or row of an array.
    fn one_value(&mut self, table: &Table, index: &Value) -> Value {
        if is_position(index, table) {
            return row_of(table, table.is_target());
        }
        Value::learnt(table.rest.deps.clone())
    }

    /// `array[rows, columns]`.
    fn array_item(&mut self, table: &Table, index: &'a [Expr]) -> Value {
        let Some((first, rest)) = index.split_first() else { return Value::Unknown };
        if let Expr::Slice(slice) = first
            && let Some(window) = self.overlapping_window(table, slice)
        {
            return window;
        }
        let mut chosen = match first {
            Expr::Slice(slice) => self.sliced(table, slice),
            Expr::NoneLiteral(_) | Expr::EllipsisLiteral(_) => table.clone(),
            _ => {
                let rows = self.eval(first);
                let by_target = self.table_of(&rows).is_some_and(|index| index.by_target);
                match self.chosen_rows(table, &rows) {
                    Some(rows) => Table { by_target, ..table.with_rows(rows) },
                    None => Table { rest: table.rest.clone(), ..Table::default() },
                }
            }
        };
        let by_target = chosen.by_target;
        if let [column] = rest
            && !column.is_slice_expr()
        {
            let column = self.eval(column);
            let deps = self.selecting(&column);
            let range = Self::column_at(&chosen, &column);
            chosen = match (column.name(), self.texts(&column)) {
                (Some(name), _) => self.select(&chosen, &name),
                (None, Some(names)) => self.select_all(&chosen, &names),
                _ => match &column {
                    Value::Names(names) if names.sure => self.columns_named(&chosen, names),
                    _ => self.unsure(&chosen),
                },
            };
            chosen.learn(&deps);
            (chosen.by_target, chosen.range) = (by_target, range);
        } else if let [Expr::Slice(slice)] = rest {
            let range = self.sliced_columns(&chosen, slice);
            if !is_whole(slice) {
                chosen = Table { range, ..self.unsure(&chosen) };
            }
        } else if !rest.is_empty() {
            chosen = Table { range: None, ..self.unsure(&chosen) };
        }
        self.table(chosen)
    }

    /// `table.loc[rows, columns]` and the like.
    fn located(&mut self, table: &Table, index: &'a Expr) -> Value {
        match index {
            Expr::Tuple(tuple) => self.array_item(table, &tuple.elts),
            Expr::Slice(slice) => self.table_slice(table, slice),
            _ => {
                let rows = self.eval(index);
                if is_position(&rows, table) {
                    return row_of(table, table.is_target());
                }
                if let Some(found) = self.statistics_for(table, &rows, index.range()) {
                    return found;
                }
                let chosen = match self.chosen_rows(table, &rows) {
                    Some(rows) => table.with_rows(rows),
                    None => Table { rows: RowsId::UNKNOWN, ..table.clone() },
                };
                self.table(chosen)
            }
        }
    }

    /// The rows that positions, a condition or an index choose. `None`: the index does not choose rows.
    pub(crate) fn chosen_rows(&mut self, table: &Table, index: &Value) -> Option<RowsId> {
        if is_every_row(index) {
            return Some(table.rows);
        }
        if let Value::Condition(mask) = index {
            return self.rows_of_mask(table, mask);
        }
        let index = self.table_of(index)?.clone();
        if index.positions.is_some_and(|of| of != table.rows) {
            // Positions of other rows say nothing here.
            return Some(RowsId::UNKNOWN);
        }
        if let (Some(among), Some((_, negated))) = (index.mask.among, &index.mask.condition) {
            let negated = *negated;
            return Some(if negated {
                self.other_side(table.rows, among).unwrap_or_default()
            } else {
                among
            });
        }
        if let Some(rows) = self.rows_of_mask(table, &index.mask) {
            return Some(rows);
        }
        if index.index {
            return Some(index.rows);
        }
        let names = !table.is_nameless();
        if let Some(name) = index.label.clone().filter(|_| names && index.rows == table.rows) {
            return Some(self.divided(table.rows, &name, false, DivisionKind::Condition));
        }
        None
    }

    /// The rows that a condition chooses.
    fn rows_of_mask(&mut self, table: &Table, mask: &Mask) -> Option<RowsId> {
        let (key, negated) = mask.condition.clone()?;
        let kind = match (mask.random, mask.value) {
            (true, _) => DivisionKind::Random,
            (false, true) => DivisionKind::Value,
            (false, false) => DivisionKind::Condition,
        };
        let rows = self.divided(table.rows, &key, negated, kind);
        if mask.compared.is_some() {
            self.note_chosen_by_errors(rows);
        }
        Some(rows)
    }

    /// One side of a division by a condition or position.
    pub(crate) fn divided(&mut self, of: RowsId, key: &str, negated: bool, kind: DivisionKind) -> RowsId {
        if !of.is_known() {
            return of;
        }
        let site = self.site(self.statement);
        let division = self.rows.division(of, kind, key, site);
        self.rows.part(of, division, u8::from(negated))
    }

    /// The items of a slice.
    pub(crate) fn slice(&mut self, base: &Value, slice: &'a ExprSlice) -> Value {
        if let Some(table) = self.table_of(base).cloned() {
            return self.table_slice(&table, slice);
        }
        let bounds = [&slice.lower, &slice.upper].map(|bound| bound.as_deref().map(|bound| self.eval(bound)));
        match (base, self.state.handle(base).as_deref()) {
            (Value::Number(_), _) => base.clone(),
            (Value::Names(names), _) => Value::Names(Rc::new(Names { sure: false, ..(**names).clone() })),
            (Value::Tuple(items), _) => {
                part_of(items, &bounds).map_or(Value::Unknown, |items| Value::Tuple(items.into()))
            }
            (_, Some(Object::List(list))) => match part_of(&list.items, &bounds).filter(|_| !list.open) {
                Some(items) => self.list(items),
                None => match self.row_list(base) {
                    Some(table) => self.sliced_list(list, &table, slice),
                    None => {
                        let items = list.items.iter().map(|item| with_rows(item, RowsId::UNKNOWN)).collect();
                        self.open_list(items)
                    }
                },
            },
            _ => Value::Unknown,
        }
    }

    fn table_slice(&mut self, table: &Table, slice: &'a ExprSlice) -> Value {
        self.overlapping_window(table, slice).unwrap_or_else(|| {
            let sliced = self.sliced(table, slice);
            self.table(sliced)
        })
    }

    /// A slice of a list with one item for each row.
    fn sliced_list(&mut self, list: &List, table: &Table, slice: &'a ExprSlice) -> Value {
        let rows = self.sliced(&Table::of(table.rows), slice).rows;
        let items = list.items.iter().map(|item| with_rows(item, rows)).collect();
        self.state.add(Object::List(List { items, ..list.clone() }))
    }

    /// The rows of a slice.
    pub(crate) fn sliced(&mut self, table: &Table, slice: &'a ExprSlice) -> Table {
        let values = [&slice.lower, &slice.upper].map(|bound| bound.as_deref().map(|bound| self.eval(bound)));
        let rows = match (&values[0], &values[1]) {
            (None, None) => table.rows,
            (None, Some(end)) => self.head(table.rows, end, slice.upper.as_deref()),
            (Some(start), None) => self.tail(table.rows, start, slice.lower.as_deref()),
            _ => {
                let site = self.site(slice.range());
                self.rows.some(table.rows, site)
            }
        };
        table.with_rows(rows)
    }

    /// The positions before a share of the rows.
    pub(crate) fn first_positions(&mut self, end: &Value) -> Value {
        let Some((rows, _)) = end.share() else { return Value::Unknown };
        let first = self.head(rows, end, None);
        self.positions(first)
    }

    /// The first rows.
    fn head(&mut self, of: RowsId, end: &Value, expression: Option<&Expr>) -> RowsId {
        if let (Value::Length(length), Some(parts)) = (end, self.parts(of)) {
            return if parts.first() == Some(length) { *length } else { RowsId::UNKNOWN };
        }
        let key = position_key(end, expression);
        self.divided(of, &key, false, DivisionKind::Position)
    }

    /// The last rows.
    pub(crate) fn tail(&mut self, of: RowsId, start: &Value, expression: Option<&Expr>) -> RowsId {
        if let (Value::Length(length), Some(parts)) = (start, self.parts(of)) {
            return match &*parts {
                [first, second] if first == length => *second,
                _ => RowsId::UNKNOWN,
            };
        }
        let key = position_key(start, expression);
        self.divided(of, &key, true, DivisionKind::Position)
    }

    fn parts(&self, rows: RowsId) -> Option<Rc<[RowsId]>> {
        match self.rows.origin(rows) {
            crate::rows::Origin::Joined { parts, .. } => Some(Rc::clone(parts)),
            _ => None,
        }
    }
}

/// The key of a position.
fn position_key(bound: &Value, expression: Option<&Expr>) -> String {
    match bound {
        Value::Int(position) => format!("at {position}"),
        Value::Number(number) if number.share.is_some() => {
            format!("at share {}", number.share.map_or(0.0, |(_, share)| from_start(share)))
        }
        _ => format!("at {}", expression.map_or_else(String::new, key)),
    }
}

/// A share of rows, counted from the first one.
fn from_start(share: f64) -> f64 {
    let share = if share < 0.0 { 1.0 + share } else { share };
    (share * 1e6).round() / 1e6
}

fn at(items: &[Value], position: i64) -> Value {
    let position =
        if position < 0 { position + i64::try_from(items.len()).unwrap_or_default() } else { position };
    usize::try_from(position).ok().and_then(|position| items.get(position)).cloned().unwrap_or_default()
}

fn part_of(items: &[Value], bounds: &[Option<Value>; 2]) -> Option<Vec<Value>> {
    let length = i64::try_from(items.len()).ok()?;
    let bound = |value: &Option<Value>, default: i64| match value {
        None => Some(default),
        Some(Value::Int(at)) => Some(if *at < 0 { at + length } else { *at }.clamp(0, length)),
        Some(_) => None,
    };
    let (start, end) = (bound(&bounds[0], 0)?, bound(&bounds[1], length)?);
    items.get(usize::try_from(start).ok()?..usize::try_from(end.max(start)).ok()?).map(<[Value]>::to_vec)
}

/// Whether a value is the position of a row of the table.
fn is_position(value: &Value, table: &Table) -> bool {
    let Value::Number(number) = value else { return false };
    number.row.as_ref().is_some_and(|row| row.index && row.rows == table.rows)
}

/// Whether the first axis of an index leaves all items: `...` or `:`.
fn is_every_item(axis: &Expr) -> bool {
    match axis {
        Expr::Slice(slice) => is_whole(slice),
        axis => axis.is_ellipsis_literal_expr(),
    }
}

fn is_whole(slice: &ExprSlice) -> bool {
    slice.lower.is_none() && slice.upper.is_none() && slice.step.is_none()
}
