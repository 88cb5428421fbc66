//! The abstract interpreter: its state, the items of loops, and assignment to names.

use std::collections::BTreeSet;
use std::rc::Rc;

use ruff_python_ast::visitor::Visitor;
use ruff_python_ast::{Expr, Parameters, Stmt, StmtClassDef};
use ruff_text_size::TextRange;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::facts::Facts;
use crate::info::{Dependencies, Dependency, How, Infos, Kind};
use crate::rows::{DivisionKind, Origin, Rows, RowsId};
use crate::site::Site;
use crate::state::State;
use crate::syntax::{Mentioned, Syntax};
use crate::table::{Group, Table};
use crate::targets::{SeenTargets, Targets};
use crate::uses::Uses;
use crate::value::{Bound, Fitted, Names, Number, Object, Row, Value};

/// How many steps a script may take.
const STEPS: usize = 40_000;
/// How many items of a list are followed one by one.
pub(crate) const ITEMS: usize = 12;

/// The abstract interpreter.
pub(crate) struct Machine<'a> {
    pub(crate) source: &'a str,
    pub(crate) syntax: Rc<Syntax<'a>>,
    pub(crate) facts: &'a Facts,
    /// The columns to predict.
    pub(crate) targets: Targets,
    pub(crate) state: State<'a>,
    pub(crate) rows: Rows,
    pub(crate) infos: Infos,
    pub(crate) functions: Vec<Callable<'a>>,
    pub(crate) classes: Vec<Class<'a>>,
    /// The current scope.
    pub(crate) scope: usize,
    /// The current statement.
    pub(crate) statement: TextRange,
    pub(crate) limits: Limits,
    pub(crate) calls: Calls,
    pub(crate) nesting: Nesting,
    pub(crate) networks: Networks,
    /// The parts of conditions that are put together by `&`.
    pub(crate) conjunctions: FxHashMap<Rc<str>, Vec<(Rc<str>, bool)>>,
    /// The table that expressions of polars are about.
    pub(crate) context: Option<Rc<Table>>,
    /// Values that were written to files, by the paths.
    pub(crate) registered: Vec<(Rc<str>, Value)>,
    /// The choices by scores that the current statement depends on.
    pub(crate) choices: Dependencies,
    pub(crate) seen: Seen,
    /// Which rows are read.
    pub(crate) uses: Uses,
}

/// How much work is left, and how deep the interpreter is in expressions and calls.
#[derive(Default)]
pub(crate) struct Limits {
    pub(crate) steps: usize,
    pub(crate) depth: usize,
}

/// The calls of functions of the script.
#[derive(Default)]
pub(crate) struct Calls {
    /// The functions that are being called.
    pub(crate) active: Vec<usize>,
    /// What they yielded so far, and the number of loops around them.
    pub(crate) yielded: Vec<(Vec<Value>, usize, bool)>,
    /// Where they are called, and the rows of the tables that they are given.
    pub(crate) given: Vec<(Site, Vec<RowsId>)>,
    /// The functions that were called at all.
    pub(crate) called: BTreeSet<usize>,
    /// What the functions that are being called returned so far.
    pub(crate) returned: Vec<Option<Value>>,
}

/// The loops and branches around the current statement.
#[derive(Default)]
pub(crate) struct Nesting {
    /// The number of loops whose steps are not followed one by one.
    pub(crate) loops: usize,
    /// The innermost loop.
    pub(crate) search: Option<TextRange>,
    /// The loops, also those around calls.
    pub(crate) around: Vec<Loop>,
    /// The loop that added the items which are compared.
    pub(crate) listed: Option<TextRange>,
    /// The rows whose target decides whether the current branch is taken.
    pub(crate) by_target: Option<RowsId>,
    /// The innermost branch that may not be taken.
    pub(crate) clause: TextRange,
}

/// Networks that learn when the gradient of a loss is taken.
#[derive(Default)]
pub(crate) struct Networks {
    /// Networks that were called, with the rows and the place, before the gradient of a loss is taken.
    pub(crate) forwards: Vec<(usize, Table, Site)>,
    /// Instances of classes of the script, with what they learnt.
    pub(crate) fitted: FxHashMap<usize, Fitted>,
    /// The true values that predictions were last compared with.
    pub(crate) truth: Option<Table>,
    /// What networks are called for is not learnt.
    pub(crate) frozen: bool,
}

/// A loop that is being followed.
#[derive(Clone, Debug)]
pub(crate) struct Loop {
    pub(crate) range: TextRange,
    /// The number of things when it began.
    pub(crate) entered: usize,
    /// The number of things when the current step began.
    pub(crate) started: usize,
    /// The division whose folds it goes over.
    pub(crate) folds: Option<RowsId>,
    /// The rows that it goes over one by one.
    pub(crate) rows: Option<RowsId>,
}

/// A function or lambda of the script.
#[derive(Clone, Copy)]
pub(crate) struct Callable<'a> {
    pub(crate) parameters: Option<&'a Parameters>,
    pub(crate) body: Body<'a>,
    /// Whether a method is called when it is read as an attribute.
    pub(crate) property: bool,
}

/// What a function does.
#[derive(Clone, Copy)]
pub(crate) enum Body<'a> {
    Statements(&'a [Stmt]),
    Expression(&'a Expr),
}

/// A class of the script.
pub(crate) struct Class<'a> {
    pub(crate) definition: &'a StmtClassDef,
    /// The scope with its methods and attributes.
    pub(crate) scope: usize,
    /// The classes that it inherits from, if they are of the script.
    pub(crate) bases: Vec<usize>,
}

/// What the interpreter saw.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// Lines with the final score.
    pub(crate) finals: Vec<Final>,
    /// Values that were printed in other lines, after all loops.
    pub(crate) printed: Vec<Value>,
    /// Values that were printed in the steps of loops.
    pub(crate) printed_in_loops: Vec<Value>,
    /// Those among them that are said to be about validation or test rows.
    pub(crate) claimed: Vec<Value>,
    /// Files that were read, with their paths.
    pub(crate) reads: Vec<(Site, Rc<str>)>,
    /// Files that were written.
    pub(crate) writes: Vec<Rc<str>>,
    pub(crate) targets: SeenTargets,
    /// Identifying columns among the features of a model: where, which, and where the model is fitted.
    pub(crate) ids: Vec<(Site, Rc<str>)>,
    /// Where rows sorted by time were divided at random: the division's site, and the column.
    pub(crate) shuffled: Vec<(Site, Rc<str>)>,
    /// Rows that were left by how well they are predicted, and where.
    pub(crate) chosen_by_errors: Vec<(RowsId, Site)>,
}

/// A line with the final score.
#[derive(Debug)]
pub(crate) struct Final {
    pub(crate) site: Site,
    pub(crate) values: Vec<Value>,
    /// Whether the number is part of the text.
    pub(crate) literal: bool,
}

/// How a statement ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// With the next statement.
    Next,
    /// The function ends.
    Leaves,
    /// The step of the loop ends.
    Skips,
}

/// The items of a value in a loop.
pub(crate) enum Items {
    /// Each of them.
    Each(Vec<Value>),
    /// One that stands for all.
    Any(Value),
}

impl<'a> Machine<'a> {
    /// A machine at the start of a script.
    pub(crate) fn new(source: &'a str, syntax: Rc<Syntax<'a>>, facts: &'a Facts, targets: Targets) -> Self {
        let mut state = State::default();
        let scope = state.open_scope(None);
        state.set(scope, "__name__", Value::text("__main__"));
        Self {
            source,
            syntax,
            facts,
            targets,
            state,
            rows: Rows::default(),
            infos: Infos::default(),
            functions: Vec::new(),
            classes: Vec::new(),
            scope,
            statement: TextRange::default(),
            limits: Limits { steps: STEPS, depth: 0 },
            calls: Calls::default(),
            nesting: Nesting::default(),
            networks: Networks::default(),
            conjunctions: FxHashMap::default(),
            context: None,
            registered: Vec::new(),
            choices: Dependencies::default(),
            seen: Seen::default(),
            uses: Uses::default(),
        }
    }

    /// The place of an expression in the current statement.
    pub(crate) fn site(&self, expression: TextRange) -> Site {
        Site { expression, statement: self.statement }
    }

    /// The set with what was learnt by an expression from rows.
    pub(crate) fn learn(&mut self, kind: Kind, expression: TextRange, from: RowsId) -> Dependencies {
        let mut site = self.site(expression);
        if matches!(kind, Kind::Target | Kind::Selection) && from.is_known() {
            // The cause is where the rows are handed over to the functions that learn from them.
            let rows_of = match self.rows.origin(from) {
                Origin::Around { of, .. } => *of,
                _ => from,
            };
            let given = self.calls.given.iter().rev();
            let given = given.take_while(|(_, rows)| rows.contains(&from) || rows.contains(&rows_of));
            site = given.last().map_or(site, |(call, _)| *call);
        }
        self.infos.learn(kind, site, from)
    }

    /// The set with a candidate of the search at this place.
    pub(crate) fn candidate_at(&mut self, how: How, expression: TextRange) -> Dependencies {
        self.learn(Kind::Candidate(how), expression, RowsId::UNKNOWN)
    }

    /// The source of a range.
    pub(crate) fn text(&self, range: TextRange) -> &'a str {
        self.source.get(range.to_std_range()).unwrap_or_default()
    }

    /// A function of the script as a value.
    pub(crate) fn function(&mut self, parameters: Option<&'a Parameters>, body: Body<'a>) -> Value {
        self.functions.push(Callable { parameters, body, property: false });
        Value::Function(self.functions.len() - 1, self.scope)
    }

    /// The names in functions that the script does not call itself.
    pub(crate) fn uncalled_names(&self) -> FxHashSet<&'a str> {
        let mut names = Mentioned::default();
        let uncalled =
            self.functions.iter().enumerate().filter(|(number, _)| !self.calls.called.contains(number));
        for (_, function) in uncalled {
            match function.body {
                Body::Statements(body) => names.visit_body(body),
                Body::Expression(body) => names.visit_expr(body),
            }
        }
        names.0
    }

    /// The items of a value. Numbers are candidates of a search, which the loop at this place may be.
    pub(crate) fn items(&mut self, value: &Value, site: TextRange) -> Items {
        let each = match (value, self.state.handle(value).as_deref()) {
            (Value::Tuple(items), _) => items.to_vec(),
            (_, Some(Object::List(list))) if !list.open => list.items.clone(),
            (_, Some(Object::List(list))) => {
                return Items::Any(self.join_all(&list.items));
            }
            (_, Some(Object::Dict(dict))) if dict.others.is_empty() => {
                dict.items.iter().map(|(key, _)| Value::Str(Rc::clone(key))).collect()
            }
            (Value::Number(_), _) => return Items::Any(self.candidate_of(value, site, How::Open)),
            (Value::Names(names), _) => return Items::Any(self.each_name(names, site)),
            (Value::Bound(bound), _) if bound.1 == Bound::Items => return Items::Any(bound.0.clone()),
            (_, Some(Object::Table(table))) => return Items::Any(one_row(table)),
            (_, Some(Object::Group(group))) => return Items::Any(self.one_group(group, site)),
            _ => return Items::Any(Value::Unknown),
        };
        if each.len() <= ITEMS {
            let each = each.iter().map(|item| self.candidate_of(item, site, How::Few)).collect();
            return Items::Each(each);
        }
        let each: Vec<Value> = each.iter().map(|item| self.candidate_of(item, site, How::Open)).collect();
        Items::Any(self.join_all(&each))
    }

    /// One of the names of columns, if the loop does the same for each of them.
    fn each_name(&mut self, names: &Rc<Names>, site: TextRange) -> Value {
        let of_target = names.certain().iter().any(|name| self.targets.contains(name));
        if !of_target || self.syntax.conditions.are_in(site) {
            // A search may try the columns one by one.
            let deps = names.deps.and(&self.candidate_at(How::Open, site));
            return Value::Names(Rc::new(Names { sure: false, each: true, deps, ..(**names).clone() }));
        }
        Value::Names(Rc::new(Names { each: true, ..(**names).clone() }))
    }

    /// One of the groups of `for key, group in table.groupby(...)`.
    fn one_group(&mut self, group: &Group, site: TextRange) -> Value {
        let site = Site { expression: site, statement: site };
        let of = group.table.rows;
        let division = self.rows.division(of, DivisionKind::Value, &format!("group {site:?}"), site);
        let rows = self.rows.part(of, division, 0);
        let part = Table { by_target: group.by_target, ..group.table.with_rows(rows) };
        let part = self.table(part);
        Value::Tuple([Value::Unknown, part].into())
    }

    /// One value that stands for all.
    pub(crate) fn join_all(&mut self, items: &[Value]) -> Value {
        let Some((first, rest)) = items.split_first() else { return Value::Unknown };
        rest.iter().take(64).fold(first.clone(), |all, item| self.state.join(&all, item))
    }

    /// A number as a candidate of the search at this place.
    pub(crate) fn candidate_of(&mut self, value: &Value, site: TextRange, how: How) -> Value {
        let number = match value {
            Value::Number(number) => (**number).clone(),
            Value::Int(_) | Value::Float(_) => Number { text: value.constant(), ..Default::default() },
            _ => return value.clone(),
        };
        let dep = Dependency::new(Kind::Candidate(how), self.site(site), RowsId::UNKNOWN);
        let deps = number.deps.and(&self.infos.dep(dep));
        Number { deps, row: None, ..number }.value()
    }

    /// Sets what a target names.
    pub(crate) fn assign(&mut self, target: &'a Expr, value: Value) {
        match target {
            Expr::Name(name) => {
                let value = self.chosen(value);
                self.state.set(self.scope, name.id.as_str(), value);
            }
            Expr::Tuple(tuple) => self.unpack(&tuple.elts, &value),
            Expr::List(list) => self.unpack(&list.elts, &value),
            Expr::Starred(starred) => self.assign(&starred.value, value),
            Expr::Attribute(attribute) => {
                let base = self.eval(&attribute.value);
                let value = self.chosen(value);
                self.set_attribute(&base, attribute.attr.as_str(), value);
            }
            Expr::Subscript(subscript) => {
                let value = self.chosen(value);
                self.set_item(subscript, value);
            }
            _ => {}
        }
    }

    fn unpack(&mut self, targets: &'a [Expr], value: &Value) {
        let items = match (value, self.state.get(value)) {
            (Value::Tuple(items), _) => items.to_vec(),
            (_, Some(Object::List(list))) if !list.open => list.items.clone(),
            (_, Some(Object::List(list))) => vec![self.join_all(&list.items.clone()); targets.len()],
            (Value::Number(_), _) => vec![value.clone(); targets.len()],
            _ => Vec::new(),
        };
        let star = targets.iter().position(Expr::is_starred_expr);
        let extra = items.len().saturating_sub(targets.len());
        for (position, target) in targets.iter().enumerate() {
            let value = match star {
                Some(star) if position == star && !items.is_empty() => {
                    let some = items.get(star..=star + extra).unwrap_or_default().to_vec();
                    self.list(some)
                }
                Some(star) if position > star => items.get(position + extra).cloned().unwrap_or_default(),
                None if extra > 0 => Value::Unknown,
                _ => items.get(position).cloned().unwrap_or_default(),
            };
            self.assign(target, value);
        }
    }

    /// A value, with the choices by scores that it depends on.
    pub(crate) fn chosen(&mut self, value: Value) -> Value {
        if self.choices.is_empty() {
            return value;
        }
        let choices = self.choices.clone();
        match &value {
            Value::Unknown | Value::Number(_) | Value::Int(_) | Value::Float(_) => {
                self.with_condition(&value, &choices)
            }
            Value::Tuple(items) => {
                let number = |item: &Value| matches!(item, Value::Number(_));
                let chosen =
                    |item: &Value| if number(item) { self.with_deps(item, &choices) } else { item.clone() };
                Value::Tuple(items.iter().map(chosen).collect())
            }
            Value::Object(number) => match self.state.object(*number) {
                Some(Object::Table(_)) => self.with_deps(&value, &choices),
                Some(Object::Estimator(estimator)) => {
                    let mut estimator = estimator.clone();
                    estimator.deps.add(&choices);
                    self.state.add(Object::Estimator(estimator))
                }
                _ => value,
            },
            _ => value,
        }
    }
}

/// A row of a table, or a value of a column or array, that stands for all of them.
fn one_row(table: &Table) -> Value {
    let names = table.whole || (!table.columns.is_empty() && table.label.is_none());
    if names || !table.rows.is_known() {
        return Value::Unknown;
    }
    row_of(table, table.is_target())
}

/// A row that stands for all rows of a table.
pub(crate) fn row_of(table: &Table, target: bool) -> Value {
    let whole = (table.whole || !table.columns.is_empty()).then(|| Rc::new(table.clone()));
    let row = Row { rows: table.rows, target, label: table.label.clone(), index: table.index, table: whole };
    let deps = table.deps();
    Number { deps, row: Some(row.into()), ..Default::default() }.value()
}
