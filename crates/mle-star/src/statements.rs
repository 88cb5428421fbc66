//! The statements of a script, and which of them have to do with given ones: those that use what these define, and those that
//! define what these use.

use std::collections::BTreeSet;
use std::ops::{Range, RangeInclusive};

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, ExprContext, Stmt};
use ruff_python_parser::parse_module;
use ruff_text_size::Ranged;

/// The shortest gap that is left out, in lines.
const SHORTEST_GAP: usize = 3;

/// Shows the statements that use what `given` ones define or define what these use, and then the headers that all shown lines
/// stand below.
pub(crate) fn show_related(shown: &mut [bool], given: &[&Statement], statements: &[Statement]) {
    let defined: BTreeSet<&String> = given.iter().flat_map(|statement| &statement.defined).collect();
    let used: BTreeSet<&String> = given.iter().flat_map(|statement| &statement.used).collect();
    let is_related = |statement: &&Statement| {
        statement.used.iter().any(|name| defined.contains(name))
            || (!statement.is_import && statement.defined.iter().any(|name| used.contains(name)))
    };
    let all: Vec<&Statement> = statements.iter().filter(is_related).collect();
    all.into_iter().for_each(|statement| show(shown, statement));
    // What is shown in part is shown whole. Headers come before what stands below them.
    for statement in statements.iter().rev() {
        if statement.is_in(shown) {
            show(shown, statement);
            statement.below.into_iter().for_each(|above| show(shown, &statements[above]));
        }
    }
    close_gaps(shown);
}

/// Shows the import statements.
pub(crate) fn show_imports(shown: &mut [bool], statements: &[Statement]) {
    statements.iter().filter(|statement| statement.is_import).for_each(|statement| show(shown, statement));
}

fn show(shown: &mut [bool], statement: &Statement) {
    statement.lines.clone().for_each(|line| shown[line] = true);
}

/// The lines that are shown, in their order; a comment with their number and `what` they are takes the place of others.
pub(crate) fn with_marks(lines: &[&str], shown: &[bool], what: impl Fn(Range<usize>) -> String) -> String {
    let (mut told, mut at) = (Vec::new(), 0);
    for run in shown.chunk_by(|one, two| one == two) {
        let end = at + run.len();
        if run[0] {
            told.extend(lines[at..end].iter().map(|line| (*line).to_owned()));
        } else {
            told.push(format!("# [… {} {} …]", run.len(), what(at..end)));
        }
        at = end;
    }
    told.join("\n")
}

/// Shows gaps that are hardly longer than the comment in their place.
fn close_gaps(shown: &mut [bool]) {
    let mut at = 0;
    let runs: Vec<(usize, usize, bool)> = shown
        .chunk_by(|one, two| one == two)
        .map(|run| {
            at += run.len();
            (at - run.len(), at, run[0])
        })
        .collect();
    for (from, to, _) in runs.into_iter().filter(|(from, to, is_shown)| !is_shown && to - from < SHORTEST_GAP)
    {
        shown[from..to].fill(true);
    }
}

/// A statement of a script; of one with a body, its header.
pub(crate) struct Statement {
    /// Its lines, from 0.
    lines: RangeInclusive<usize>,
    /// The number of the statement in whose body it stands.
    below: Option<usize>,
    is_import: bool,
    /// The names that it defines or changes, and those that it uses.
    defined: BTreeSet<String>,
    used: BTreeSet<String>,
}

/// The statements of a script, those of bodies after their headers; `None` if it does not parse.
pub(crate) fn statements(text: &str) -> Option<Vec<Statement>> {
    let parsed = parse_module(text).ok()?;
    let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
    let mut search = Statements { starts, found: Vec::new(), below: None };
    search.visit_body(parsed.suite());
    Some(search.found)
}

impl Statement {
    /// Whether it stands in one of these lines.
    pub fn is_in(&self, lines: &[bool]) -> bool {
        self.lines.clone().any(|line| lines.get(line).copied().unwrap_or_default())
    }

    /// The names that it defines or changes, if it begins in these lines.
    pub fn defined_in(&self, lines: &Range<usize>) -> impl Iterator<Item = &str> {
        self.defined.iter().map(String::as_str).filter(|_| lines.contains(self.lines.start()))
    }
}

struct Statements {
    /// Where lines start, in bytes.
    starts: Vec<usize>,
    found: Vec<Statement>,
    below: Option<usize>,
}

impl Statements {
    fn line(&self, at: usize) -> usize {
        self.starts.partition_point(|start| *start <= at).saturating_sub(1)
    }
}

impl<'a> Visitor<'a> for Statements {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        let (range, index) = (statement.range(), self.found.len());
        let first = self.line(range.start().to_usize());
        let last = self.line(range.end().to_usize().saturating_sub(1)).max(first);
        let Names { defined, used } = Names::of(statement);
        let is_import = matches!(statement, Stmt::Import(_) | Stmt::ImportFrom(_));
        self.found.push(Statement { lines: first..=last, below: self.below, is_import, defined, used });
        let above = self.below.replace(index);
        walk_stmt(self, statement);
        self.below = above;
        if let Some(inner) = self.found.get(index + 1) {
            let end = inner.lines.start().saturating_sub(1).max(first);
            self.found[index].lines = first..=end;
        }
    }

    fn visit_expr(&mut self, _: &'a Expr) {}
}

/// The names of a statement without its body.
#[derive(Default)]
struct Names {
    defined: BTreeSet<String>,
    used: BTreeSet<String>,
}

impl Names {
    fn of(statement: &Stmt) -> Self {
        let mut names = Self::default();
        walk_stmt(&mut names, statement);
        let defined: Vec<&str> = match statement {
            Stmt::FunctionDef(one) => vec![one.name.as_str()],
            Stmt::ClassDef(one) => vec![one.name.as_str()],
            Stmt::Import(one) => {
                one.names.iter().map(|alias| alias.asname.as_ref().unwrap_or(&alias.name).as_str()).collect()
            }
            Stmt::ImportFrom(one) => {
                one.names.iter().map(|alias| alias.asname.as_ref().unwrap_or(&alias.name).as_str()).collect()
            }
            // A method can change what it is called on.
            Stmt::Expr(one) => match &*one.value {
                Expr::Call(call) => base(&call.func).into_iter().collect(),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        };
        names.defined.extend(defined.into_iter().map(str::to_owned));
        names
    }
}

impl<'a> Visitor<'a> for Names {
    fn visit_body(&mut self, _: &'a [Stmt]) {}

    fn visit_expr(&mut self, expression: &'a Expr) {
        match expression {
            Expr::Name(name) if name.ctx == ExprContext::Load => {
                self.used.insert(name.id.to_string());
            }
            Expr::Name(name) => {
                self.defined.insert(name.id.to_string());
            }
            // `x["a"] = 1` and `x.a = 1` change `x`, and use nothing of it.
            Expr::Subscript(one) if one.ctx != ExprContext::Load => {
                self.defined.extend(base(expression).map(str::to_owned));
                return self.visit_expr(&one.slice);
            }
            Expr::Attribute(one) if one.ctx != ExprContext::Load => {
                self.defined.extend(base(expression).map(str::to_owned));
                return;
            }
            _ => {}
        }
        walk_expr(self, expression);
    }
}

/// The name at the beginning of `x.a`, `x["a"].b` and the like; none of a name alone.
fn base(expression: &Expr) -> Option<&str> {
    let inner = match expression {
        Expr::Attribute(one) => &one.value,
        Expr::Subscript(one) => &one.value,
        Expr::Call(one) => &one.func,
        _ => return None,
    };
    match &**inner {
        Expr::Name(name) => Some(name.id.as_str()),
        inner => base(inner),
    }
}
