//! Expressions: the abstract value of each kind, and what a condition decides.

use std::rc::Rc;

use ruff_python_ast::{
    BoolOp, CmpOp, Comprehension, Expr, ExprCompare, ExprDict, ExprFString, FStringPart,
    InterpolatedStringElement, Number as Literal, Operator, StmtAugAssign, UnaryOp,
};
use ruff_text_size::{Ranged, TextRange};

use crate::comparisons::Sides;
use crate::info::{Dependencies, Kind};
use crate::machine::{Body, Items, Machine};
use crate::syntax::{key_of_call, named};
use crate::table::{Mask, UNKNOWN_PART};
use crate::value::{Dict, List, Names, Number, Object, Text, Value};

/// The deepest nesting of expressions and calls that is followed.
const DEEPEST: usize = 120;

impl<'a> Machine<'a> {
    /// The value of an expression.
    pub(crate) fn eval(&mut self, expression: &'a Expr) -> Value {
        if self.limits.steps == 0 || self.limits.depth > DEEPEST {
            return Value::Unknown;
        }
        self.limits.steps -= 1;
        self.limits.depth += 1;
        let value = self.eval_here(expression);
        self.limits.depth -= 1;
        value
    }

    fn eval_here(&mut self, expression: &'a Expr) -> Value {
        match expression {
            Expr::Name(name) => {
                let value = self.variable(name.id.as_str());
                self.note_use(&value);
                value
            }
            Expr::Attribute(attribute) => {
                let base = self.eval(&attribute.value);
                let value = self.attribute(&base, attribute.attr.as_str());
                self.note_use(&value);
                value
            }
            Expr::Call(call) => self.call(call),
            Expr::Subscript(subscript) => {
                let base = self.eval(&subscript.value);
                self.item(&base, &subscript.slice, subscript.range())
            }
            Expr::BinOp(operation) => {
                let left = self.eval(&operation.left);
                let right = self.eval(&operation.right);
                self.operate(operation.op, &left, &right)
            }
            Expr::Compare(compare) => self.compare(compare),
            Expr::BoolOp(operation) => {
                let values: Vec<_> = operation.values.iter().map(|value| self.eval(value)).collect();
                self.either(operation.op, &values)
            }
            Expr::UnaryOp(operation) => {
                let value = self.eval(&operation.operand);
                self.unary(operation.op, value)
            }
            Expr::If(expression) => self.conditional(&expression.test, &expression.body, &expression.orelse),
            Expr::Lambda(lambda) => {
                self.function(lambda.parameters.as_deref(), Body::Expression(&lambda.body))
            }
            Expr::Named(named) => {
                let value = self.eval(&named.value);
                self.assign(&named.target, value.clone());
                value
            }
            Expr::Starred(starred) => self.eval(&starred.value),
            Expr::Await(awaited) => self.eval(&awaited.value),
            Expr::FString(text) => self.formatted(text),
            _ => self.eval_literal(expression),
        }
    }

    fn eval_literal(&mut self, expression: &'a Expr) -> Value {
        match expression {
            Expr::StringLiteral(literal) => Value::text(literal.value.to_str()),
            Expr::NumberLiteral(literal) => match &literal.value {
                Literal::Int(value) => value.as_i64().map_or(Value::Unknown, Value::Int),
                Literal::Float(value) => Value::Float(*value),
                Literal::Complex { .. } => Value::Unknown,
            },
            Expr::BooleanLiteral(literal) => Value::Bool(literal.value),
            Expr::NoneLiteral(_) => Value::None,
            Expr::Tuple(tuple) => Value::Tuple(self.eval_all(&tuple.elts).0.into()),
            Expr::List(list) => self.literal_list(&list.elts),
            Expr::Set(set) => self.literal_list(&set.elts),
            Expr::Dict(dict) => self.dict(dict),
            Expr::ListComp(comprehension) => {
                self.comprehension(&comprehension.elt, &comprehension.generators)
            }
            Expr::SetComp(comprehension) => self.comprehension(&comprehension.elt, &comprehension.generators),
            Expr::Generator(comprehension) => {
                self.comprehension(&comprehension.elt, &comprehension.generators)
            }
            Expr::DictComp(comprehension) => {
                let key = comprehension.key.as_deref();
                self.dict_comprehension(key, &comprehension.value, &comprehension.generators)
            }
            Expr::Yield(expression) => {
                let value = expression.value.as_deref().map_or(Value::None, |value| self.eval(value));
                self.give_out(vec![value], false);
                Value::Unknown
            }
            Expr::YieldFrom(expression) => {
                let value = self.eval(&expression.value);
                match self.items(&value, expression.range) {
                    Items::Each(items) => self.give_out(items, false),
                    Items::Any(item) => self.give_out(vec![item], true),
                }
                Value::Unknown
            }
            _ => Value::Unknown,
        }
    }

    /// A generator yields values.
    fn give_out(&mut self, values: Vec<Value>, open: bool) {
        let loops = self.nesting.loops;
        if let Some((all, around, any)) = self.calls.yielded.last_mut() {
            *any |= open || loops > *around;
            all.extend(values);
            all.truncate(64);
        }
    }

    /// A new list.
    pub(crate) fn list(&mut self, items: Vec<Value>) -> Value {
        self.new_list(items, false)
    }

    /// A new list of which number and order of the items are unknown.
    pub(crate) fn open_list(&mut self, items: Vec<Value>) -> Value {
        self.new_list(items, true)
    }

    pub(crate) fn new_list(&mut self, items: Vec<Value>, open: bool) -> Value {
        let (loops, clause) = (self.nesting.loops, self.nesting.clause);
        self.state.add(Object::List(List { items, open, loops, clause, ..List::default() }))
    }

    /// The values of several expressions, and whether their number is unknown.
    pub(crate) fn eval_all(&mut self, expressions: &'a [Expr]) -> (Vec<Value>, bool) {
        let mut values = Vec::with_capacity(expressions.len());
        let mut open = false;
        for expression in expressions {
            let value = self.eval(expression);
            if !expression.is_starred_expr() {
                values.push(value);
                continue;
            }
            match (&value, self.state.get(&value)) {
                (Value::Tuple(items), _) => values.extend(items.iter().cloned()),
                (_, Some(Object::List(list))) => {
                    open |= list.open;
                    values.extend(list.items.iter().cloned());
                }
                // Some numbers, as the parameters of a curve.
                (Value::Number(_), _) => {
                    open = true;
                    values.extend(std::iter::repeat_n(value.clone(), 4));
                }
                _ => {
                    open = true;
                    values.push(Value::Unknown);
                }
            }
        }
        (values, open)
    }

    fn variable(&self, name: &str) -> Value {
        self.state.variable(self.scope, name).cloned().unwrap_or_else(|| Value::Symbol(name.into()))
    }

    fn literal_list(&mut self, elements: &'a [Expr]) -> Value {
        let (items, open) = self.eval_all(elements);
        self.new_list(items, open)
    }

    fn dict(&mut self, dict: &'a ExprDict) -> Value {
        let mut made = Dict::default();
        for item in &dict.items {
            let key = item.key.as_ref().map(|key| self.eval(key));
            let value = self.eval(&item.value);
            match key {
                Some(key) => made.put(key.constant(), value),
                // `**other`
                None => match self.state.get(&value) {
                    Some(Object::Dict(other)) => made.merge(other),
                    _ => made.others.push(Value::Unknown),
                },
            }
        }
        self.state.add(Object::Dict(made))
    }

    fn formatted(&mut self, text: &'a ExprFString) -> Value {
        let mut made = Text::default();
        for part in &text.value {
            let elements = match part {
                FStringPart::Literal(literal) => {
                    made.fixed.push_str(literal.as_str());
                    continue;
                }
                FStringPart::FString(part) => &part.elements,
            };
            for element in elements {
                match element {
                    InterpolatedStringElement::Literal(literal) => made.fixed.push_str(&literal.value),
                    InterpolatedStringElement::Interpolation(element) => {
                        made.add(self.eval(&element.expression));
                    }
                }
            }
        }
        made.value()
    }

    fn conditional(&mut self, test: &'a Expr, body: &'a Expr, orelse: &'a Expr) -> Value {
        let (truth, choice) = self.condition(test);
        match truth {
            Some(true) => return self.eval(body),
            Some(false) => return self.eval(orelse),
            None => {}
        }
        let (one, other) = (self.eval(body), self.eval(orelse));
        let joined = self.state.join(&one, &other);
        self.with_deps(&joined, &choice)
    }

    /// Whether a condition holds, if it is known; and the choice by scores that it makes.
    pub(crate) fn condition(&mut self, test: &'a Expr) -> (Option<bool>, Dependencies) {
        match test {
            Expr::BoolOp(operation) => {
                let parts: Vec<_> = operation.values.iter().map(|value| self.condition(value)).collect();
                let choice = parts.iter().map(|(_, choice)| choice.clone()).collect();
                let decisive = operation.op == BoolOp::Or;
                let truth = if parts.iter().any(|(truth, _)| *truth == Some(decisive)) {
                    Some(decisive)
                } else if parts.iter().all(|(truth, _)| *truth == Some(!decisive)) {
                    Some(!decisive)
                } else {
                    None
                };
                (truth, choice)
            }
            Expr::UnaryOp(operation) if operation.op == UnaryOp::Not => {
                let (truth, choice) = self.condition(&operation.operand);
                (truth.map(|truth| !truth), choice)
            }
            Expr::Compare(compare) if compare.ops.len() == 1 && is_ordering(compare.ops[0]) => {
                let left = self.eval(&compare.left);
                let right = self.eval(&compare.comparators[0]);
                let selecting = self.deps_of(&left).and(&self.deps_of(&right));
                let selecting = self
                    .infos
                    .map(&selecting, |dep| matches!(dep.kind, Kind::Selection | Kind::Target).then_some(dep));
                let choice = self.choice(&[left, right], compare.range());
                (None, choice.and(&selecting))
            }
            _ => {
                let value = self.eval(test);
                let selecting = self.deps_of(&value);
                let selecting = self.infos.of_kind(&selecting, Kind::Selection);
                (truth(&value), selecting)
            }
        }
    }

    fn either(&mut self, operation: BoolOp, values: &[Value]) -> Value {
        match (operation, values) {
            // `given or default`
            (BoolOp::Or, [Value::None, other]) => other.clone(),
            (BoolOp::Or, [one, other]) => self.state.join(one, other),
            _ => Value::Unknown,
        }
    }

    pub(crate) fn unary(&mut self, operation: UnaryOp, value: Value) -> Value {
        match (operation, value) {
            (UnaryOp::USub, Value::Int(value)) => value.checked_neg().map_or(Value::Unknown, Value::Int),
            (UnaryOp::USub, Value::Float(value)) => Value::Float(-value),
            (UnaryOp::USub, Value::Length(rows)) => Value::Length(rows),
            (UnaryOp::USub, Value::Number(number)) if number.share.is_some() => {
                let share = number.share.map(|(rows, share)| (rows, -share));
                Number { share, ..(*number).clone() }.value()
            }
            (UnaryOp::USub, value @ Value::Object(_)) if self.table_of(&value).is_none() => {
                self.as_scores(&value)
            }
            (UnaryOp::Not, value) => truth(&value).map_or(Value::Unknown, |truth| Value::Bool(!truth)),
            // `~table.columns.isin([...])`
            (UnaryOp::Invert, Value::Names(names)) if names.sure && !names.only.is_empty() => {
                let names = Names { except: names.only.clone(), only: Vec::new(), ..(*names).clone() };
                Value::Names(Rc::new(names))
            }
            (UnaryOp::Invert, Value::Condition(mask)) => {
                let condition = mask.condition.clone().map(|(key, negated)| (key, !negated));
                Value::Condition(Rc::new(Mask { condition, ..(*mask).clone() }))
            }
            (UnaryOp::Invert, value) => match self.table_of(&value).cloned() {
                Some(mut table) => {
                    // A column of truths is a condition by its name.
                    let condition = table.mask.condition.or_else(|| Some((table.label.clone()?, false)));
                    table.mask.condition = condition.map(|(key, negated)| (key, !negated));
                    self.table(table)
                }
                _ => Value::Unknown,
            },
            (_, value @ Value::Number(_)) => value,
            (_, value @ Value::Object(_)) => match self.table_of(&value).cloned() {
                Some(table) => self.table(table),
                None => Value::Unknown,
            },
            _ => Value::Unknown,
        }
    }

    /// Runs something in a scope of its own, in which the names of a comprehension are set.
    pub(crate) fn in_scope<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.scope;
        self.scope = self.state.open_scope(Some(outer));
        let result = run(self);
        self.scope = outer;
        result
    }

    fn comprehension(&mut self, element: &'a Expr, generators: &'a [Comprehension]) -> Value {
        if let Some(names) = self.names_of_comprehension(element, generators) {
            return names;
        }
        self.in_scope(|machine| {
            let mut items = Vec::new();
            let open = machine.generate(generators, &mut |machine| {
                let value = machine.eval(element);
                let choices = machine.choices.clone();
                let value = machine.of_current_row(&value);
                items.push(machine.with_condition(&value, &choices));
            });
            if !open {
                return machine.list(items);
            }
            let list = machine.open_list(items);
            machine.note_generator(&list, element.range(), generators);
            list
        })
    }

    fn dict_comprehension(
        &mut self,
        key: Option<&'a Expr>,
        value: &'a Expr,
        generators: &'a [Comprehension],
    ) -> Value {
        self.in_scope(|machine| {
            let mut dict = Dict::default();
            let open = machine.generate(generators, &mut |machine| {
                let key = key.and_then(|key| machine.eval(key).constant());
                let value = machine.eval(value);
                dict.put(key, value);
            });
            if open && dict.others.is_empty() {
                dict.others.push(Value::Unknown);
            }
            machine.state.add(Object::Dict(dict))
        })
    }

    /// Calls `each` for every step of the generators; whether their number is unknown.
    fn generate(&mut self, generators: &'a [Comprehension], each: &mut dyn FnMut(&mut Self)) -> bool {
        let Some((first, rest)) = generators.split_first() else {
            each(self);
            return false;
        };
        let iterable = self.eval(&first.iter);
        let items = self.items(&iterable, first.range);
        self.enter(first.range, &items);
        let (items, mut open) = match items {
            Items::Each(items) => (items, false),
            Items::Any(item) => (vec![item], true),
        };
        self.nesting.loops += usize::from(open);
        let any = open;
        for item in items {
            self.assign(&first.target, item);
            let (mut tests, outer) = (Vec::new(), self.choices.clone());
            for test in &first.ifs {
                let (truth, choice) = self.condition(test);
                self.choices = self.choices.and(&choice);
                tests.push(truth);
            }
            open |= tests.contains(&None);
            if !tests.contains(&Some(false)) {
                open |= self.generate(rest, each);
            }
            self.choices = outer;
        }
        self.nesting.loops -= usize::from(any);
        self.nesting.around.pop();
        open
    }

    pub(crate) fn assign_changed(&mut self, statement: &'a StmtAugAssign) {
        let before = self.eval(&statement.target);
        let change = self.eval(&statement.value);
        if let (Operator::Add, Value::Object(number)) = (statement.op, &before)
            && let Some(Object::List(_)) = self.state.object(*number)
        {
            return self.extend(*number, &change, statement.range);
        }
        let after = self.operate(statement.op, &before, &change);
        self.assign(&statement.target, after);
    }

    fn compare(&mut self, compare: &'a ExprCompare) -> Value {
        let left = self.eval(&compare.left);
        let mut value = Value::Unknown;
        for (operation, comparator) in compare.ops.iter().zip(&compare.comparators) {
            let right = self.eval(comparator);
            let sides = Sides { left: Some(&compare.left), right: Some(comparator), range: compare.range() };
            value = self.compare_values(*operation, &left, &right, sides);
            if matches!(value, Value::Unknown) {
                value = self.compare_unknown(*operation, (&compare.left, &left), (comparator, &right));
            }
        }
        if compare.ops.len() == 1 { value } else { Value::Unknown }
    }

    /// The value, which depends on these dependencies as well.
    pub(crate) fn with_deps(&mut self, value: &Value, deps: &Dependencies) -> Value {
        if deps.is_empty() {
            return value.clone();
        }
        match (value, self.state.get(value)) {
            (Value::Number(number), _) => {
                Number { deps: number.deps.and(deps), ..(**number).clone() }.value()
            }
            (Value::Int(_) | Value::Float(_), _) => Value::learnt(deps.clone()),
            (Value::Names(names), _) => {
                let deps = names.deps.and(deps);
                Value::Names(Rc::new(Names { deps, ..(**names).clone() }))
            }
            (_, Some(Object::Table(table))) => {
                let mut table = table.clone();
                table.learn(deps);
                self.table(table)
            }
            _ => value.clone(),
        }
    }

    /// A text that equal calls share, by the place of the call.
    pub(crate) fn key_at(&self, range: TextRange) -> String {
        let call = self.syntax.call(range);
        call.map_or_else(
            || format!("{range:?}"),
            |call| key_of_call(call, named(&call.func).unwrap_or_default()),
        )
    }
}

impl Dict {
    /// Sets a value.
    pub(crate) fn set(&mut self, key: Rc<str>, value: Value) {
        match self.items.iter_mut().find(|(known, _)| *known == key) {
            Some((_, known)) => *known = value,
            None => self.items.push((key, value)),
        }
    }

    /// Sets the value of a key, which may not be known.
    pub(crate) fn put(&mut self, key: Option<Rc<str>>, value: Value) {
        match key {
            Some(key) => self.set(key, value),
            None => self.others.push(value),
        }
    }

    /// Sets all values of another dictionary.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (key, value) in &other.items {
            self.set(Rc::clone(key), value.clone());
        }
        self.others.extend(other.others.iter().cloned());
    }

    /// The value of a key.
    pub(crate) fn get(&self, key: &str) -> Option<&Value> {
        self.items.iter().find(|(known, _)| &**known == key).map(|(_, value)| value)
    }
}

impl Text {
    /// Adds a value.
    pub(crate) fn add(&mut self, value: Value) {
        match value {
            Value::Text(text) => {
                self.fixed.push_str(&text.fixed);
                self.values.extend(text.values.iter().cloned());
            }
            Value::Str(text) => self.fixed.push_str(&text),
            value => {
                // A place holder keeps digits of the text apart from those of the value.
                self.fixed.push(UNKNOWN_PART);
                self.values.push(value);
            }
        }
    }

    /// The text as a value.
    pub(crate) fn value(self) -> Value {
        if self.values.is_empty() { Value::Str(self.fixed.into()) } else { Value::Text(Rc::new(self)) }
    }

    /// The whole text, if all values are constants.
    pub(crate) fn constant(&self) -> Option<Rc<str>> {
        let mut texts = self.values.iter().map(Value::constant);
        let mut whole = String::new();
        for letter in self.fixed.chars() {
            match letter {
                UNKNOWN_PART => whole.push_str(&texts.next()??),
                letter => whole.push(letter),
            }
        }
        Some(whole.into())
    }
}

/// Whether a value is true, if it is known.
fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(truth) => Some(*truth),
        Value::None => Some(false),
        Value::Int(number) => Some(*number != 0),
        Value::Str(text) => Some(!text.is_empty()),
        Value::Function(..) | Value::Class(_) => Some(true),
        _ => None,
    }
}

fn is_ordering(operation: CmpOp) -> bool {
    matches!(operation, CmpOp::Gt | CmpOp::GtE | CmpOp::Lt | CmpOp::LtE)
}
