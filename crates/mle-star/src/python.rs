//! Static checks of Python scripts: whether a text is code, ends its own process, or hides errors.

use ruff_python_ast::visitor::{Visitor, walk_expr};
use ruff_python_ast::{ExceptHandler, Expr, Stmt};
use ruff_python_parser::parse_module;
use ruff_text_size::Ranged as _;

/// Whether the text parses as Python and does something. Bare words and strings do not count, because a sentence
/// of prose can parse.
pub fn is_code(text: &str) -> bool {
    let Ok(parsed) = parse_module(&dedent(text)) else { return false };
    parsed.suite().iter().any(|statement| match statement {
        Stmt::Expr(expression) => {
            matches!(*expression.value, Expr::Call(_) | Expr::Await(_) | Expr::Yield(_))
        }
        Stmt::AnnAssign(assignment) => assignment.value.is_some(),
        _ => true,
    })
}

/// The first call that would end the script's own process: `exit`, `quit`, `sys.exit` or `os._exit`.
///
/// The search goes through the syntax tree, so names in strings and methods such as `parser.exit` pass, and a script that does not
/// parse, which fails when it runs.
pub fn exit_call(text: &str) -> Option<&'static str> {
    let parsed = parse_module(text).ok()?;
    let mut search = ExitSearch(None);
    search.visit_body(parsed.suite());
    search.0
}

/// Places where a script hides its own errors, one sentence each. This is advice; the script still runs.
pub fn hidden_errors(text: &str) -> Vec<&'static str> {
    let Ok(parsed) = parse_module(text) else { return Vec::new() };
    let mut search = HiddenErrors::default();
    search.visit_body(parsed.suite());
    search.0
}

/// For each line of a script, whether a statement at its top level may begin there: it belongs to none that began before. A
/// script that does not parse is one statement.
pub fn open_lines(script: &str) -> Vec<bool> {
    let mut open = vec![true; script.lines().count()];
    let Ok(parsed) = parse_module(script) else {
        open.iter_mut().skip(1).for_each(|line| *line = false);
        return open;
    };
    let line_at = |at: usize| script.bytes().take(at).filter(|byte| *byte == b'\n').count();
    for statement in parsed.suite() {
        let (first, last) = (line_at(statement.start().to_usize()), line_at(statement.end().to_usize()));
        open.iter_mut().take(last + 1).skip(first + 1).for_each(|line| *line = false);
    }
    open
}

#[derive(Default)]
struct HiddenErrors(Vec<&'static str>);

impl Visitor<'_> for HiddenErrors {
    fn visit_except_handler(&mut self, handler: &ExceptHandler) {
        let ExceptHandler::ExceptHandler(handler) = handler;
        let named = handler.type_.as_deref().and_then(Expr::as_name_expr).map(|name| name.id.as_str());
        let silent = handler.body.iter().all(Stmt::is_pass_stmt);
        match (handler.type_.is_none(), named) {
            (true, _) => self.0.push("a bare `except:` hides every error"),
            (false, Some("Exception" | "BaseException")) if silent => {
                self.0.push("an `except` clause for every exception does nothing but `pass`");
            }
            _ => {}
        }
        self.visit_body(&handler.body);
    }
}

struct ExitSearch(Option<&'static str>);

impl Visitor<'_> for ExitSearch {
    fn visit_expr(&mut self, expression: &Expr) {
        if let Expr::Call(call) = expression {
            self.0 = self.0.or(exit_name(&call.func));
        }
        walk_expr(self, expression);
    }
}

fn exit_name(function: &Expr) -> Option<&'static str> {
    match function {
        Expr::Name(name) => ["exit", "quit"].into_iter().find(|exit| name.id.as_str() == *exit),
        Expr::Attribute(of) => match (of.value.as_name_expr()?.id.as_str(), of.attr.as_str()) {
            ("sys", "exit") => Some("sys.exit"),
            ("os", "_exit") => Some("os._exit"),
            _ => None,
        },
        _ => None,
    }
}

/// Removes the common indentation of all lines.
fn dedent(text: &str) -> String {
    let indent = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let common = text.lines().filter(|line| !line.trim().is_empty()).map(indent).min().unwrap_or(0);
    text.lines().map(|line| line.get(common..).unwrap_or("")).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_errors_are_pointed_out() {
        let check = |text: &str, count: usize| assert_eq!(hidden_errors(text).len(), count, "{text:?}");
        check("try:\n    f()\nexcept:\n    x = 1", 1);
        check("try:\n    f()\nexcept Exception:\n    pass", 1);
        check("def g():\n    try:\n        f()\n    except BaseException as e: pass", 1);
        check("try:\n    f()\nexcept:\n    try:\n        g()\n    except:\n        pass", 2);
        check("try:\n    f()\nexcept KeyError:\n    pass", 0);
        check("try:\n    f()\nexcept Exception:\n    print('failed')\n    raise", 0);
        check("# except:\nx = 'except: pass'", 0);
    }

    #[test]
    fn calls_that_end_the_process_are_found_in_the_tree() {
        let check = |text: &str, expected: Option<&str>| assert_eq!(exit_call(text), expected, "{text:?}");
        check("exit()", Some("exit"));
        check("if x:\n    quit(1)", Some("quit"));
        check("import sys\nsys.exit(0)", Some("sys.exit"));
        check("def f():\n    os._exit(1)", Some("os._exit"));
        check("# exit()\nparser.exit(2)\nprint('exit()')", None);
        check("x = [exit(1) for _ in y]", Some("exit"));
        check("x = = 1\nsys.exit(0)", None);
    }
}
