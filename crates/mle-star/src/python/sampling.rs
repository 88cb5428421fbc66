//! Whether a script may leave training rows out.

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{CmpOp, Expr, ExprCall, ExprSlice, Keyword, Number, Stmt, UnaryOp};
use ruff_python_parser::parse_module;

/// Functions and methods that return some of the rows.
const DRAW: [&str; 11] = [
    "sample",
    "resample",
    "choice",
    "choices",
    "nlargest",
    "nsmallest",
    "tail",
    "head",
    "query",
    "islice",
    "get_chunk",
];
/// Functions that draw whole numbers: in brackets, they are rows.
const POSITIONS: [&str; 2] = ["randint", "integers"];
/// Functions that draw numbers: compared with a share, they choose rows.
const RANDOM: [&str; 5] = ["rand", "random", "random_sample", "uniform", "binomial"];
/// Arguments that leave rows out.
const PARTS: [&str; 4] = ["nrows", "n_rows", "skiprows", "train_size"];
/// Parts of names that tell of samples.
const NAMES: [&str; 7] =
    ["subsampl", "downsampl", "undersampl", "sample_size", "n_sample", "max_rows", "max_train"];
/// Fewer rows or columns are shown, not used.
const FEW: u64 = 1_000;

/// Whether this script may leave training rows out: it draws rows in one of the usual ways, or does not parse. Parameters of
/// models, folds and columns are no sample. `limit` is the number of rows that scripts may be asked to draw; if rows are
/// `later`, those before a time may be left out.
pub fn may_sample(text: &str, limit: u32, later: bool) -> bool {
    let Ok(parsed) = parse_module(text) else { return true };
    let mut search = Search { limit: u64::from(limit), later, found: false };
    search.visit_body(parsed.suite());
    search.found
}

struct Search {
    limit: u64,
    later: bool,
    found: bool,
}

impl Visitor<'_> for Search {
    fn visit_stmt(&mut self, statement: &Stmt) {
        // One of the two parts of a split is not used.
        if let Stmt::Assign(assign) = statement {
            let is_left = |target: &Expr| target.as_name_expr().is_some_and(|name| name.id.starts_with('_'));
            let drops =
                assign.targets.iter().filter_map(Expr::as_tuple_expr).any(|all| all.elts.iter().any(is_left));
            let splits =
                assign.value.as_call_expr().is_some_and(|call| called(call) == Some("train_test_split"));
            self.found |= drops && splits;
        }
        walk_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &Expr) {
        self.found |= match expression {
            Expr::Call(call) => draws(call),
            Expr::Name(name) => {
                let name = name.id.to_lowercase();
                NAMES.iter().any(|part| name.contains(part))
            }
            Expr::NumberLiteral(_) => whole(expression) == Some(self.limit),
            Expr::Compare(compare) => {
                let sides = std::iter::once(&*compare.left).chain(&compare.comparators);
                sides.filter_map(Expr::as_call_expr).filter_map(called).any(|name| RANDOM.contains(&name))
            }
            Expr::Subscript(subscript) => self.leaves_rows(&subscript.slice),
            _ => false,
        };
        walk_expr(self, expression);
    }

    fn visit_keyword(&mut self, keyword: &Keyword) {
        self.found |= keyword.arg.as_ref().is_some_and(|name| PARTS.contains(&name.as_str()));
        self.visit_expr(&keyword.value);
    }
}

impl Search {
    /// Whether what is in these brackets may select some of the rows.
    fn leaves_rows(&self, inside: &Expr) -> bool {
        match inside {
            Expr::Slice(slice) => is_long(slice),
            // Rows come first.
            Expr::Tuple(tuple) => tuple.elts.first().is_some_and(|rows| self.leaves_rows(rows)),
            Expr::Call(call) if called(call).is_some_and(|name| POSITIONS.contains(&name)) => true,
            _ => self.later && keeps_later(inside),
        }
    }
}

/// The name of the function or method that is called.
fn called(call: &ExprCall) -> Option<&str> {
    match &*call.func {
        Expr::Name(name) => Some(name.id.as_str()),
        Expr::Attribute(attribute) => Some(attribute.attr.as_str()),
        _ => None,
    }
}

/// Whether a call draws some of the rows.
fn draws(call: &ExprCall) -> bool {
    // Chunks of a file, not those of a pool.
    let reads = called(call).is_some_and(|name| name.starts_with("read_"));
    if reads && call.arguments.find_keyword("chunksize").is_some() {
        return true;
    }
    let Some(name) = called(call).filter(|name| DRAW.contains(name)) else { return false };
    match name {
        // All rows in another order.
        "sample" => {
            let frac = call.arguments.find_keyword("frac").map(|frac| &frac.value);
            !frac.is_some_and(|frac| {
                matches!(number(frac), Some(Number::Float(all)) if *all >= 1.0) || whole(frac) == Some(1)
            })
        }
        "head" | "tail" => call
            .arguments
            .find_argument_value("n", 0)
            .is_some_and(|rows| whole(rows).is_none_or(|rows| rows >= FEW)),
        _ => true,
    }
}

/// Whether a slice has a step, or a bound that may be a number of rows.
fn is_long(slice: &ExprSlice) -> bool {
    let is_bound = |bound: &Expr| {
        let is_length = bound.as_call_expr().is_some_and(|call| called(call) == Some("len"));
        !is_length && whole(bound).is_none_or(|rows| rows >= FEW)
    };
    let steps = slice.step.as_deref().is_some_and(|step| {
        // Backwards.
        let is_back =
            step.as_unary_op_expr().is_some_and(|back| back.op == UnaryOp::USub && whole(step) == Some(1));
        !is_back && whole(step) != Some(1)
    });
    steps || [&slice.lower, &slice.upper].into_iter().flatten().any(|bound| is_bound(bound))
}

/// Whether a condition may keep the later rows only.
fn keeps_later(condition: &Expr) -> bool {
    match condition {
        Expr::Compare(compare) => {
            !compare.ops.iter().all(|op| matches!(op, CmpOp::Eq | CmpOp::NotEq | CmpOp::In | CmpOp::NotIn))
        }
        Expr::BinOp(both) => keeps_later(&both.left) || keeps_later(&both.right),
        Expr::UnaryOp(one) => keeps_later(&one.operand),
        _ => false,
    }
}

/// The size of a whole number as it is written, whatever its sign.
fn whole(expression: &Expr) -> Option<u64> {
    match number(expression)? {
        Number::Int(number) => number.as_u64(),
        _ => None,
    }
}

fn number(expression: &Expr) -> Option<&Number> {
    match expression {
        Expr::NumberLiteral(literal) => Some(&literal.value),
        Expr::UnaryOp(one) if one.op == UnaryOp::USub => number(&one.operand),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_that_sample_nothing_are_known() {
        let check =
            |text: &str, expected: bool| assert_eq!(may_sample(text, 30_000, false), expected, "{text}");
        check("train = train.sample(n=5000, random_state=1)", true);
        check("train = train.sample(frac=0.3)", true);
        check("train = train.sample(frac=1, random_state=1)", false);
        check("train = train.sample(frac=1.0)", false);
        check("train = resample(train, n_samples=100)", true);
        check("rows = rng.choice(len(train), 5000)", true);
        check("train = train[np.random.rand(len(train)) < 0.1]", true);
        check("train = pd.read_csv('train.csv', nrows=5000)", true);
        check("train, _ = train_test_split(train, train_size=0.2)", true);
        check("part, _rest = train_test_split(train)", true);
        check("a, b = train_test_split(train, test_size=0.2)", false);
        check("train = train.iloc[:20000]", true);
        check("train = train[-most:]", true);
        check("train = train[::10]", true);
        check("train = train.tail(20_000)", true);
        check("train = train.head(n=20_000)", true);
        check("print(train.head(n=5))", false);
        check("train = train.iloc[rng.integers(0, len(train), 20_000)]", true);
        check("train = next(pd.read_csv('train.csv', chunksize=20_000))", true);
        check("print(train.head())\nprint(train.head(5))", false);
        check("MOST = 30_000", true);
        check("if len(train) > SUBSAMPLE_LIMIT: pass", true);
        check("train = train.query('day > 3')", true);
        check("x = = 1", true);
        // Parameters of models, columns, folds and classes.
        check("model = LGBMClassifier(subsample=0.8, bagging_fraction=0.5, max_samples=0.5)", false);
        check("params = {'subsample': 0.8}", false);
        check("p = model.predict_proba(x)[:, 1]\nnames = columns[:5]\nback = x[::-1]", false);
        check(
            "valid = train[train.fold == 2]\nrest = train[train.fold != 2]\nlate = train[train.day > 5]",
            false,
        );
        check("x = x[:len(train)]\ny = y[1:]", false);
    }

    #[test]
    fn rows_before_a_time_may_be_left_out() {
        let check =
            |text: &str, expected: bool| assert_eq!(may_sample(text, 30_000, true), expected, "{text}");
        check("train = train[train.day >= start]", true);
        check("train = train.loc[(train.shop == 1) & (train.day > start), columns]", true);
        check("valid = train[train.fold == 2]", false);
    }
}
