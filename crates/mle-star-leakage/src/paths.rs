//! Paths of files, also those of which only a part is known.

use ruff_python_ast::{BoolOp, CmpOp, Expr};

use crate::calls::Arguments;
use crate::effects::File;
use crate::machine::Machine;
use crate::value::{Text, Value};

impl<'a> Machine<'a> {
    /// A text of which nothing is known but these parts of it.
    pub(crate) fn some_text(&self, known: &[&str]) -> Value {
        let mut text = Text::default();
        text.add(Value::Unknown);
        for part in known {
            text.add(Value::text(part));
            text.add(Value::Unknown);
        }
        text.value()
    }

    /// The names of files: `os.listdir(folder)`, `glob.glob(pattern)`, `folder.rglob(pattern)` and the like.
    pub(crate) fn file_names(&mut self, files: File, folder: &Value, arguments: &Arguments) -> Value {
        if files == File::Below {
            let (folder, name) = (self.some_text(&[]), self.some_text(&[]));
            let folders = self.open_list(vec![folder.clone()]);
            let names = self.open_list(vec![name]);
            return self.open_list(vec![Value::Tuple([folder, folders, names].into())]);
        }
        let pattern = files == File::Matching;
        let mut text = Text::default();
        for part in std::iter::once(folder).chain(arguments.positional.first()).filter(|_| pattern) {
            text.add(part.clone());
            text.add(Value::text("/"));
        }
        // The pattern is no name, so the text is not known.
        let known = text.fixed.trim_end_matches('/').to_owned();
        let one = if pattern { self.some_text(&[&known]) } else { self.some_text(&[]) };
        self.open_list(vec![one])
    }

    /// Remembers what a condition says about the name of a file: `"train" in name`, `name.startswith("train")`.
    pub(crate) fn hint(&mut self, test: &'a Expr) {
        match test {
            Expr::BoolOp(operation) if operation.op == BoolOp::And => {
                operation.values.iter().for_each(|value| self.hint(value));
            }
            Expr::Compare(compare) if compare.ops.len() == 1 && compare.ops[0] == CmpOp::In => {
                if let (Expr::StringLiteral(part), Some(name)) =
                    (&*compare.left, name_in(&compare.comparators[0]))
                {
                    self.hint_name(name, part.value.to_str());
                }
            }
            Expr::Call(call) => {
                if let (Expr::Attribute(method), Some(Expr::StringLiteral(part))) =
                    (&*call.func, call.arguments.args.first())
                    && matches!(method.attr.as_str(), "startswith" | "endswith" | "match")
                    && let Some(name) = name_in(&method.value)
                {
                    self.hint_name(name, part.value.to_str());
                }
            }
            _ => {}
        }
    }

    fn hint_name(&mut self, name: &'a str, part: &str) {
        if let Some(Value::Text(text)) = self.state.variable(self.scope, name) {
            let mut text = (**text).clone();
            text.add(Value::text(part));
            text.add(Value::Unknown);
            self.state.set(self.scope, name, text.value());
        }
    }
}

/// The name in `name`, `name.lower()`, `str(name)` or `name.name`.
fn name_in(expression: &Expr) -> Option<&str> {
    match expression {
        Expr::Name(name) => Some(name.id.as_str()),
        Expr::Attribute(attribute) => name_in(&attribute.value),
        Expr::Call(call) => match (&*call.func, call.arguments.args.first()) {
            (Expr::Name(_), Some(argument)) => name_in(argument),
            (Expr::Attribute(method), None) => name_in(&method.value),
            (Expr::Attribute(method), Some(argument)) if method.attr.as_str() == "basename" => {
                name_in(argument)
            }
            _ => None,
        },
        _ => None,
    }
}
