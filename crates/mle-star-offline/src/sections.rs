//! Scripts as sections below comment headings, which can be parsed, edited and written back.
//!
//! A section begins with a line `# === Heading ===` in the first column. [`Script::parse`] accepts any
//! script with the required sections, including edited ones.

use crate::families::ScriptModel;
use crate::templates::{TemplateError, render};

/// A script in sections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Script {
    /// The text before the first heading, which is the docstring.
    pub(crate) preamble: String,
    pub(crate) sections: Vec<Section>,
}

/// A heading with its code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Section {
    /// The heading, for example `Model: LightGBM`.
    pub(crate) heading: String,
    /// The section with its heading line, without blank lines at its end.
    pub(crate) text: String,
}

/// The required sections.
const REQUIRED: [&str; 7] =
    ["Data", "Folds", "Metric", "Cross-validation", "Training", "Postprocessing", "Validation"];

impl Script {
    /// Parses a script; `None` if a required section is missing.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let script = Self::split(text);
        let complete = REQUIRED.iter().all(|heading| script.section(heading).is_some());
        (complete && !script.members().is_empty()).then_some(script)
    }

    /// Splits any text at its headings.
    pub(crate) fn split(text: &str) -> Self {
        let mut script = Self { preamble: String::new(), sections: Vec::new() };
        for line in text.lines() {
            match (heading(line), script.sections.last_mut()) {
                (Some(heading), _) => {
                    script.sections.push(Section { heading: heading.to_owned(), text: format!("{line}\n") });
                }
                (None, Some(section)) => section.text.extend([line, "\n"]),
                (None, None) => script.preamble.extend([line, "\n"]),
            }
        }
        script.preamble = script.preamble.trim_end().to_owned();
        for section in &mut script.sections {
            section.text.truncate(section.text.trim_end().len());
        }
        script
    }

    /// The script as text.
    pub(crate) fn text(&self) -> String {
        let parts =
            std::iter::once(self.preamble.as_str()).chain(self.sections.iter().map(|s| s.text.as_str()));
        let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
        format!("{}\n", parts.join("\n\n\n"))
    }

    /// The section with this heading.
    pub(crate) fn section(&self, heading: &str) -> Option<&Section> {
        self.sections.iter().find(|section| section.heading == heading)
    }

    /// Replaces the text of a section, if there is one with this heading.
    pub(crate) fn replace(&mut self, heading: &str, text: String) {
        if let Some(section) = self.sections.iter_mut().find(|section| section.heading == heading) {
            section.text = text;
        }
    }

    /// Removes the section with this heading.
    pub(crate) fn remove(&mut self, heading: &str) {
        self.sections.retain(|section| section.heading != heading);
    }

    /// The models, in the script's order.
    pub(crate) fn members(&self) -> Vec<ScriptModel> {
        self.sections
            .iter()
            .filter_map(|section| {
                let title = section.heading.strip_prefix("Model: ")?.to_owned();
                let at = section.text.find("def fit_")? + "def fit_".len();
                let slug = section.text[at..].split('(').next()?.to_owned();
                let has_history = self.section(&format!("History: {title}")).is_some();
                Some(ScriptModel::new(title, slug, has_history))
            })
            .collect()
    }

    /// The sections of one model.
    pub(crate) fn sections_of<'a>(&'a self, member: &ScriptModel) -> impl Iterator<Item = &'a Section> {
        let suffix = format!(": {}", member.title);
        self.sections.iter().filter(move |section| section.heading.ends_with(&suffix))
    }
}

impl Section {
    /// A section from its text, which begins with the heading line.
    pub(crate) fn new(text: String) -> Self {
        let heading = text.lines().next().and_then(heading).unwrap_or_default().to_owned();
        Self { heading, text }
    }

    /// The heading before the colon: `Model` for `Model: LightGBM`.
    pub(crate) fn kind(&self) -> &str {
        kind(&self.heading)
    }
}

/// The heading in a line, if the line is one.
pub(crate) fn heading(line: &str) -> Option<&str> {
    line.trim_end().strip_prefix("# === ")?.strip_suffix(" ===")
}

/// The part of a heading before the colon.
pub(crate) fn kind(heading: &str) -> &str {
    heading.split_once(": ").map_or(heading, |(kind, _)| kind)
}

/// The target's scale: `plain` or `log`.
///
/// # Errors
/// A template is broken.
pub(crate) fn target(scale: &str) -> Result<Section, TemplateError> {
    render("target", &serde_json::json!({ "scale": scale })).map(Section::new)
}
