//! Statements: control flow, with branches that are joined and loops that are followed twice.

use crate::effects::{self, Effect, Receiver, Step};
use crate::machine::{Body, Class, Flow, ITEMS, Items, Loop, Machine};
use crate::rows::RowsId;
use crate::state::Branch;
use crate::syntax::named;
use crate::value::Value;
use ruff_python_ast::{Expr, Identifier, Stmt, StmtClassDef, StmtFor, StmtIf};
use ruff_text_size::{Ranged, TextRange};

impl<'a> Machine<'a> {
    /// Follows statements one after the other.
    pub(crate) fn run(&mut self, body: &'a [Stmt]) -> Flow {
        let before = self.uses_before();
        for statement in body {
            if self.limits.steps == 0 {
                return Flow::Leaves;
            }
            self.forget_uses(before);
            self.limits.steps -= 1;
            let flow = self.follow(statement);
            if flow != Flow::Next {
                return flow;
            }
        }
        Flow::Next
    }

    fn follow(&mut self, statement: &'a Stmt) -> Flow {
        self.statement = statement.range();
        match statement {
            Stmt::Return(statement) => {
                let value = statement.value.as_deref().map_or(Value::None, |value| self.eval(value));
                self.give_back(value);
                Flow::Leaves
            }
            Stmt::Raise(_) => Flow::Leaves,
            Stmt::Break(_) | Stmt::Continue(_) => Flow::Skips,
            Stmt::If(statement) => self.follow_if(statement),
            Stmt::For(statement) => self.follow_for(statement),
            Stmt::While(statement) => self.follow_while(&statement.test, &statement.body),
            Stmt::With(statement) => {
                let frozen = self.networks.frozen;
                for item in &statement.items {
                    self.networks.frozen |= is_frozen(&item.context_expr);
                    let value = self.eval(&item.context_expr);
                    if let Some(target) = item.optional_vars.as_deref() {
                        self.assign(target, value);
                    }
                }
                let flow = self.run(&statement.body);
                self.networks.frozen = frozen;
                flow
            }
            Stmt::Try(statement) => {
                let flow = self.run(&statement.body);
                let flow = if flow == Flow::Next { self.run(&statement.orelse) } else { flow };
                let last = self.run(&statement.finalbody);
                if flow == Flow::Next { last } else { flow }
            }
            Stmt::Match(statement) => {
                self.eval(&statement.subject);
                let bodies: Vec<&'a [Stmt]> = statement.cases.iter().map(|case| &*case.body).collect();
                self.branches(&bodies)
            }
            _ => {
                self.follow_simple(statement);
                Flow::Next
            }
        }
    }

    fn follow_simple(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::Expr(statement) => {
                self.eval(&statement.value);
            }
            Stmt::Assign(statement) => {
                let value = self.eval(&statement.value);
                for target in &statement.targets {
                    self.assign(target, value.clone());
                }
            }
            Stmt::AnnAssign(statement) => {
                if let Some(value) = statement.value.as_deref() {
                    let value = self.eval(value);
                    self.assign(&statement.target, value);
                }
            }
            Stmt::AugAssign(statement) => self.assign_changed(statement),
            Stmt::FunctionDef(definition) => {
                let body = Body::Statements(&definition.body);
                let function = self.function(Some(&definition.parameters), body);
                let mut decorators =
                    definition.decorator_list.iter().filter_map(|decorator| named(&decorator.expression));
                let property = decorators.any(|name| effects::attribute(Receiver::Decorator, name).is_some());
                if let Some(made) = self.functions.last_mut() {
                    made.property = property;
                }
                self.state.set(self.scope, definition.name.as_str(), function);
            }
            Stmt::ClassDef(definition) => self.define_class(definition),
            Stmt::Import(statement) => {
                for alias in &statement.names {
                    self.import(alias.name.as_str(), alias.asname.as_ref().map(Identifier::as_str));
                }
            }
            Stmt::ImportFrom(statement) => {
                let module = statement.module.as_ref().map_or("", |module| module.as_str());
                for alias in &statement.names {
                    let name = alias.asname.as_ref().unwrap_or(&alias.name).as_str();
                    let symbol = Value::Symbol(format!("{module}.{}", alias.name).into());
                    self.state.set(self.scope, name, symbol);
                }
            }
            Stmt::Global(statement) => self.names_elsewhere(&statement.names, true),
            Stmt::Nonlocal(statement) => self.names_elsewhere(&statement.names, false),
            Stmt::Delete(statement) => {
                statement.targets.iter().for_each(|target| self.delete(target));
            }
            _ => {}
        }
    }

    fn names_elsewhere(&mut self, names: &'a [Identifier], module: bool) {
        names.iter().for_each(|name| self.state.is_elsewhere(self.scope, name.as_str(), module));
    }

    fn import(&mut self, module: &'a str, name: Option<&'a str>) {
        // `import a.b` binds `a`.
        let root = module.split('.').next().unwrap_or(module);
        let (name, symbol) = name.map_or((root, root), |name| (name, module));
        self.state.set(self.scope, name, Value::Symbol(symbol.into()));
    }

    fn define_class(&mut self, definition: &'a StmtClassDef) {
        let class = |base| if let Value::Class(class) = self.eval(base) { Some(class) } else { None };
        let bases = definition.bases().iter().filter_map(class).collect();
        let outer = self.scope;
        let scope = self.state.open_scope(Some(outer));
        self.scope = scope;
        self.run(&definition.body);
        self.scope = outer;
        self.classes.push(Class { definition, scope, bases });
        self.state.set(outer, definition.name.as_str(), Value::Class(self.classes.len() - 1));
    }

    fn give_back(&mut self, value: Value) {
        let before = self.calls.returned.last_mut().and_then(Option::take);
        let value = match before {
            Some(before) => self.state.join(&before, &value),
            None => value,
        };
        if let Some(last) = self.calls.returned.last_mut() {
            *last = Some(value);
        }
    }

    fn follow_if(&mut self, statement: &'a StmtIf) -> Flow {
        let mut mark = Vec::new();
        let mut flow = self.follow_clause(&statement.test, &statement.body, &mut mark);
        for clause in &statement.elif_else_clauses {
            if flow.is_some() {
                break;
            }
            flow = match &clause.test {
                Some(test) => self.follow_clause(test, &clause.body, &mut mark),
                None => {
                    let outer = std::mem::replace(&mut self.nesting.clause, clause.range);
                    let flow = self.run(&clause.body);
                    self.nesting.clause = outer;
                    Some(flow)
                }
            };
        }
        let mut flow = flow.unwrap_or(Flow::Next);
        // The branches before, from the last one outwards.
        while let Some((begun, branch, left)) = mark.pop() {
            let other = self.state.end_branch(begun);
            flow = self.join_flows(branch, left, other, flow);
        }
        flow
    }

    /// Follows one clause. `None`: the next clause may be taken instead.
    fn follow_clause(
        &mut self,
        test: &'a Expr,
        body: &'a [Stmt],
        before: &mut Vec<(usize, Branch<'a>, Flow)>,
    ) -> Option<Flow> {
        self.statement = test.range();
        let (truth, choice) = self.condition(test);
        match truth {
            Some(true) => return Some(self.run(body)),
            Some(false) => return None,
            None => {}
        }
        let begun = self.state.begin_branch();
        let outer = self.choices.clone();
        self.choices = outer.and(&choice);
        let around = std::mem::replace(&mut self.nesting.clause, test.range());
        let by_target = self.nesting.by_target;
        self.nesting.by_target = self.tested_row(test).or(by_target);
        let flow = self.run(body);
        if body.last().is_some_and(Stmt::is_break_stmt) {
            self.choose_tested(test);
        }
        (self.nesting.clause, self.nesting.by_target) = (around, by_target);
        self.choices = outer;
        let branch = self.state.end_branch(begun);
        before.push((self.state.begin_branch(), branch, flow));
        None
    }

    /// The rows whose target is tested in a loop over rows.
    fn tested_row(&mut self, test: &'a Expr) -> Option<RowsId> {
        self.nesting.around.iter().find(|around| around.rows.is_some())?;
        let tested = match test {
            Expr::Compare(compare) => &compare.left,
            test => test,
        };
        if !matches!(tested, Expr::Name(_) | Expr::Attribute(_) | Expr::Subscript(_)) {
            return None;
        }
        let value = self.eval(tested);
        self.target_row(&value)
    }

    fn join_flows(&mut self, left: Branch<'a>, left_flow: Flow, right: Branch<'a>, right_flow: Flow) -> Flow {
        match (left_flow, right_flow) {
            (other, Flow::Leaves) => {
                self.state.follow(left);
                other
            }
            (Flow::Leaves, other) => {
                self.state.follow(right);
                other
            }
            (left_flow, right_flow) => {
                self.state.join_branches(left, right);
                if left_flow == right_flow { left_flow } else { Flow::Next }
            }
        }
    }

    /// Follows alternatives, of which any or none may happen.
    fn branches(&mut self, bodies: &[&'a [Stmt]]) -> Flow {
        for body in bodies.iter().take(ITEMS) {
            let begun = self.state.begin_branch();
            let flow = self.run(body);
            let branch = self.state.end_branch(begun);
            self.join_flows(branch, flow, Branch::default(), Flow::Next);
        }
        Flow::Next
    }

    fn follow_for(&mut self, statement: &'a StmtFor) -> Flow {
        self.statement = statement.iter.range();
        let iterable = self.eval(&statement.iter);
        let outer = self.nesting.search.replace(statement.range);
        let items = self.items(&iterable, statement.range);
        self.enter(statement.range, &items);
        match items {
            Items::Each(items) => {
                let mut items = items.into_iter();
                items.any(|item| self.step(&statement.target, item, &statement.body) == Flow::Leaves);
            }
            Items::Any(item) => {
                self.nesting.loops += 1;
                (0..2).any(|_| self.step(&statement.target, item.clone(), &statement.body) == Flow::Leaves);
                self.nesting.loops -= 1;
            }
        }
        self.nesting.around.pop();
        self.networks.forwards.clear();
        self.nesting.search = outer;
        self.run(&statement.orelse)
    }

    /// Follows one step of a loop.
    fn step(&mut self, target: &'a Expr, item: Value, body: &'a [Stmt]) -> Flow {
        let count = self.state.count();
        if let Some(last) = self.nesting.around.last_mut() {
            last.started = count;
        }
        self.networks.forwards.clear();
        self.assign(target, item);
        self.run(body)
    }

    /// Enters a loop.
    pub(crate) fn enter(&mut self, range: TextRange, items: &Items) {
        let (folds, rows) = match items {
            Items::Any(item) => (self.folds_of(item, 3), rows_in(item)),
            Items::Each(_) => (None, None),
        };
        let entered = self.state.count();
        self.nesting.around.push(Loop { range, entered, started: entered, folds, rows });
    }

    /// The rows that are divided into folds, if an item of a loop has the positions of one.
    fn folds_of(&self, item: &Value, depth: usize) -> Option<RowsId> {
        match (item, self.table_of(item)) {
            (_, Some(table)) => table.positions.filter(|of| *of != table.rows),
            (Value::Tuple(items), _) if depth > 0 => {
                items.iter().find_map(|item| self.folds_of(item, depth - 1))
            }
            _ => None,
        }
    }

    fn follow_while(&mut self, test: &'a Expr, body: &'a [Stmt]) -> Flow {
        self.statement = test.range();
        self.eval(test);
        self.nesting.loops += 1;
        let outer = self.nesting.search.replace(test.range());
        let range = body.first().zip(body.last());
        let range = range.map_or(test.range(), |(first, last)| TextRange::new(first.start(), last.end()));
        self.enter(range, &Items::Each(Vec::new()));
        (0..2).any(|_| self.run(body) == Flow::Leaves);
        self.choose_tested(test);
        self.nesting.around.pop();
        self.nesting.search = outer;
        self.nesting.loops -= 1;
        Flow::Next
    }
}

impl<'a> Machine<'a> {
    /// Scores by which a loop ends are chosen: `while score < 0.9`, `if score > 0.9: break`.
    pub(crate) fn choose_tested(&mut self, test: &'a Expr) {
        match test {
            Expr::BoolOp(operation) => operation.values.iter().for_each(|value| self.choose_tested(value)),
            Expr::Compare(compare) => {
                for side in std::iter::once(&*compare.left).chain(&compare.comparators) {
                    if !side.is_name_expr() {
                        continue;
                    }
                    let value = self.eval(side);
                    let choice = self.choice(std::slice::from_ref(&value), test.range());
                    let value = self.with_deps(&value, &choice);
                    if !choice.is_empty() {
                        self.assign(side, value);
                    }
                }
            }
            _ => {}
        }
    }
}

/// The rows that an item of a loop is one of.
fn rows_in(item: &Value) -> Option<RowsId> {
    match item {
        Value::Number(number) => number.row.as_ref().map(|row| row.rows),
        Value::Tuple(items) => items.iter().find_map(|item| match item {
            Value::Tuple(_) => None,
            item => rows_in(item),
        }),
        _ => None,
    }
}

/// Whether nothing is learnt in a `with` statement.
fn is_frozen(context: &Expr) -> bool {
    let Expr::Call(call) = context else { return false };
    let name = named(&call.func).unwrap_or_default();
    let freezes = effects::of(&[Receiver::Context], name) == Some(Effect::Step(Step::Frozen));
    let learns = |argument: &Expr| argument.as_boolean_literal_expr().is_none_or(|literal| literal.value);
    let learns_if = effects::of(&[Receiver::Context], name) == Some(Effect::Step(Step::Open));
    freezes || learns_if && !call.arguments.args.first().is_none_or(learns)
}
