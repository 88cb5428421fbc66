//! What the syntax tree tells before anything is followed: calls and loops by their places, and what stands anywhere.

use ruff_python_ast::comparable::ComparableExpr;
use ruff_python_ast::visitor::{Visitor, walk_comprehension, walk_elif_else_clause, walk_expr, walk_stmt};
use ruff_python_ast::{
    Comprehension, ElifElseClause, Expr, ExprCall, InterpolatedStringElement, Number, Stmt, UnaryOp,
};
use ruff_text_size::{Ranged, TextRange, TextSize};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use std::hash::BuildHasher;

use crate::effects::{self, Effect, Expression, Items, Learn, Receiver, Values};
use crate::score_words::FINAL;

/// What the syntax tree of a script tells.
#[derive(Debug, Default)]
pub(crate) struct Syntax<'a> {
    calls: FxHashMap<TextRange, &'a ExprCall>,
    /// What loops set in each step, and what they go over; also those of comprehensions.
    loops: FxHashMap<TextRange, (&'a Expr, &'a Expr)>,
    /// Where loops are left, and where their next steps begin early.
    pub(crate) breaks: Places,
    pub(crate) continues: Places,
    /// Where something is done under a condition only.
    pub(crate) conditions: Places,
    /// Where methods add something to a list.
    pub(crate) additions: Places,
    /// Names that are inverted: `~name`.
    pub(crate) inverted: FxHashSet<&'a str>,
    /// Whether something may reset a network.
    pub(crate) resets: bool,
    /// Whether a text is that of the line with the final score.
    pub(crate) reports: bool,
}

/// Places in the source.
#[derive(Debug, Default)]
pub(crate) struct Places(Vec<TextSize>);

impl Places {
    /// Whether one of them is in a range.
    pub(crate) fn are_in(&self, range: TextRange) -> bool {
        self.0.iter().any(|place| range.contains(*place))
    }
}

impl<'a> Syntax<'a> {
    /// Reads a syntax tree.
    pub(crate) fn new(script: &'a [Stmt]) -> Self {
        let mut syntax = Self::default();
        syntax.visit_body(script);
        syntax
    }

    /// The call at a place.
    pub(crate) fn call(&self, range: TextRange) -> Option<&'a ExprCall> {
        self.calls.get(&range).copied()
    }

    /// What the loop at a place sets in each step, and what it goes over.
    pub(crate) fn for_loop(&self, range: TextRange) -> Option<(&'a Expr, &'a Expr)> {
        self.loops.get(&range).copied()
    }

    /// The name of the function or method that is called at a place.
    pub(crate) fn called_name(&self, range: TextRange) -> &'a str {
        self.call(range).and_then(|call| named(&call.func)).unwrap_or_default()
    }

    fn read_text(&mut self, text: &str) {
        self.reports |= text.contains(FINAL);
    }
}

impl<'a> Visitor<'a> for Syntax<'a> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::Break(_) => self.breaks.0.push(statement.start()),
            Stmt::Continue(_) => self.continues.0.push(statement.start()),
            Stmt::If(_) => self.conditions.0.push(statement.start()),
            Stmt::For(of) => {
                self.loops.insert(of.range, (&of.target, &of.iter));
            }
            _ => {}
        }
        walk_stmt(self, statement);
    }

    fn visit_elif_else_clause(&mut self, clause: &'a ElifElseClause) {
        if clause.test.is_some() {
            self.conditions.0.push(clause.start());
        }
        walk_elif_else_clause(self, clause);
    }

    fn visit_comprehension(&mut self, comprehension: &'a Comprehension) {
        self.loops.insert(comprehension.range, (&comprehension.target, &comprehension.iter));
        self.conditions.0.extend(comprehension.ifs.iter().map(Ranged::start));
        walk_comprehension(self, comprehension);
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        if let Some(name) = named(expression) {
            let reset = Some(Effect::Learn(Learn::Restored));
            self.resets |= effects::of(&[Receiver::Reset], name) == reset;
        }
        match expression {
            Expr::Call(call) => {
                self.calls.insert(call.range(), call);
                let name = call.func.as_attribute_expr().map_or("", |of| of.attr.as_str());
                if effects::of(&[Receiver::List], name) == Some(Effect::Items(Items::Added)) {
                    self.additions.0.push(expression.start());
                }
            }
            Expr::If(_) => self.conditions.0.push(expression.start()),
            Expr::UnaryOp(of) if of.op == UnaryOp::Invert => {
                self.inverted.extend(of.operand.as_name_expr().map(|name| name.id.as_str()));
            }
            Expr::StringLiteral(of) => self.read_text(of.value.to_str()),
            _ => {}
        }
        walk_expr(self, expression);
    }

    fn visit_interpolated_string_element(&mut self, element: &'a InterpolatedStringElement) {
        match element {
            InterpolatedStringElement::Literal(literal) => self.read_text(&literal.value),
            InterpolatedStringElement::Interpolation(of) => self.visit_expr(&of.expression),
        }
    }
}

/// The names of variables and attributes.
#[derive(Debug, Default)]
pub(crate) struct Mentioned<'a>(pub(crate) FxHashSet<&'a str>);

impl<'a> Visitor<'a> for Mentioned<'a> {
    fn visit_expr(&mut self, expression: &'a Expr) {
        self.0.extend(named(expression));
        walk_expr(self, expression);
    }
}

/// The name of a variable or attribute.
pub(crate) fn named(expression: &Expr) -> Option<&str> {
    match expression {
        Expr::Name(name) => Some(name.id.as_str()),
        Expr::Attribute(of) => Some(of.attr.as_str()),
        _ => None,
    }
}

/// Whether two expressions are written alike.
pub(crate) fn are_alike(one: &Expr, other: &Expr) -> bool {
    ComparableExpr::from(one) == ComparableExpr::from(other)
}

/// A text that equal expressions share. A column is `["name"]` behind its table, and a time is its text.
pub(crate) fn key(expression: &Expr) -> String {
    let keys = |expressions: &[Expr]| expressions.iter().map(key).collect::<Vec<_>>().join(",");
    match expression {
        Expr::Name(name) => name.id.to_string(),
        Expr::Attribute(of) => format!("{}.{}", key(&of.value), of.attr),
        Expr::Subscript(of) => format!("{}[{}]", key(&of.value), key(&of.slice)),
        Expr::StringLiteral(of) => format!("\"{}\"", of.value.to_str()),
        Expr::NumberLiteral(of) => match &of.value {
            Number::Int(value) => value.to_string(),
            Number::Float(value) => value.to_string(),
            Number::Complex { .. } => other_key(expression),
        },
        Expr::BooleanLiteral(of) => if of.value { "True" } else { "False" }.to_owned(),
        Expr::NoneLiteral(_) => "None".to_owned(),
        Expr::UnaryOp(of) => format!("{}{}", of.op.as_str(), key(&of.operand)),
        Expr::BinOp(of) => format!("{}{}{}", part_key(&of.left), of.op.as_str(), part_key(&of.right)),
        Expr::Tuple(of) => format!("({})", keys(&of.elts)),
        Expr::List(of) => format!("[{}]", keys(&of.elts)),
        Expr::Call(call) => {
            let name = named(&call.func).unwrap_or_default();
            let text = call.arguments.args.first().filter(|first| first.is_string_literal_expr());
            match (effects::of(&[Receiver::Library("pandas")], name), text) {
                (Some(Effect::Values(Values::Times)), Some(text)) => key(text),
                (Some(Effect::Expression(Expression::Named)), Some(text)) => format!("[{}]", key(text)),
                _ => key_of_call(call, name),
            }
        }
        _ => other_key(expression),
    }
}

/// The key of a call, if its method had this name.
pub(crate) fn key_of_call(call: &ExprCall, name: &str) -> String {
    let base = call.func.as_attribute_expr().map_or_else(String::new, |of| key(&of.value) + ".");
    let positional = call.arguments.args.iter().map(key);
    let named = call.arguments.keywords.iter().map(|keyword| {
        format!("{}={}", keyword.arg.as_ref().map_or("**", |name| name.as_str()), key(&keyword.value))
    });
    format!("{base}{name}({})", positional.chain(named).collect::<Vec<_>>().join(","))
}

fn part_key(part: &Expr) -> String {
    if part.is_bin_op_expr() { format!("({})", key(part)) } else { key(part) }
}

fn other_key(expression: &Expr) -> String {
    format!("#{:x}", FxBuildHasher.hash_one(ComparableExpr::from(expression)))
}

/// A key without the name of the table: only its rows matter.
pub(crate) fn without_table(key: &str) -> &str {
    key.trim_start_matches(|letter: char| letter.is_alphanumeric() || letter == '_')
}
