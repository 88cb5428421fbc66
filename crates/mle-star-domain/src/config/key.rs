//! What is known of a key beside its type and its default.

use serde_json::Value;

use super::{AgentsChoice, Config};

/// Declares a struct of keys as a table: each row is `name: type = default`, then what [`Key`] knows of it.
///
/// The rows become the fields of the struct, its `Default`, and the constant `KEYS`.
#[macro_export]
macro_rules! keys {
    (
        $(#[$attribute:meta])*
        pub struct $table:ident {
            $( $(#[doc = $doc:literal])+ $name:ident $(as $key:literal or $alias:literal)?: $type:ty = $default:expr
               $(, $fact:ident($($value:expr),*))*; )+
            $(+ $(#[doc = $part_doc:literal])+ $part:ident: $part_type:ty;)?
        }
    ) => {
        $(#[$attribute])*
        pub struct $table {
            $( $(#[doc = $doc])+ $(#[serde(rename = $key, alias = $alias)])? pub $name: $type, )+
            $($(#[doc = $part_doc])+ #[serde(flatten)] pub $part: $part_type,)?
        }

        impl Default for $table {
            fn default() -> Self {
                Self { $( $name: $default, )+ $( $part: Default::default(), )? }
            }
        }

        impl $table {
            /// These values, and those of `other` where they are the default.
            #[must_use]
            pub fn or(self, other: Self) -> Self {
                let default = Self::default();
                Self {
                    $( $name: if self.$name == default.$name { other.$name } else { self.$name }, )+
                    $( $part: self.$part.or(other.$part), )?
                }
            }

            /// A row for each field.
            pub const KEYS: &'static [$crate::config::Key] = &[
                $( $crate::config::Key::new([$($key,)? stringify!($name)][0])$(.$fact($($value),*))*, )+
            ];
        }
    };
}

/// A configuration key. One inside another has both names: `openai.url`.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// Its name as an option and in a config file, where it is another than in a task file.
    pub option: Option<&'static str>,
    /// The letter of its short option.
    pub short: Option<char>,
    /// What stands for its value in the help, if it has an option of its own.
    pub placeholder: &'static str,
    /// What its option does.
    pub help: &'static str,
    /// How its value is written.
    pub form: Form,
    /// The environment variable that sets it.
    pub variable: Option<&'static str>,
    /// The agents that use it; `None`: all.
    pub agents: Option<&'static [AgentsChoice]>,
    /// Its value in the preset of the paper, if that is not the default.
    pub paper: Option<&'static str>,
    /// Whether a resume may raise it.
    pub is_raisable: bool,
    least: u64,
    most: u64,
    words: &'static [&'static str],
    rule: Option<Rule>,
}

/// A rule for a value that is more than a range.
#[derive(Clone, Copy, Debug)]
struct Rule {
    holds: fn(&Config) -> bool,
    words: &'static str,
}

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As in a YAML file: a number, a list, a table.
    Plain,
    /// As a text, even if it looks like a number.
    Text,
    /// As a path. One in a config file is relative to its folder.
    Path,
    /// As a path, or the name of a program on PATH.
    Command,
    /// `on` or `off`, or a boolean.
    Switch,
    /// As a table with names of the user's, which may hold dots.
    Names,
    /// As names with commas between them, or as a list.
    List,
}

/// A value outside its range.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field} must be {constraint}")]
pub struct OutOfRange {
    /// The key.
    pub field: &'static str,
    /// The valid range.
    pub constraint: String,
}

impl Key {
    /// A key of which nothing else is known.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self {
            name,
            option: None,
            short: None,
            placeholder: "",
            help: "",
            form: Form::Plain,
            variable: None,
            agents: None,
            paper: None,
            is_raisable: false,
            least: 0,
            most: u64::MAX,
            words: &[],
            rule: None,
        }
    }

    /// It has an option of its own, with this placeholder for its value and this help.
    #[must_use]
    pub const fn option(self, placeholder: &'static str, help: &'static str) -> Self {
        Self { placeholder, help, ..self }
    }

    /// As an option and in a config file it has this name, and as an option this letter.
    #[must_use]
    pub const fn named(self, name: &'static str, short: Option<char>) -> Self {
        Self { option: Some(name), short, ..self }
    }

    /// Its value is a list of names: of columns, for example.
    #[must_use]
    pub const fn list(self) -> Self {
        Self { form: Form::List, ..self }
    }

    /// Its name as an option and in a config file.
    pub fn option_name(&self) -> &'static str {
        self.option.unwrap_or(self.name)
    }

    /// Its value is a text.
    #[must_use]
    pub const fn text(self) -> Self {
        Self { form: Form::Text, ..self }
    }

    /// Its value is a path.
    #[must_use]
    pub const fn path(self) -> Self {
        Self { form: Form::Path, ..self }
    }

    /// Its value is a program.
    #[must_use]
    pub const fn command(self) -> Self {
        Self { form: Form::Command, ..self }
    }

    /// Its value is `on` or `off`.
    #[must_use]
    pub const fn switch(self) -> Self {
        Self { form: Form::Switch, ..self }
    }

    /// Its value is a table whose names the user chooses.
    #[must_use]
    pub const fn names(self) -> Self {
        Self { form: Form::Names, ..self }
    }

    /// An environment variable sets it.
    #[must_use]
    pub const fn variable(self, name: &'static str) -> Self {
        Self { variable: Some(name), ..self }
    }

    /// Only these agents use it.
    #[must_use]
    pub const fn only(self, agents: &'static [AgentsChoice]) -> Self {
        Self { agents: Some(agents), ..self }
    }

    /// The preset of the paper gives it this value.
    #[must_use]
    pub const fn paper(self, value: &'static str) -> Self {
        Self { paper: Some(value), ..self }
    }

    /// A resume may raise it.
    #[must_use]
    pub const fn raisable(self) -> Self {
        Self { is_raisable: true, ..self }
    }

    /// Its least value. Only whole numbers are checked; others need `must(...)`.
    #[must_use]
    pub const fn at_least(self, least: u64) -> Self {
        Self { least, ..self }
    }

    /// Its greatest value. Only whole numbers are checked; others need `must(...)`.
    #[must_use]
    pub const fn at_most(self, most: u64) -> Self {
        Self { most, ..self }
    }

    /// Its value is one of these words.
    #[must_use]
    pub const fn one_of(self, words: &'static [&'static str]) -> Self {
        Self { words, ..self }
    }

    /// A rule for its value, and the rule in words.
    #[must_use]
    pub const fn must(self, holds: fn(&Config) -> bool, words: &'static str) -> Self {
        Self { rule: Some(Rule { holds, words }), ..self }
    }

    /// Whether these agents use it.
    pub fn is_for(&self, agents: AgentsChoice) -> bool {
        self.agents.is_none_or(|known| known.contains(&agents))
    }

    /// Checks its range in `config`, whose values are also given as JSON.
    pub(super) fn check(&self, config: &Config, values: &Value) -> Result<(), OutOfRange> {
        let value = self.name.split('.').fold(values, |value, name| &value[name]);
        let wrong = |constraint: String| Err(OutOfRange { field: self.name, constraint });
        match (value.as_u64(), value.as_str()) {
            (Some(number), _) if number < self.least => wrong(format!("at least {}", self.least)),
            (Some(number), _) if number > self.most => wrong(format!("at most {}", in_words(self.most))),
            (_, Some(word)) if !self.words.is_empty() && !self.words.contains(&word) => {
                wrong(listed(self.words))
            }
            _ => match self.rule.filter(|rule| !(rule.holds)(config)) {
                Some(rule) => wrong(rule.words.to_owned()),
                None => Ok(()),
            },
        }
    }
}

/// A number, or seconds that are easier to read as years.
fn in_words(most: u64) -> String {
    if most == super::TEN_YEARS { "ten years".to_owned() } else { most.to_string() }
}

/// `A, B or C`.
fn listed(words: &[&str]) -> String {
    match words {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        _ => words.concat(),
    }
}
