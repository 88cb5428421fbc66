//! Paths of files of which only a part is known.

use crate::calls::Arguments;
use crate::effects::File;
use crate::machine::Machine;
use crate::value::{Text, Value};

impl Machine<'_> {
    /// A text of which nothing is known but this part of it, if any.
    pub(crate) fn some_text(&self, known: &str) -> Value {
        let mut text = Text::default();
        text.add(Value::Unknown);
        if !known.is_empty() {
            text.add(Value::text(known));
            text.add(Value::Unknown);
        }
        text.value()
    }

    /// The names of files: `os.listdir(folder)`, `glob.glob(pattern)`, `folder.rglob(pattern)` and the like.
    pub(crate) fn file_names(&mut self, files: File, folder: &Value, arguments: &Arguments) -> Value {
        let mut known = Text::default();
        if files == File::Matching {
            for part in std::iter::once(folder).chain(arguments.positional.first()) {
                known.add(part.clone());
                known.add(Value::text("/"));
            }
        }
        let one = self.some_text(known.fixed.trim_end_matches('/'));
        self.open_list(vec![one])
    }
}
