//! Calls: arguments, functions and classes of the script.

use std::rc::Rc;

use ruff_python_ast::{Expr, ExprCall, Parameters};
use ruff_text_size::{Ranged, TextRange};

use crate::effects::{self, Effect, Items, Made, Receiver};
use crate::machine::{Body, Flow, Machine};
use crate::value::{Bound, Dict, Instance, Object, Value};

/// The most calls inside calls.
const CALLS: usize = 16;

/// The arguments of a call.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arguments {
    /// By position.
    pub(crate) positional: Vec<Value>,
    /// By name.
    pub(crate) named: Vec<(Rc<str>, Value)>,
    /// The call.
    pub(crate) range: TextRange,
    /// Whether some of them were given before the call, as with `partial`.
    pub(crate) bound: bool,
    /// The function or method that is called, with what is before it.
    pub(crate) called: TextRange,
}

impl Arguments {
    /// An argument by its position or name.
    pub(crate) fn get(&self, position: usize, name: &str) -> Option<&Value> {
        self.positional.get(position).or_else(|| self.named(name))
    }

    /// An argument by its position or name. Unknown, if it is not given.
    pub(crate) fn value(&self, position: usize, name: &str) -> Value {
        self.get(position, name).cloned().unwrap_or_default()
    }

    /// The first argument, whatever its name. Unknown, if there is none.
    pub(crate) fn first_value(&self) -> Value {
        self.first().cloned().unwrap_or_default()
    }

    /// Whether an argument is `True`.
    pub(crate) fn is_true(&self, name: &str) -> bool {
        matches!(self.named(name), Some(Value::Bool(true)))
    }

    /// An argument by its name.
    pub(crate) fn named(&self, name: &str) -> Option<&Value> {
        self.named.iter().find(|(known, _)| &**known == name).map(|(_, value)| value)
    }

    /// The first argument, whatever its name.
    pub(crate) fn first(&self) -> Option<&Value> {
        self.positional.first().or_else(|| self.named.first().map(|(_, value)| value))
    }

    /// All arguments.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Value> {
        self.positional.iter().chain(self.named.iter().map(|(_, value)| value))
    }
}

impl<'a> Machine<'a> {
    /// The value of a call.
    pub(crate) fn call(&mut self, call: &'a ExprCall) -> Value {
        let (function, base) = match &*call.func {
            Expr::Attribute(attribute) => {
                let base = self.eval(&attribute.value);
                let name = attribute.attr.as_str();
                if let Some(Effect::Step(step)) = effects::of(&[Receiver::Trainer], name)
                    && !matches!(base, Value::Symbol(_))
                {
                    self.train_step(step, call.range());
                }
                (self.method(&base, name), Some(base))
            }
            function => (self.eval(function), None),
        };
        let context = self.context_of(&function);
        let outer = context.map(|context| self.context.replace(context));
        let arguments = self.arguments(call);
        if let Some(outer) = outer {
            self.context = outer;
        }
        let value = self.call_value(&function, &arguments);
        if let (Some(Value::Names(_)), Value::Names(_), Expr::Attribute(attribute)) =
            (&base, &value, &*call.func)
            && let Some(Effect::Items(Items::Added | Items::Extended | Items::Removed)) =
                effects::of(&[Receiver::List], &attribute.attr)
        {
            self.assign(&attribute.value, value);
            return Value::None;
        }
        if let (Value::Unknown, Some(base)) = (&value, base) {
            // An unknown method may change the list that it is called on.
            if let Some(list) = self.state.list_mut(&base) {
                list.open = true;
            }
        }
        value
    }

    /// Calls a value.
    pub(crate) fn call_value(&mut self, function: &Value, arguments: &Arguments) -> Value {
        match function {
            Value::Function(number, scope) => self.call_function(*number, *scope, None, arguments),
            Value::Class(class) => self.instantiate(*class, arguments),
            Value::Symbol(symbol) => self.call_library(&Rc::clone(symbol), arguments),
            Value::Bound(bound) => match &bound.1 {
                Bound::Method(name) => self.call_method(&bound.0, name, arguments),
                Bound::Partial => self.call_partial(&bound.0, arguments),
                _ => Value::Unknown,
            },
            Value::Object(_) => match self.state.get(function) {
                Some(Object::Estimator(estimator)) => match estimator.known {
                    Some(Made::Loss) => self.loss(arguments),
                    Some(Made::Doing) => arguments.first_value(),
                    _ => self.forward(function, arguments).unwrap_or_default(),
                },
                Some(Object::Instance(instance)) => {
                    let class = instance.class;
                    let is_network = self.class_attribute(class, "forward").is_some();
                    if let Some(value) = is_network.then(|| self.forward(function, arguments)).flatten() {
                        return value;
                    }
                    ["__call__", "forward"]
                        .iter()
                        .find_map(|name| self.class_attribute(class, name))
                        .map_or(Value::Unknown, |method| self.call_bound(&method, function, arguments))
                }
                _ => Value::Unknown,
            },
            _ => Value::Unknown,
        }
    }

    /// Calls what `partial` made.
    fn call_partial(&mut self, parts: &Value, arguments: &Arguments) -> Value {
        let Value::Tuple(parts) = parts else { return Value::Unknown };
        let [function, Value::Tuple(bound), Value::Tuple(named)] = &**parts else { return Value::Unknown };
        let mut given = Arguments { bound: true, ..arguments.clone() };
        given.positional.splice(0..0, bound.iter().cloned());
        for pair in named.iter() {
            if let Value::Tuple(pair) = pair
                && let [Value::Str(name), value] = &**pair
                && given.named(name).is_none()
            {
                given.named.push((Rc::clone(name), value.clone()));
            }
        }
        self.call_value(function, &given)
    }

    /// Calls a function with values by position.
    pub(crate) fn call_with(&mut self, function: &Value, values: &[Value], range: TextRange) -> Value {
        let arguments =
            Arguments { positional: values.to_vec(), range, called: range, ..Arguments::default() };
        self.call_value(function, &arguments)
    }

    /// `base.name`, to be called.
    fn method(&mut self, base: &Value, name: &str) -> Value {
        match base {
            Value::Symbol(symbol) => Value::Symbol(format!("{symbol}.{name}").into()),
            Value::Class(class) => self.class_attribute(*class, name).unwrap_or_default(),
            _ => match self.state.get(base) {
                Some(Object::Instance(instance)) => {
                    let own = instance.attributes.iter().find(|(known, _)| &**known == name);
                    match own {
                        Some((_, value)) => value.clone(),
                        None => Value::method(base.clone(), name),
                    }
                }
                _ => Value::method(base.clone(), name),
            },
        }
    }

    /// The values of the arguments.
    fn arguments(&mut self, call: &'a ExprCall) -> Arguments {
        let (positional, _) = self.eval_all(&call.arguments.args);
        let mut named = Vec::with_capacity(call.arguments.keywords.len());
        for keyword in &call.arguments.keywords {
            let value = self.eval(&keyword.value);
            match &keyword.arg {
                Some(name) => named.push((name.as_str().into(), value)),
                None => {
                    if let Some(Object::Dict(dict)) = self.state.get(&value) {
                        named.extend(dict.items.iter().cloned());
                        named.extend(dict.others.iter().map(|value| (Rc::from("**"), value.clone())));
                    } else {
                        named.push(("**".into(), value));
                    }
                }
            }
        }
        Arguments { positional, named, range: call.range(), called: call.func.range(), bound: false }
    }

    /// Calls a method of a value.
    fn call_method(&mut self, base: &Value, name: &str, arguments: &Arguments) -> Value {
        match self.state.get(base) {
            Some(Object::Instance(instance)) => {
                let class = instance.class;
                match self.class_attribute(class, name) {
                    Some(method) => self.call_bound(&method, base, arguments),
                    None => self.call_network(base, name, arguments),
                }
            }
            _ => self.call_known_method(base, name, arguments),
        }
    }

    pub(crate) fn call_bound(&mut self, method: &Value, base: &Value, arguments: &Arguments) -> Value {
        match method {
            Value::Function(number, scope) => {
                let itself = if self.is_static(*number) { None } else { Some(base) };
                self.call_function(*number, *scope, itself, arguments)
            }
            _ => Value::Unknown,
        }
    }

    /// Whether a method has no `self`.
    fn is_static(&self, function: usize) -> bool {
        let first = self.functions.get(function).and_then(|function| function.parameters);
        let first = first.and_then(|parameters| parameters.posonlyargs.iter().chain(&parameters.args).next());
        !first.is_some_and(|first| matches!(first.parameter.name.as_str(), "self" | "cls"))
    }

    fn call_function(
        &mut self,
        number: usize,
        outer: usize,
        itself: Option<&Value>,
        arguments: &Arguments,
    ) -> Value {
        let Some(function) = self.functions.get(number).copied() else { return Value::Unknown };
        if self.calls.active.len() >= CALLS || self.calls.active.contains(&number) || self.limits.steps == 0 {
            return Value::Unknown;
        }
        let scope = self.state.open_scope(Some(outer));
        if let Some(parameters) = function.parameters {
            self.bind(parameters, scope, itself, arguments);
        }
        self.calls.called.insert(number);
        let (caller, statement) = (std::mem::replace(&mut self.scope, scope), self.statement);
        let tables = arguments.all().filter(|_| !arguments.bound).filter_map(|value| self.table_of(value));
        let rows = tables.map(|table| table.rows).collect();
        self.calls.given.push((self.site(arguments.range), rows));
        self.calls.active.push(number);
        let value = match function.body {
            Body::Expression(body) => self.eval(body),
            Body::Statements(body) => {
                self.calls.returned.push(None);
                self.calls.yielded.push((Vec::new(), self.nesting.loops, false));
                let flow = self.run(body);
                let returned = self.calls.returned.pop().flatten();
                let yielded = self.calls.yielded.pop().unwrap_or_default();
                match (returned, flow) {
                    _ if !yielded.0.is_empty() => self.new_list(yielded.0, yielded.2),
                    (Some(value), _) => value,
                    (None, Flow::Leaves) => Value::Unknown,
                    (None, _) => Value::None,
                }
            }
        };
        self.calls.active.pop();
        self.calls.given.pop();
        self.scope = caller;
        self.statement = statement;
        value
    }

    fn bind(
        &mut self,
        parameters: &'a Parameters,
        scope: usize,
        itself: Option<&Value>,
        arguments: &Arguments,
    ) {
        let mut positional = itself.into_iter().chain(&arguments.positional);
        let mut used = Vec::new();
        let by_position = parameters.posonlyargs.iter().chain(&parameters.args);
        for (parameter, positional_too) in by_position
            .map(|parameter| (parameter, true))
            .chain(parameters.kwonlyargs.iter().map(|parameter| (parameter, false)))
        {
            let name = parameter.parameter.name.as_str();
            let given = if positional_too { positional.next().cloned() } else { None };
            let given = given.or_else(|| arguments.named(name).cloned());
            let value = match (given, parameter.default.as_deref()) {
                (Some(value), _) => value,
                (None, Some(default)) => self.eval(default),
                (None, None) => Value::Unknown,
            };
            used.push(name);
            self.state.set(scope, name, value);
        }
        if let Some(rest) = &parameters.vararg {
            let rest_values: Vec<Value> = positional.cloned().collect();
            self.state.set(scope, rest.name.as_str(), Value::Tuple(rest_values.into()));
        }
        if let Some(rest) = &parameters.kwarg {
            let mut dict = Dict::default();
            let others = arguments.named.iter().filter(|(name, _)| !used.contains(&&**name));
            others.for_each(|(name, value)| dict.set(Rc::clone(name), value.clone()));
            let dict = self.state.add(Object::Dict(dict));
            self.state.set(scope, rest.name.as_str(), dict);
        }
    }

    fn instantiate(&mut self, class: usize, arguments: &Arguments) -> Value {
        let instance = self.state.add(Object::Instance(Instance { class, attributes: Vec::new() }));
        match self.class_attribute(class, "__init__") {
            Some(Value::Function(number, scope)) => {
                self.call_function(number, scope, Some(&instance), arguments);
            }
            _ => self.set_fields(class, &instance, arguments),
        }
        instance
    }

    /// The fields of a data class.
    fn set_fields(&mut self, class: usize, instance: &Value, arguments: &Arguments) {
        let Some(definition) = self.classes.get(class).map(|class| class.definition) else { return };
        let fields = definition.body.iter().filter_map(|statement| statement.as_ann_assign_stmt());
        let names = fields.filter_map(|field| field.target.as_name_expr()).map(|name| name.id.as_str());
        for (position, name) in names.enumerate() {
            if let Some(value) = arguments.get(position, name) {
                self.set_attribute(instance, name, value.clone());
            }
        }
    }
}
