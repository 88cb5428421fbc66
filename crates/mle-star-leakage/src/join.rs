//! The join of abstract values: what holds after either of two branches.

use std::mem::discriminant;
use std::rc::Rc;

use crate::value::{Dict, Estimator, Instance, List, Number, Object, Value};

/// What holds for a value that is one or the other. `both` joins two different things.
pub(crate) fn join(left: &Value, right: &Value, both: &mut dyn FnMut(usize, usize) -> Value) -> Value {
    match (left, right) {
        (Value::Unknown, _) | (_, Value::Unknown) => Value::Unknown,
        (Value::None, other) | (other, Value::None) => other.clone(),
        (Value::Number(one), Value::Number(other)) => Value::Number(Rc::new(join_numbers(one, other))),
        (Value::Number(number), constant) | (constant, Value::Number(number))
            if constant.constant().is_some() =>
        {
            let number = Number { text: None, random: false, truth: false, ..(**number).clone() };
            number.value()
        }
        (Value::Object(one), Value::Object(other)) if one == other => left.clone(),
        (Value::Object(one), Value::Object(other)) => both(*one, *other),
        (Value::Tuple(one), Value::Tuple(other)) if one.len() == other.len() => {
            Value::Tuple(one.iter().zip(other.iter()).map(|(one, other)| join(one, other, both)).collect())
        }
        _ if same(left, right) => left.clone(),
        (one, other) if one.constant().is_some() && other.constant().is_some() => Value::some_number(),
        _ => Value::Unknown,
    }
}

/// What is known of both, if it is the same.
pub(crate) fn common<T: Clone + Default + PartialEq>(one: &T, other: &T) -> T {
    if one == other { one.clone() } else { T::default() }
}

/// What holds for a thing after either of two ways.
pub(crate) fn join_objects(left: &Object, right: &Object) -> Object {
    match (left, right) {
        (Object::Table(one), Object::Table(other)) => Object::Table(one.join(other)),
        (Object::List(one), Object::List(other)) => Object::List(join_lists(one, other)),
        (Object::Dict(one), Object::Dict(other)) => Object::Dict(join_dicts(one, other)),
        (Object::Estimator(one), Object::Estimator(other)) => Object::Estimator(join_estimators(one, other)),
        (Object::Instance(one), Object::Instance(other)) => Object::Instance(join_instances(one, other)),
        _ => left.clone(),
    }
}

/// Two different things as one, if they are of the same kind.
pub(crate) fn alike(left: &Object, right: &Object) -> Option<Object> {
    match (left, right) {
        (Object::Instance(one), Object::Instance(other)) if one.class != other.class => None,
        (Object::Estimator(one), Object::Estimator(other)) if one.role != other.role => None,
        (Object::Group(_) | Object::Splitter(_) | Object::Study(_), _) => None,
        _ => (discriminant(left) == discriminant(right)).then(|| join_objects(left, right)),
    }
}

fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Symbol(one), Value::Symbol(other)) => one == other,
        (Value::Function(one, _), Value::Function(other, _)) | (Value::Class(one), Value::Class(other)) => {
            one == other
        }
        (Value::Length(one), Value::Length(other)) => one == other,
        (Value::Condition(one), Value::Condition(other)) => one == other,
        _ => left.constant().is_some() && left.constant() == right.constant(),
    }
}

fn join_numbers(one: &Number, other: &Number) -> Number {
    Number {
        deps: one.deps.and(&other.deps),
        scores: one.scores.and(&other.scores),
        text: common(&one.text, &other.text),
        random: one.random && other.random,
        truth: one.truth && other.truth,
        of_truth: common(&one.of_truth, &other.of_truth),
        category: one.category && other.category,
        share: common(&one.share, &other.share),
        reduced: common(&one.reduced, &other.reduced),
        row: common(&one.row, &other.row),
        gap: one.gap && other.gap,
    }
}

fn join_lists(one: &List, other: &List) -> List {
    let (long, short) = if one.items.len() >= other.items.len() { (one, other) } else { (other, one) };
    let same = long.items.len() == short.items.len();
    let fixed = if same || long.added.len() != short.added.len() { long.fixed.min(short.fixed) } else { 0 };
    List { open: long.open || short.open || !same, fixed, ..long.clone() }
}

fn join_dicts(one: &Dict, other: &Dict) -> Dict {
    let mut both = one.clone();
    for (key, value) in &other.items {
        if !both.items.iter().any(|(known, _)| known == key) {
            both.items.push((Rc::clone(key), value.clone()));
        }
    }
    both.others.extend(other.others.iter().skip(both.others.len()).cloned());
    both
}

fn join_estimators(one: &Estimator, other: &Estimator) -> Estimator {
    let mut both = one.clone();
    match (&mut both.fitted, &other.fitted) {
        (Some(left), Some(right)) => {
            left.rows = common(&left.rows, &right.rows);
            left.deps.add(&right.deps);
        }
        (fitted @ None, right) => *fitted = right.clone(),
        (Some(_), None) => {}
    }
    both
}

fn join_instances(one: &Instance, other: &Instance) -> Instance {
    let mut both = one.clone();
    for (name, value) in &other.attributes {
        match both.attributes.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) if !same(known, value) => {
                *known = join(known, value, &mut |_, _| Value::Unknown);
            }
            Some(_) => {}
            None => both.attributes.push((Rc::clone(name), value.clone())),
        }
    }
    both
}
