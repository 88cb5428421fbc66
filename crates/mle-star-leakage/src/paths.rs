//! Paths of files, also those of which only a part is known.

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
}
