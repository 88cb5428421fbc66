//! Which changed statements of a script only set up models: their classes, constants, and how many there are. None of these can
//! leak; everything else may.

use std::collections::HashSet;
use std::ops::RangeInclusive;

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, Stmt};
use ruff_python_parser::parse_module;
use ruff_text_size::{Ranged as _, TextRange};

use mle_star_domain::score::LABEL;

/// How the names of classes of models end.
const MODELS: [&str; 9] =
    ["Regressor", "Classifier", "Ranker", "Ridge", "Lasso", "ElasticNet", "Regression", "SVC", "SVR"];

/// The lines (from 1) of each statement that has a changed line and may leak; of one that cannot be parsed, all lines.
pub(super) fn may_leak(script: &str, changed: &[RangeInclusive<usize>]) -> Vec<RangeInclusive<usize>> {
    if changed.is_empty() {
        return Vec::new();
    }
    let Ok(parsed) = parse_module(script) else { return vec![1..=script.lines().count().max(1)] };
    let mut visited = Statements::default();
    visited.visit_body(parsed.suite());
    let line = |at: usize| script.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1;
    let lines = |range: TextRange| line(range.start().to_usize())..=line(range.end().to_usize());
    let is_changed = |number: usize| changed.iter().any(|lines| lines.contains(&number));
    let mut found = Vec::new();
    for (statement, inner) in &visited.statements {
        let (all, inner) = (lines(statement.range()), inner.iter().copied().map(lines).collect::<Vec<_>>());
        let mut own = all.clone().filter(|number| !inner.iter().any(|lines| lines.contains(number)));
        if own.any(is_changed) && !visited.only_sets_up(statement) {
            found.push(all);
        }
    }
    found
}

/// The statements of a script with those in each, and the names that are read elsewhere than in settings of models.
#[derive(Default)]
struct Statements<'a> {
    statements: Vec<(&'a Stmt, Vec<TextRange>)>,
    /// The numbers of those that are visited.
    open: Vec<usize>,
    read: HashSet<&'a str>,
    is_in_settings: bool,
}

impl Statements<'_> {
    fn only_sets_up(&self, statement: &Stmt) -> bool {
        let is_setting =
            |target: &Expr| target.as_name_expr().is_some_and(|name| !self.read.contains(name.id.as_str()));
        match statement {
            Stmt::Import(_) | Stmt::ImportFrom(_) | Stmt::Pass(_) => true,
            Stmt::Assign(of) => {
                is_model(&of.value) || is_constant(&of.value) && of.targets.iter().all(is_setting)
            }
            Stmt::For(of) => (is_count(&of.iter) || is_constant(&of.iter)) && is_setting(&of.target),
            Stmt::Expr(of) => of.value.is_literal_expr() || is_print(&of.value),
            _ => false,
        }
    }
}

impl<'a> Visitor<'a> for Statements<'a> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        if let Some(outer) = self.open.last() {
            self.statements[*outer].1.push(statement.range());
        }
        self.open.push(self.statements.len());
        self.statements.push((statement, Vec::new()));
        walk_stmt(self, statement);
        self.open.pop();
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        let outer = self.is_in_settings;
        self.is_in_settings |= is_model(expression) || is_count(expression) || is_print(expression);
        match expression {
            Expr::Name(name) if name.ctx.is_load() && !self.is_in_settings => {
                self.read.insert(name.id.as_str());
            }
            _ => walk_expr(self, expression),
        }
        self.is_in_settings = outer;
    }
}

/// The last part of a name: `Ridge` of `linear_model.Ridge`.
fn name(expression: &Expr) -> &str {
    match expression {
        Expr::Name(name) => name.id.as_str(),
        Expr::Attribute(of) => of.attr.as_str(),
        _ => "",
    }
}

/// Whether something of such a name is called with such values.
fn is_call(expression: &Expr, is_named: impl Fn(&str) -> bool, is_plain: impl Fn(&Expr) -> bool) -> bool {
    expression.as_call_expr().is_some_and(|call| {
        let named = call.arguments.keywords.iter().map(|keyword| &keyword.value);
        is_named(name(&call.func)) && call.arguments.args.iter().chain(named).all(is_plain)
    })
}

/// Whether a new model is made of constants and variables.
fn is_model(expression: &Expr) -> bool {
    let is_plain = |value: &Expr| is_constant(value) || value.is_name_expr() || value.is_attribute_expr();
    is_call(expression, |name| MODELS.iter().any(|end| name.ends_with(end)), is_plain)
}

/// Whether it is a `range` of constants and variables.
fn is_count(expression: &Expr) -> bool {
    is_call(expression, |name| name == "range", |value| is_constant(value) || value.is_name_expr())
}

fn is_constant(expression: &Expr) -> bool {
    match expression {
        Expr::UnaryOp(of) => is_constant(&of.operand),
        Expr::Tuple(of) => of.elts.iter().all(is_constant),
        Expr::List(of) => of.elts.iter().all(is_constant),
        Expr::Dict(of) => of.items.iter().all(|item| item.key.is_some() && is_constant(&item.value)),
        expression => expression.is_literal_expr(),
    }
}

/// Whether it prints texts and variables, and not the score of the script.
fn is_print(expression: &Expr) -> bool {
    let is_plain = |value: &Expr| match value {
        Expr::StringLiteral(text) => !text.value.to_str().contains(LABEL),
        value => is_constant(value) || value.is_name_expr(),
    };
    is_call(expression, |name| name == "print", is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCRIPT: &str = "\
import lightgbm as lgb
params = {'learning_rate': 0.05, 'objective': 'poisson'}
seeds, lag, columns = 3, 28, ['a', 'b']
sales['before'] = sales['sold'].shift(lag)
for seed in range(seeds):
    model = lgb.LGBMRegressor(
        n_estimators=200,
        random_state=seed, **params)
    model.fit(train[columns], y)
    print('seed', seed)
print(f'Final Validation Performance: {score}')
";

    #[test]
    fn settings_of_models_do_not_leak() {
        let check = |line: usize, found: &[RangeInclusive<usize>]| {
            assert_eq!(may_leak(SCRIPT, &[line..=line]), found, "{line}");
        };
        for line in [1, 2, 5, 6, 7, 8, 10] {
            check(line, &[]);
        }
        for line in [3, 4, 9, 11] {
            check(line, &[line..=line]);
        }
        // A number that is no setting of a model.
        let script = SCRIPT.replace("seeds, lag, columns = 3, 28, ['a', 'b']", "lag = 28");
        assert_eq!(may_leak(&script, &[3..=3]), [3..=3]);
        assert_eq!(may_leak("for x in", &[1..=1]), [1..=1]);
    }
}
