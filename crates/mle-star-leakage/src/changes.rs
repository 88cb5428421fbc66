//! Which code of a changed script can leak, as far as changes touch it.
//!
//! What a statement does, the machine saw as it followed the script (`work`). Constants are followed to their uses by
//! their names, which are one thing in the whole script: this finds more uses than there are, never fewer.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Alias, Expr, ExprAttribute, ExprList, ExprName, ExprTuple, Operator, Stmt};
use ruff_text_size::{Ranged, TextRange};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::effects::{self, Effect, Python, Receiver};
use crate::facts::Facts;
use crate::source::{self, Lines};
use crate::work::{Done, Work};
use crate::{allow, caught, executed};

/// Where a leak can start after some lines of a script were changed: in the changed statements that work on data, and where
/// the functions and constants that they define or belong to are used.
///
/// `changed` are lines of the new script, from 1, both ends included. The same holds for the result, which is sorted, and
/// has each line once. It is empty if no changed statement can leak. For lines that were taken away, give those beside them.
///
/// A statement works on data if it fits, encodes, chooses rows or columns, joins, groups, orders or shifts tables, divides
/// rows, scores or prints a score, reads a file, or calls a function of the script that does. Such a statement is given
/// whole: a loop if its head was changed. So is everything of which it is not known what it does, and a script that cannot
/// be parsed. Harmless are settings of models, another class of models, how many seeds there are, other prints, plots,
/// imports and comments.
///
/// ```
/// use mle_star_leakage::where_leaks_can_start;
///
/// let script = "\
/// import pandas as pd
/// from sklearn.linear_model import Ridge
/// STRENGTH = 0.3
/// def prepared(table):
///     return table.fillna(table.mean())
/// table = prepared(pd.read_csv('train.csv'))
/// model = Ridge(alpha=STRENGTH)
/// ";
/// assert!(where_leaks_can_start(script, &[1..=3, 7..=7]).is_empty());
/// assert_eq!(where_leaks_can_start(script, &[5..=5]), [5..=6]);
/// ```
pub fn where_leaks_can_start(source: &str, changed: &[RangeInclusive<usize>]) -> Vec<RangeInclusive<usize>> {
    if changed.iter().all(RangeInclusive::is_empty) {
        return Vec::new();
    }
    let found = caught(|| {
        let parsed = source::parse(source)?;
        let lines = Lines::new(source);
        let facts = Facts::default();
        let done = executed(source, parsed.suite(), &facts).done;
        let code = parsed.tokens().iter().filter(|token| allow::is_code(token.kind()));
        let code = code.map(Ranged::range).collect();
        let mut script = Script { done, ..Script::default() };
        script.visit_body(parsed.suite());
        Ok(Changes { lines, code, script }.leaking(changed))
    });
    found.unwrap_or_else(|_| vec![1..=source.lines().count().max(1)])
}

struct Changes<'a> {
    lines: Lines<'a>,
    /// What is no comment, in its order.
    code: Vec<TextRange>,
    script: Script<'a>,
}

impl Changes<'_> {
    fn leaking(&self, changed: &[RangeInclusive<usize>]) -> Vec<RangeInclusive<usize>> {
        let is_changed = |line: &usize| changed.iter().any(|lines| lines.contains(line));
        let (mut found, mut names) = (BTreeSet::new(), Vec::new());
        for (number, part) in self.script.parts.iter().enumerate() {
            if self.own_lines(number).iter().any(is_changed) && self.script.can_leak(number) {
                found.extend(self.lines.of(part.statement.range()));
                names.extend(part.around.iter().copied().chain(defined(part.statement)));
                names.extend(self.script.constants(number).unwrap_or_default());
            }
        }
        let mut known = FxHashSet::default();
        while let Some(name) = names.pop() {
            if known.insert(name) {
                for (number, _) in self.script.uses.get(name).into_iter().flatten() {
                    found.extend(self.own_lines(*number));
                    names.extend(&self.script.parts[*number].around);
                }
            }
        }
        let mut ranges: Vec<RangeInclusive<usize>> = Vec::new();
        for line in found {
            match ranges.last_mut() {
                Some(last) if *last.end() + 1 == line => *last = *last.start()..=line,
                _ => ranges.push(line..=line),
            }
        }
        ranges
    }

    /// The lines of a statement, but for those of the statements in it.
    fn own_lines(&self, number: usize) -> BTreeSet<usize> {
        let part = &self.script.parts[number];
        let range = part.statement.range();
        let first = self.code.partition_point(|token| token.start() < range.start());
        let code = self.code[first..].iter().take_while(|token| token.end() <= range.end());
        let is_own = |token: &TextRange| {
            let before = part.within.partition_point(|within| within.end() <= token.start());
            part.within.get(before).is_none_or(|within| !within.contains_range(*token))
        };
        code.filter(|token| is_own(token)).flat_map(|token| self.lines.of(*token)).collect()
    }
}

/// A statement, with its place among others.
struct Part<'a> {
    statement: &'a Stmt,
    /// The statements that are directly in it.
    within: Vec<TextRange>,
    /// The number of the first statement after those in it.
    end: usize,
    /// The functions and classes that it belongs to.
    around: Vec<&'a str>,
}

/// A script by its statements and names.
#[derive(Default)]
struct Script<'a> {
    done: Done,
    parts: Vec<Part<'a>>,
    /// The statements that read a name, or an attribute of that name, and whether it is no more than a setting there.
    uses: FxHashMap<&'a str, Vec<(usize, bool)>>,
    /// The statement whose names are collected.
    current: Option<usize>,
    /// Whether they are settings where they are read.
    is_setting: bool,
}

impl<'a> Script<'a> {
    /// Whether a statement, or its head if it has others in it, can leak, or a constant of it where it is used.
    fn can_leak(&self, number: usize) -> bool {
        let (mut todo, mut known) = (vec![number], FxHashSet::default());
        while let Some(number) = todo.pop() {
            if known.insert(number) {
                let Some(next) = self.harmless_with(number) else { return true };
                todo.extend(next);
            }
        }
        false
    }

    /// The statements that have to be harmless for this one to be so; `None` if it is not.
    fn harmless_with(&self, number: usize) -> Option<Vec<usize>> {
        let Part { statement, end, .. } = &self.parts[number];
        let work = *self.done.by_range.get(&statement.range())?;
        let within = || (number + 1..*end).collect();
        match statement {
            Stmt::Pass(_) | Stmt::Import(_) => Some(Vec::new()),
            // Under another name it may take the place of something else.
            Stmt::ImportFrom(of) => {
                let is_plain = |alias: &Alias| alias.asname.is_none() && alias.name.as_str() != "*";
                of.names.iter().all(is_plain).then(Vec::new)
            }
            Stmt::Expr(of) => match &*of.value {
                Expr::Call(call) => (self.done.idle.get(&call.range()) == Some(&true)).then(Vec::new),
                value => value.is_literal_expr().then(Vec::new),
            },
            Stmt::FunctionDef(of) if of.decorator_list.is_empty() => Some(within()),
            Stmt::ClassDef(of) if of.decorator_list.is_empty() => Some(within()),
            Stmt::If(_) | Stmt::While(_) | Stmt::With(_) | Stmt::Try(_) | Stmt::Match(_) => {
                (work <= Work::Model).then(within)
            }
            _ if work == Work::Model && !statement.is_for_stmt() && !self.done.goes_on => {
                let names = self.set_by(number)?;
                (!names.is_empty()).then(Vec::new)
            }
            _ => {
                let uses = |name: &str| self.uses.get(name).into_iter().flatten();
                let names = self.constants(number)?.into_iter();
                let read = names.flat_map(uses).filter(|(_, is_setting)| !is_setting);
                Some(read.map(|(number, _)| *number).collect())
            }
        }
    }

    /// The names that stand for the constants of a statement; `None` if it has others.
    fn constants(&self, number: usize) -> Option<Vec<&'a str>> {
        let statement = self.parts[number].statement;
        let range = if let Stmt::For(of) = statement { of.iter.range() } else { statement.range() };
        let work = self.done.by_range.get(&range)?;
        (*work == Work::None).then(|| self.set_by(number)).flatten()
    }

    /// The names that a statement sets, or the function that it gives something back from; `None` if it does something else.
    fn set_by(&self, number: usize) -> Option<Vec<&'a str>> {
        let part = &self.parts[number];
        match part.statement {
            Stmt::Assign(of) => all_names_in(&of.targets),
            Stmt::AnnAssign(of) => names_in(&of.target),
            Stmt::AugAssign(of) => names_in(&of.target),
            Stmt::For(of) => names_in(&of.target),
            Stmt::Return(of) if of.value.is_some() => part.around.last().map(|name| vec![*name]),
            _ => None,
        }
    }
}

impl<'a> Visitor<'a> for Script<'a> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        let number = self.parts.len();
        let mut around = Vec::new();
        if let Some(outer) = self.current.and_then(|outer| self.parts.get_mut(outer)) {
            outer.within.push(statement.range());
            around = outer.around.iter().copied().chain(defined(outer.statement)).collect();
        }
        self.parts.push(Part { statement, within: Vec::new(), end: 0, around });
        let outer = self.current.replace(number);
        walk_stmt(self, statement);
        self.current = outer;
        self.parts[number].end = self.parts.len();
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        let (Expr::Name(ExprName { ctx, .. }) | Expr::Attribute(ExprAttribute { ctx, .. })) = expression
        else {
            return self.visit_other(expression);
        };
        if let Some(name) = named(expression).filter(|_| ctx.is_load()) {
            let current = self.current.map(|current| (current, self.is_setting));
            self.uses.entry(name).or_default().extend(current);
        }
        walk_expr(self, expression);
    }
}

impl<'a> Script<'a> {
    fn visit_other(&mut self, expression: &'a Expr) {
        match expression {
            Expr::Call(call) if self.done.settings.contains(&call.range()) => {
                self.visit_expr(&call.func);
                call.arguments.iter_source_order().for_each(|argument| self.visit_setting(argument.value()));
            }
            // Predictions of several models are divided by their number.
            Expr::BinOp(of) if of.op == Operator::Div => {
                self.visit_expr(&of.left);
                self.visit_setting(&of.right);
            }
            _ => walk_expr(self, expression),
        }
    }

    /// Collects the names of a value that is a setting if it is a constant, or the number of several.
    fn visit_setting(&mut self, value: &'a Expr) {
        let of = match value {
            Expr::Call(call) => call.arguments.args.first().filter(|_| is_length(&call.func)),
            value => Some(value),
        };
        self.is_setting = of.is_some_and(|of| named(of).is_some());
        self.visit_expr(value);
        self.is_setting = false;
    }
}

/// The name of a variable or attribute.
fn named(expression: &Expr) -> Option<&str> {
    match expression {
        Expr::Name(name) => Some(name.id.as_str()),
        Expr::Attribute(of) => Some(of.attr.as_str()),
        _ => None,
    }
}

/// The names that a target sets, or whose items it sets.
fn names_in(target: &Expr) -> Option<Vec<&str>> {
    match target {
        Expr::Tuple(ExprTuple { elts, .. }) | Expr::List(ExprList { elts, .. }) => all_names_in(elts),
        Expr::Subscript(of) => names_in(&of.value),
        target => named(target).map(|name| vec![name]),
    }
}

fn all_names_in(targets: &[Expr]) -> Option<Vec<&str>> {
    targets.iter().map(names_in).collect::<Option<Vec<_>>>().map(|names| names.concat())
}

/// The function or class that a statement defines.
fn defined(statement: &Stmt) -> Option<&str> {
    match statement {
        Stmt::FunctionDef(of) => Some(of.name.as_str()),
        Stmt::ClassDef(of) => Some(of.name.as_str()),
        _ => None,
    }
}

fn is_length(called: &Expr) -> bool {
    let name = named(called).unwrap_or_default();
    effects::of(&[Receiver::Builtin], name) == Some(Effect::Python(Python::Length))
}
