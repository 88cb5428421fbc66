//! Variables and objects, with a log so that branches can be undone and joined.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::join::{alike, join, join_objects};
use crate::table::Table;
use crate::value::{Estimator, List, Object, Value};

/// Variables and objects.
#[derive(Debug, Default)]
pub(crate) struct State<'a> {
    scopes: Vec<Scope<'a>>,
    objects: Vec<Rc<Object>>,
    /// What was before, while a branch is followed.
    log: Vec<Change<'a>>,
    branches: usize,
    /// Numbers of variables of which nothing else is known, since they were last set.
    numbered: FxHashMap<(usize, &'a str), usize>,
    /// How many such numbers there are.
    numbers: usize,
}

/// The variables of a module, function or comprehension.
#[derive(Debug, Default)]
struct Scope<'a> {
    variables: FxHashMap<&'a str, Value>,
    parent: Option<usize>,
    /// Names that belong to another scope: `global` and `nonlocal`.
    elsewhere: FxHashMap<&'a str, usize>,
}

/// Where something changed, and what was there.
#[derive(Debug)]
enum Change<'a> {
    Variable(usize, &'a str, Option<Value>),
    Object(usize, Rc<Object>),
}

/// What a branch left.
#[derive(Debug, Default)]
pub(crate) struct Branch<'a> {
    variables: FxHashMap<(usize, &'a str), Option<Value>>,
    objects: FxHashMap<usize, Rc<Object>>,
}

impl<'a> State<'a> {
    /// A new scope inside another one.
    pub(crate) fn open_scope(&mut self, parent: Option<usize>) -> usize {
        self.scopes.push(Scope { parent, ..Scope::default() });
        self.scopes.len() - 1
    }

    /// The value of a variable, searched from a scope outwards.
    pub(crate) fn variable(&self, mut scope: usize, name: &str) -> Option<&Value> {
        loop {
            let here = self.scopes.get(scope)?;
            if let Some(value) = here.variables.get(name) {
                return Some(value);
            }
            scope = here.parent?;
        }
    }

    /// A number that a variable keeps until it is set again. A new one without a variable.
    pub(crate) fn number_of(&mut self, scope: usize, name: Option<&'a str>) -> usize {
        self.numbers += 1;
        let outwards = std::iter::successors(Some(scope), |scope| self.scopes.get(*scope)?.parent);
        let has = |scope: &usize, name| {
            self.scopes.get(*scope).is_some_and(|here| here.variables.contains_key(name))
        };
        let place = name.and_then(|name| Some((outwards.into_iter().find(|scope| has(scope, name))?, name)));
        place.map_or(self.numbers, |place| *self.numbered.entry(place).or_insert(self.numbers))
    }

    /// The value of a variable of this scope.
    pub(crate) fn variable_here(&self, scope: usize, name: &str) -> Option<&Value> {
        self.scopes.get(scope)?.variables.get(name)
    }

    /// All variables.
    pub(crate) fn variables(&self) -> impl Iterator<Item = (&'a str, &Value)> {
        self.scopes.iter().flat_map(|scope| scope.variables.iter().map(|(name, value)| (*name, value)))
    }

    /// Sets a variable.
    pub(crate) fn set(&mut self, scope: usize, name: &'a str, value: Value) {
        let scope =
            self.scopes.get(scope).and_then(|here| here.elsewhere.get(name)).copied().unwrap_or(scope);
        self.set_here(scope, name, value);
    }

    /// Says that a name belongs to an outer scope.
    pub(crate) fn is_elsewhere(&mut self, scope: usize, name: &'a str, module: bool) {
        let mut outer = self.scopes.get(scope).and_then(|here| here.parent);
        while let Some(candidate) = outer {
            let here = &self.scopes[candidate];
            let last = here.parent.is_none();
            if last || (!module && here.variables.contains_key(name)) {
                break;
            }
            outer = here.parent;
        }
        if let (Some(outer), Some(here)) = (outer, self.scopes.get_mut(scope)) {
            here.elsewhere.insert(name, outer);
        }
    }

    /// A new object.
    pub(crate) fn add(&mut self, object: Object) -> Value {
        self.objects.push(Rc::new(object));
        Value::Object(self.objects.len() - 1)
    }

    /// A copy of an object.
    pub(crate) fn copy(&mut self, number: usize) -> Value {
        self.objects.push(Rc::clone(&self.objects[number]));
        Value::Object(self.objects.len() - 1)
    }

    /// The number of objects so far.
    pub(crate) fn count(&self) -> usize {
        self.objects.len()
    }

    /// An object.
    pub(crate) fn object(&self, number: usize) -> Option<&Object> {
        self.objects.get(number).map(Rc::as_ref)
    }

    /// The object of a value.
    pub(crate) fn get(&self, value: &Value) -> Option<&Object> {
        match value {
            Value::Object(number) => self.object(*number),
            _ => None,
        }
    }

    /// The object of a value, to keep while the machine goes on.
    pub(crate) fn handle(&self, value: &Value) -> Option<Rc<Object>> {
        match value {
            Value::Object(number) => self.objects.get(*number).cloned(),
            _ => None,
        }
    }

    /// The table of a value, to change.
    pub(crate) fn table_mut(&mut self, value: &Value) -> Option<&mut Table> {
        let Value::Object(number) = value else { return None };
        match self.change(*number) {
            Some(Object::Table(table)) => Some(table),
            _ => None,
        }
    }

    /// What is fitted of a value, to change.
    pub(crate) fn estimator_mut(&mut self, value: &Value) -> Option<&mut Estimator> {
        let Value::Object(number) = value else { return None };
        match self.change(*number) {
            Some(Object::Estimator(estimator)) => Some(estimator),
            _ => None,
        }
    }

    /// The list of a value, to change.
    pub(crate) fn list_mut(&mut self, value: &Value) -> Option<&mut List> {
        let (Value::Object(number), Some(Object::List(_))) = (value, self.get(value)) else { return None };
        match self.change(*number) {
            Some(Object::List(list)) => Some(list),
            _ => None,
        }
    }

    /// An object to change.
    pub(crate) fn change(&mut self, number: usize) -> Option<&mut Object> {
        let object = self.objects.get_mut(number)?;
        if self.branches > 0 {
            self.log.push(Change::Object(number, Rc::clone(object)));
        }
        Some(Rc::make_mut(object))
    }

    /// What holds for a value that is one or the other.
    pub(crate) fn join(&mut self, left: &Value, right: &Value) -> Value {
        join(left, right, &mut |one, other| {
            let both = self.object(one).zip(self.object(other)).and_then(|(one, other)| alike(one, other));
            both.map_or(Value::Unknown, |both| self.add(both))
        })
    }

    /// Begins a branch.
    pub(crate) fn begin_branch(&mut self) -> usize {
        self.branches += 1;
        self.log.len()
    }

    /// Ends a branch: everything is as before it began.
    pub(crate) fn end_branch(&mut self, mark: usize) -> Branch<'a> {
        let mut left = Branch::default();
        while self.log.len() > mark {
            match self.log.pop() {
                Some(Change::Variable(scope, name, before)) => {
                    let here = &mut self.scopes[scope].variables;
                    let now = match before {
                        Some(before) => here.insert(name, before),
                        None => here.remove(name),
                    };
                    left.variables.entry((scope, name)).or_insert(now);
                }
                Some(Change::Object(number, before)) => {
                    let now = std::mem::replace(&mut self.objects[number], before);
                    left.objects.entry(number).or_insert(now);
                }
                None => break,
            }
        }
        self.branches -= 1;
        left
    }

    /// Continues with what either of two branches left.
    pub(crate) fn join_branches(&mut self, left: Branch<'a>, mut right: Branch<'a>) {
        for ((scope, name), value) in left.variables {
            let other = match right.variables.remove(&(scope, name)) {
                Some(other) => other,
                None => self.scopes[scope].variables.get(name).cloned(),
            };
            if let Some(joined) = self.joined(value, other) {
                self.set_here(scope, name, joined);
            }
        }
        for ((scope, name), value) in right.variables {
            let other = self.scopes[scope].variables.get(name).cloned();
            if let Some(joined) = self.joined(other, value) {
                self.set_here(scope, name, joined);
            }
        }
        for (number, object) in left.objects {
            let other = right.objects.remove(&number).unwrap_or_else(|| Rc::clone(&self.objects[number]));
            self.replace(number, join_objects(&object, &other));
        }
        for (number, object) in right.objects {
            self.replace(number, join_objects(&Rc::clone(&self.objects[number]), &object));
        }
    }

    /// Continues with what one branch left.
    pub(crate) fn follow(&mut self, branch: Branch<'a>) {
        for ((scope, name), value) in branch.variables {
            if let Some(value) = value {
                self.set_here(scope, name, value);
            }
        }
        for (number, object) in branch.objects {
            self.replace(number, Rc::unwrap_or_clone(object));
        }
    }

    fn set_here(&mut self, scope: usize, name: &'a str, value: Value) {
        let before = self.scopes[scope].variables.insert(name, value);
        self.numbered.remove(&(scope, name));
        if self.branches > 0 {
            self.log.push(Change::Variable(scope, name, before));
        }
    }

    fn replace(&mut self, number: usize, object: Object) {
        let before = std::mem::replace(&mut self.objects[number], Rc::new(object));
        if self.branches > 0 {
            self.log.push(Change::Object(number, before));
        }
    }

    /// A variable after two branches, one of which may not have set it.
    fn joined(&mut self, left: Option<Value>, right: Option<Value>) -> Option<Value> {
        match (left, right) {
            (Some(left), Some(right)) => Some(self.join(&left, &right)),
            (one, None) | (None, one) => one,
        }
    }
}
