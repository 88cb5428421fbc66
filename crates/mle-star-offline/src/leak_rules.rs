//! Leaks of validation or test data into training, found in the syntax tree.
//!
//! The rules look at the top-level statements for three mistakes: a fit on joined train and test rows, a fit on all
//! rows before they are split, and a column computed from the row's own target.

use std::collections::BTreeMap;

use ruff_python_ast::{Expr, ExprCall, Stmt, StmtAssign};
use ruff_python_parser::parse_module;
use ruff_text_size::Ranged;
use serde_json::json;

use crate::inputs::{Inputs, fenced};

/// A leak, with its source text.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Leak {
    /// A fit on joined train and test rows.
    Joined { block: String, train: String },
    /// `scaled = scaler.fit_transform(x)` before a split of `scaled`.
    BeforeSplit { block: String },
    /// A column computed from the target of all rows.
    Target { block: String },
}

impl Leak {
    fn block(&self) -> &str {
        match self {
            Self::Joined { block, .. } | Self::BeforeSplit { block } | Self::Target { block } => block,
        }
    }
}

/// The findings as JSON.
pub(crate) fn detection(target: &str, inputs: Inputs<'_>) -> String {
    let code = inputs.text("code");
    let leaks = leaks(code, target);
    let unique = leaks.iter().filter(|leak| code.matches(leak.block()).count() == 1);
    let mut answers: Vec<_> = unique
        .map(|leak| json!({ "leakage_status": "Yes Data Leakage", "code_block": leak.block() }))
        .collect();
    if answers.is_empty() {
        let block =
            code.lines().find(|line| line.contains("fit")).or(code.lines().next()).unwrap_or_default();
        answers.push(json!({ "leakage_status": "No Data Leakage", "code_block": block }));
    }
    json!({ "answers": answers }).to_string()
}

/// The block without its leak, unchanged if the rules cannot correct it.
pub(crate) fn correction(target: &str, inputs: Inputs<'_>) -> String {
    let block = inputs.text("code_block");
    // The whole script defines the names in the block.
    let known =
        leaks(inputs.text("code"), target).into_iter().find(|leak| leak.block().trim() == block.trim());
    let corrected = match known {
        Some(Leak::Joined { train, .. }) => fitted_on(block, &train),
        Some(Leak::BeforeSplit { .. }) => fitted_after_split(block),
        Some(Leak::Target { .. }) => without_target(block),
        None => None,
    };
    fenced(corrected.as_deref().unwrap_or(block))
}

fn leaks(code: &str, target: &str) -> Vec<Leak> {
    let Ok(parsed) = parse_module(code) else { return Vec::new() };
    let body = parsed.suite();
    let text = |statement: &Stmt| code[statement.range()].to_owned();
    let mut joined: BTreeMap<&str, String> = BTreeMap::new();
    let mut found = Vec::new();
    for (position, statement) in body.iter().enumerate() {
        let Some(assign) = single(statement) else {
            if let Some(train) = fits(statement).and_then(|x| train_part(x, &joined)) {
                found.push(Leak::Joined { block: text(statement), train });
            }
            continue;
        };
        if let Some(train) = fits_expression(&assign.value).and_then(|x| train_part(x, &joined)) {
            found.push(Leak::Joined { block: text(statement), train });
        } else if let Some(last) = split_after(assign, &body[position + 1..]) {
            let end = body[position + 1 + last].end();
            found.push(Leak::BeforeSplit {
                block: code[assign.start().to_usize()..end.to_usize()].to_owned(),
            });
        } else if reads_target_means(assign, target) {
            found.push(Leak::Target { block: text(statement) });
        }
        if let (Some(name), Some(train)) = (target_name(assign), joined_train(&assign.value)) {
            joined.insert(name, train);
        }
    }
    found
}

fn single(statement: &Stmt) -> Option<&StmtAssign> {
    statement.as_assign_stmt().filter(|assign| assign.targets.len() == 1)
}

fn target_name(assign: &StmtAssign) -> Option<&str> {
    name(assign.targets.first()?)
}

fn name(expression: &Expr) -> Option<&str> {
    expression.as_name_expr().map(|name| name.id.as_str())
}

/// The first argument of a statement `something.fit(x)` or `something.fit_transform(x)`.
fn fits(statement: &Stmt) -> Option<&Expr> {
    fits_expression(&statement.as_expr_stmt()?.value)
}

fn fits_expression(expression: &Expr) -> Option<&Expr> {
    fitting_call(expression)?.arguments.args.first()
}

fn fitting_call(expression: &Expr) -> Option<&ExprCall> {
    let call = expression.as_call_expr()?;
    let method = call.func.as_attribute_expr()?;
    if ["fit", "fit_transform"].contains(&method.attr.as_str()) {
        return Some(call);
    }
    // In `Scaler().fit(x).transform(y)` the inner call counts.
    fitting_call(&method.value)
}

/// The training part of `pd.concat([train, test])`, whatever the names, if one of them contains `test`.
fn joined_train(expression: &Expr) -> Option<String> {
    match expression {
        Expr::Call(call) => {
            let method = call.func.as_attribute_expr()?;
            if !["concat", "vstack", "concatenate"].contains(&method.attr.as_str()) {
                return joined_train(&method.value);
            }
            let parts = match call.arguments.args.first()? {
                Expr::List(list) => &list.elts,
                Expr::Tuple(tuple) => &tuple.elts,
                _ => return None,
            };
            let named = |word: &str| parts.iter().filter_map(root).find(|name| name.contains(word));
            named("test").and(named("train")).map(str::to_owned)
        }
        Expr::Subscript(subscript) => joined_train(&subscript.value),
        _ => None,
    }
}

/// The training part of joined rows, given directly or by name.
fn train_part(expression: &Expr, joined: &BTreeMap<&str, String>) -> Option<String> {
    joined_train(expression).or_else(|| joined.get(root(expression)?).cloned())
}

/// The name an expression begins with: `frame` of `frame[columns].values`.
fn root(expression: &Expr) -> Option<&str> {
    match expression {
        Expr::Name(name) => Some(name.id.as_str()),
        Expr::Subscript(subscript) => root(&subscript.value),
        Expr::Attribute(attribute) => root(&attribute.value),
        _ => None,
    }
}

/// `scaled = scaler.fit_transform(x)` followed by `train_test_split(scaled, ...)`: where the split is.
fn split_after(assign: &StmtAssign, rest: &[Stmt]) -> Option<usize> {
    let scaled = target_name(assign)?;
    let call = assign.value.as_call_expr()?;
    let method = call.func.as_attribute_expr()?;
    // Encoding labels leaks nothing, since they are not features.
    if method.attr.as_str() != "fit_transform" || call.arguments.args.len() != 1 || scaled.starts_with('y') {
        return None;
    }
    rest.iter().position(|statement| {
        let Some(assign) = single(statement) else { return false };
        let Some(call) = assign.value.as_call_expr() else { return false };
        let splits = name(&call.func) == Some("train_test_split");
        splits && call.arguments.args.first().and_then(name) == Some(scaled)
    })
}

/// `train["x"] = ...groupby(...)["target"].transform("mean")` and the like.
fn reads_target_means(assign: &StmtAssign, target: &str) -> bool {
    let makes_column = assign.targets.first().is_some_and(Expr::is_subscript_expr);
    makes_column && grouped_target(&assign.value, target)
}

fn grouped_target(expression: &Expr, target: &str) -> bool {
    match expression {
        Expr::Call(call) => {
            grouped_target(&call.func, target)
                || call.arguments.args.iter().any(|argument| grouped_target(argument, target))
        }
        Expr::Attribute(attribute) => grouped_target(&attribute.value, target),
        Expr::Subscript(subscript) => {
            let named = match &*subscript.slice {
                Expr::StringLiteral(literal) => literal.value.to_str() == target,
                Expr::Name(name) => name.id.as_str() == "TARGET",
                _ => false,
            };
            (named && is_groupby(&subscript.value)) || grouped_target(&subscript.value, target)
        }
        _ => false,
    }
}

fn is_groupby(expression: &Expr) -> bool {
    expression.as_call_expr().is_some_and(|call| {
        call.func.as_attribute_expr().is_some_and(|method| method.attr.as_str() == "groupby")
    })
}

/// The same call, fitted on the training part: `s.fit_transform(both)` becomes `s.fit(train).transform(both)`.
fn fitted_on(block: &str, train: &str) -> Option<String> {
    let parsed = parse_module(block).ok()?;
    let value = match parsed.suite().first()? {
        Stmt::Assign(assign) => &assign.value,
        Stmt::Expr(expression) => &expression.value,
        _ => return None,
    };
    let call = fitting_call(value)?;
    let method = call.func.as_attribute_expr()?;
    let argument = call.arguments.args.first()?;
    let given = &block[argument.range()];
    let train_only = match (joined_train(argument), root(argument)) {
        (None, Some(name)) => format!("{train}{}", &given[name.len()..]),
        _ => train.to_owned(),
    };
    let fitted = format!("{}.fit({train_only})", &block[method.value.range()]);
    let whole = if method.attr.as_str() == "fit" { fitted } else { format!("{fitted}.transform({given})") };
    Some(format!("{}{whole}{}", &block[..call.start().to_usize()], &block[call.end().to_usize()..]))
}

/// The split first, then the fit on its training part alone.
fn fitted_after_split(block: &str) -> Option<String> {
    let parsed = parse_module(block).ok()?;
    let body = parsed.suite();
    let (first, last) = (single(body.first()?)?, body.last()?);
    let scaled = target_name(first)?;
    let call = first.value.as_call_expr()?;
    let fitter = &block[call.func.as_attribute_expr()?.value.range()];
    let raw = &block[call.arguments.args.first()?.range()];
    let split = single(last)?;
    let parts = split.targets.first()?.as_tuple_expr()?;
    let (train, valid) = (name(parts.elts.first()?)?, name(parts.elts.get(1)?)?);
    let between = &block[first.end().to_usize()..last.start().to_usize()];
    let after = block[last.range()].replacen(
        &format!("train_test_split({scaled}"),
        &format!("train_test_split({raw}"),
        1,
    );
    Some(format!(
        "{}{after}\nfitted = {fitter}.fit({train})\n{train}, {valid} = fitted.transform({train}), fitted.transform({valid})",
        between.trim_start_matches('\n')
    ))
}

/// The column without what it says of its own rows. What rows to learn it from is decided elsewhere in the script.
fn without_target(block: &str) -> Option<String> {
    let parsed = parse_module(block).ok()?;
    let assign = single(parsed.suite().first()?)?;
    Some(format!("{} = 0.0", &block[assign.targets.first()?.range()]))
}
