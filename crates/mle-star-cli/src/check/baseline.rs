//! Baselines: files of known findings, which are hidden, so that only new ones are shown.
//!
//! A known finding has the same rule and the same code in the same file; its line may be another one.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{self, Path, PathBuf};

use mle_star_domain::trouble::Trouble;
use mle_star_leakage::{Finding, Rule};
use serde::{Deserialize, Serialize};

use super::CheckedFile;

const VERSION: u32 = 1;

/// The findings that are known, and how often each one occurs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Baseline {
    /// The folder that paths of the file start from.
    folder: PathBuf,
    known: BTreeMap<KnownFinding, usize>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct KnownFinding {
    path: String,
    rule: Rule,
    /// The line of code where the cause begins.
    code: String,
}

#[derive(Serialize, Deserialize)]
struct File {
    version: u32,
    findings: Vec<Entry>,
}

#[derive(Serialize, Deserialize)]
struct Entry {
    #[serde(flatten)]
    known: KnownFinding,
    count: usize,
}

impl Baseline {
    /// Reads the file.
    ///
    /// # Errors
    /// It does not exist, cannot be read, or is no baseline of this version.
    pub fn read(path: &Path) -> Result<Self, Trouble> {
        let cannot = |why: &str| {
            Trouble::new(format!("{} is no baseline: {why}", path.display()), "make it with --write-baseline")
        };
        let text = fs::read_to_string(path).map_err(|error| cannot(&error.to_string()))?;
        let file: File = serde_json::from_str(&text).map_err(|error| cannot(&error.to_string()))?;
        if file.version != VERSION {
            return Err(cannot(&format!("it has version {}", file.version)));
        }
        let known = file.findings.into_iter().map(|entry| (entry.known, entry.count)).collect();
        Ok(Self { folder: folder_of(path), known })
    }

    /// The findings, as a baseline in this file knows them.
    pub fn of(all: &[CheckedFile], path: &Path) -> Self {
        let mut baseline = Self { folder: folder_of(path), known: BTreeMap::new() };
        for checked in all {
            let path = baseline.path(&checked.name);
            let Ok(findings) = &checked.outcome else { continue };
            for found in &findings.found {
                *baseline.known.entry(KnownFinding::of(&path, &findings.code.source, found)).or_default() +=
                    1;
            }
        }
        baseline
    }

    /// Writes the file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(self, path: &Path) -> Result<(), Trouble> {
        let findings = self.known.into_iter().map(|(known, count)| Entry { known, count }).collect();
        let text = serde_json::to_string_pretty(&File { version: VERSION, findings });
        let written = text.map_err(io::Error::from).and_then(|text| fs::write(path, text + "\n"));
        written.map_err(|error| {
            Trouble::new(format!("cannot write the baseline {}: {error}", path.display()), "check its folder")
        })
    }

    /// How many findings it knows.
    pub fn len(&self) -> usize {
        self.known.values().sum()
    }

    /// Hides the findings that it knows. Returns how many of those in the checked files are no longer found.
    pub fn hide(mut self, all: &mut [CheckedFile]) -> usize {
        for checked in &mut *all {
            let Ok(findings) = &mut checked.outcome else { continue };
            let path = self.path(&checked.name);
            let found = std::mem::take(&mut findings.found);
            let of = |found: &Finding| KnownFinding::of(&path, &findings.code.source, found);
            let (known, new): (Vec<_>, Vec<_>) = found.into_iter().partition(|found| self.take(&of(found)));
            findings.known = known.len();
            findings.found = new;
        }
        // What is in a file that cannot be checked is not known.
        let read = all.iter().filter(|checked| checked.outcome.is_ok());
        let checked: Vec<String> = read.map(|checked| self.path(&checked.name)).collect();
        self.known.iter().filter(|(known, _)| checked.contains(&known.path)).map(|(_, count)| count).sum()
    }

    /// Whether a finding is known; one that occurs more often than is known is new.
    fn take(&mut self, known: &KnownFinding) -> bool {
        self.known
            .get_mut(known)
            .is_some_and(|count| count.checked_sub(1).map(|less| *count = less).is_some())
    }

    /// The path of a file from the folder of the baseline, so that it holds for everybody who has a copy of both.
    fn path(&self, name: &str) -> String {
        let path = resolved(Path::new(name));
        path.strip_prefix(&self.folder).unwrap_or(&path).to_string_lossy().into_owned()
    }
}

impl KnownFinding {
    fn of(path: &str, source: &str, found: &Finding) -> Self {
        let code = source.lines().nth(found.line.saturating_sub(1) as usize).unwrap_or_default();
        Self { path: path.to_owned(), rule: found.rule, code: code.trim().to_owned() }
    }
}

fn folder_of(file: &Path) -> PathBuf {
    resolved(file).parent().map_or_else(PathBuf::new, Path::to_owned)
}

/// The absolute path, without links and `..` in its folder. The file itself need not exist.
fn resolved(path: &Path) -> PathBuf {
    let path = path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return path };
    folder.canonicalize().map_or_else(|_| path.clone(), |folder| folder.join(name))
}
