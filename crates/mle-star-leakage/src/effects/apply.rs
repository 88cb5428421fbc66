//! Effects are applied: one `match` sends each kind to where its effects are known.

use ruff_python_ast::UnaryOp;

use super::{Effect, Learn, Receiver, Test, of};
use crate::calls::Arguments;
use crate::machine::Machine;
use crate::value::{Object, Value};

impl Machine<'_> {
    /// What a call gives that has this effect on a value: that which a method is called on, or the first argument of a
    /// function.
    pub(crate) fn apply(&mut self, effect: Effect, on: &Value, arguments: &Arguments) -> Value {
        let handle = self.state.handle(on);
        let table = match handle.as_deref() {
            Some(Object::Table(table)) => Some(table),
            _ => None,
        };
        match (effect, table) {
            (Effect::Same, _) => self.same(on),
            (Effect::Piped, _) => {
                let others = arguments.positional.iter().skip(1);
                let positional = std::iter::once(on).chain(others).cloned().collect();
                self.call_value(&arguments.first_value(), &Arguments { positional, ..arguments.clone() })
            }
            (Effect::Nothing, _) => Value::None,
            (Effect::Unknown, _) => Value::Unknown,
            (Effect::Rows(rows), Some(table)) => self.change_rows(rows, (on, table), arguments),
            (Effect::Columns(columns), Some(table)) => self.change_columns(columns, (on, table), arguments),
            (Effect::Values(values), _) => self.compute_values(values, on, table, arguments),
            (Effect::Test(Test::Not), _) => self.unary(UnaryOp::Invert, on.clone()),
            (Effect::Test(test), Some(table)) => self.test_values(test, (on, table), arguments),
            (Effect::Order(order), Some(table)) => self.put_in_order(order, table, arguments),
            (Effect::Statistic(statistic), _) => self.compute_statistic(statistic, on, table, arguments),
            (Effect::Stack(stack), _) => self.stacked(stack, arguments),
            (Effect::Make(make), _) => self.make(make, on, arguments),
            (Effect::Draw(draw), _) => self.draw(draw, on, arguments),
            (Effect::Expression(expression), _) => self.express(expression, arguments),
            (Effect::Itself, _) => on.clone(),
            (Effect::Number, _) => Value::some_number(),
            (Effect::File(file), _) => self.use_file(file, on, arguments),
            (Effect::Python(python), _) => self.call_python(python, on, arguments),
            (Effect::Text(text), _) => self.make_text(text, on, arguments),
            (Effect::Split(split), _) => self.divide(split, arguments),
            (Effect::Score(score), _) => self.score_by(score, on, arguments),
            (Effect::New(new), _) => self.make_new(new, on, arguments),
            (Effect::Learn(Learn::Scaled), Some(table)) => self.scaled(table, arguments),
            _ => Value::Unknown,
        }
    }

    /// The same values again: a table as a new one, so that a change leaves the old one as it is.
    fn same(&mut self, on: &Value) -> Value {
        match self.table_of(on).cloned() {
            Some(table) => self.table(table),
            None => on.clone(),
        }
    }

    /// What a function with this effect gives.
    pub(crate) fn apply_function(&mut self, effect: Effect, arguments: &Arguments) -> Value {
        if effect.is_as_of_method()
            && let [first, others @ ..] = arguments.positional.as_slice()
        {
            let named = arguments.named.clone();
            let others = Arguments { positional: others.to_vec(), named, ..*arguments };
            return self.apply(effect, first, &others);
        }
        self.apply(effect, &arguments.first_value(), arguments)
    }

    /// What a method of such a receiver gives.
    pub(crate) fn apply_of(
        &mut self,
        receiver: Receiver,
        base: &Value,
        name: &str,
        arguments: &Arguments,
    ) -> Value {
        let effect = of(&[receiver], name);
        effect.map_or(Value::Unknown, |effect| self.apply(effect, base, arguments))
    }
}
