//! Where in the algorithm something happens.
//!
//! A [`Place`] is a path of names such as `phase2/path-0/t1/k2/coder`. Every agent call and every script
//! run has exactly one; it is unique in its run and the same after a resume. The journal, the logs, the
//! saved solutions and the reports are all keyed by it.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A path of names in the algorithm, for example `phase1/candidate-0/init`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Place(String);

/// The four stages of a run, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Algorithm 1: retrieve, generate, merge.
    Phase1,
    /// Algorithm 2: ablate and refine, on each path.
    Phase2,
    /// Algorithm 3: ensemble.
    Phase3,
    /// Subsampling removed, submission script written, run and checked.
    Finalization,
}

impl Place {
    /// The empty path, above all phases.
    pub fn root() -> Self {
        Self::default()
    }

    /// This place with one more name, or several joined by `/`, at its end.
    #[must_use]
    pub fn join(&self, name: impl fmt::Display) -> Self {
        if self.0.is_empty() { Self(name.to_string()) } else { Self(format!("{}/{name}", self.0)) }
    }

    /// The path as text, names joined by `/`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The names of the path, first to last.
    pub fn names(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('/').filter(|name| !name.is_empty())
    }

    /// The last name, empty for the root.
    pub fn last(&self) -> &str {
        self.names().next_back().unwrap_or_default()
    }

    /// The place one name up.
    #[must_use]
    pub fn parent(&self) -> Self {
        Self(self.0.rsplit_once('/').map_or(String::new(), |(parent, _)| parent.to_owned()))
    }

    /// The phase this place belongs to; `None` for the root.
    pub fn phase(&self) -> Option<Phase> {
        Phase::ALL.into_iter().find(|phase| self.names().next() == Some(phase.name()))
    }

    /// The refinement path, counted from 0, for a place of Phase 2.
    pub fn path(&self) -> Option<usize> {
        let mut names = self.names();
        (names.next() == Some(Phase::Phase2.name())).then_some(())?;
        names.next()?.strip_prefix("path-")?.parse().ok()
    }

    /// The label that groups agent calls: `phase1`, `path-0`, …, `phase3`, `finalization`.
    pub fn session(&self) -> String {
        match (self.path(), self.names().next()) {
            (Some(path), _) => format!("path-{path}"),
            (None, Some(phase)) => phase.to_owned(),
            (None, None) => String::new(),
        }
    }

    /// The place as a file stem: `/` becomes `.`.
    pub fn file_stem(&self) -> String {
        self.0.replace('/', ".")
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&str> for Place {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl Phase {
    /// All phases in order.
    pub const ALL: [Self; 4] = [Self::Phase1, Self::Phase2, Self::Phase3, Self::Finalization];

    /// The name used in places and records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Phase1 => "phase1",
            Self::Phase2 => "phase2",
            Self::Phase3 => "phase3",
            Self::Finalization => "finalization",
        }
    }

    /// The name shown to people.
    pub fn title(self) -> &'static str {
        match self {
            Self::Phase1 => "initial solution",
            Self::Phase2 => "refinement",
            Self::Phase3 => "ensemble",
            Self::Finalization => "finalization",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_know_phase_path_and_session() {
        let check = |text: &str, phase, path, session: &str| {
            let place = Place::from(text);
            assert_eq!(
                (place.phase(), place.path(), place.session().as_str()),
                (phase, path, session),
                "{text}"
            );
        };
        check("phase1/candidate-0/init", Some(Phase::Phase1), None, "phase1");
        check("phase2/path-3/t0/k1/coder", Some(Phase::Phase2), Some(3), "path-3");
        check("phase3/r0/run", Some(Phase::Phase3), None, "phase3");
        check("finalization/test", Some(Phase::Finalization), None, "finalization");
        check("", None, None, "");
        assert_eq!(Place::root().join("phase1").join("merge-1").file_stem(), "phase1.merge-1");
        assert_eq!(Place::from("a/b/c").parent(), Place::from("a/b"));
    }
}
