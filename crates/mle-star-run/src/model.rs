//! The fitted model of a run: what its last script kept, with a manifest of its files.

mod check;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use mle_star::composition::predict_script;
use mle_star::result::{ModelKind, ModelRecord};
use mle_star_backends::script::environment::Environment;
use mle_star_domain::layout;
use mle_star_domain::trouble::Trouble;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::predict::{RunTables, TableSchema};
use crate::runs::inputs::{write_atomically, write_json};

pub use check::{call, check};

/// The libraries whose objects models consist of. Other versions may read them differently.
const MODEL_LIBRARIES: [&str; 9] = [
    "numpy",
    "pandas",
    "scipy",
    "scikit-learn",
    "cloudpickle",
    "lightgbm",
    "xgboost",
    "xgboost-cpu",
    "catboost",
];
/// What models of scripts consist of beside these: their own script says how they predict.
const NEEDED_BY_SCRIPTS: [&str; 4] = ["joblib", "skops", "tensorflow", "torch"];
/// The file in which a combination of solutions names its members.
const MEMBERS: &str = "members.json";
/// The file with everything that is not in files of its own.
const PICKLE: &str = "model.pickle";

/// The manifest of a fitted model, `model.json`: its columns and versions, and the checksums of its files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelManifest {
    /// The columns that it needs, and those that it predicts.
    #[serde(flatten)]
    pub layout: TableSchema,
    /// The spellings of the cells of these columns in the training table.
    #[serde(default)]
    pub spellings: Value,
    /// The members of the model.
    #[serde(flatten)]
    pub members: Members,
    /// The version of Python.
    pub python: String,
    /// The versions of all libraries.
    pub libraries: BTreeMap<String, String>,
    /// The SHA-256 digests of its files, by their paths in the folder.
    pub files: BTreeMap<String, String>,
}

/// A part of a model: a folder of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Member {
    /// The folder; `.` for the whole model.
    pub folder: String,
    /// The weight of the part among the others.
    pub weight: f64,
}

/// The members of a model, and how they are combined.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Members {
    /// The rule that combines them.
    pub by: String,
    /// The folders of their models.
    pub members: Vec<Member>,
}

impl Members {
    /// Writes it into the folder of the whole model.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn write(&self, model: &Path) -> io::Result<()> {
        write_json(&model.join(MEMBERS), self)
    }
}

impl ModelManifest {
    /// The manifest of the model in this folder; the error says why there is no model.
    ///
    /// # Errors
    /// The model has members without a fitted model, or cannot be read.
    pub fn of(model: &Path, tables: &RunTables, environment: &Environment) -> Result<Self, String> {
        let unreadable = |error: io::Error| error.to_string();
        let members = match fs::read(model.join(MEMBERS)) {
            Ok(text) => serde_json::from_slice(&text).map_err(|error| error.to_string())?,
            Err(_) => {
                let whole = Member { folder: ".".to_owned(), weight: 1.0 };
                Members { by: "mean".to_owned(), members: vec![whole] }
            }
        };
        let has = |member: &Member, file: &str| model.join(&member.folder).join(file).is_file();
        let is_model = |member: &Member| has(member, PICKLE) || has(member, layout::PREDICT);
        if !members.members.iter().all(is_model) {
            return Err(match members.members.len() {
                1 => "the script kept no fitted model".to_owned(),
                count => format!("not all of the {count} solutions that are combined kept a fitted model"),
            });
        }
        let mut files = BTreeMap::new();
        checksums(model, "", &mut files).map_err(unreadable)?;
        Ok(Self {
            layout: tables.layout.clone(),
            spellings: tables.spellings.clone(),
            members,
            python: environment.version.clone(),
            libraries: environment.libraries.iter().cloned().collect(),
            files,
        })
    }

    /// The manifest of the model in the folder `final/`; `None` if there is no model.
    ///
    /// # Errors
    /// The manifest cannot be read, or a file of the model has changed since.
    pub fn read(folder: &Path) -> Result<Option<Self>, Trouble> {
        let file = folder.join(layout::MODEL_RECORD);
        let text = match fs::read(&file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            read => read.map_err(|error| Trouble::io("read", &file, &error))?,
        };
        let record: Self = serde_json::from_slice(&text)
            .map_err(|error| changed(layout::MODEL_RECORD, &format!("cannot be read: {error}")))?;
        let model = folder.join(layout::MODEL);
        for (name, digest) in &record.files {
            let path = model.join(name);
            if !path.is_file() {
                return Err(changed(name, "is missing"));
            }
            let found = checksum(&path).map_err(|error| Trouble::io("read", &path, &error))?;
            if found != *digest {
                return Err(changed(name, "has changed since it was made"));
            }
        }
        Ok(Some(record))
    }

    /// Writes the manifest, and the script that predicts, beside the model.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        write_json(&folder.join(layout::MODEL_RECORD), self)?;
        write_atomically(&folder.join(layout::PREDICT), predict_script().as_bytes())
    }

    /// The size of the files of the model in the folder `final/`, in bytes.
    pub fn bytes(&self, folder: &Path) -> u64 {
        let files = self.files.keys().map(|name| folder.join(layout::MODEL).join(name));
        files.filter_map(|file| Some(fs::metadata(file).ok()?.len())).sum()
    }

    /// Why the model cannot be used with this environment; `None` if it can.
    pub fn other_versions(&self, environment: &Environment) -> Option<String> {
        let short = |version: &str| version.split('.').take(2).collect::<Vec<_>>().join(".");
        if short(&self.python) != short(&environment.version) {
            return Some(format!(
                "it was made with Python {}, and this is {}",
                self.python, environment.version
            ));
        }
        let now: BTreeMap<&String, &String> =
            environment.libraries.iter().map(|(name, version)| (name, version)).collect();
        let has_script = self.files.keys().any(|file| file.ends_with(layout::PREDICT));
        let is_needed =
            |name: &str| MODEL_LIBRARIES.contains(&name) || has_script && NEEDED_BY_SCRIPTS.contains(&name);
        let mut needed = self.libraries.iter().filter(|(name, _)| is_needed(&name.to_lowercase()));
        let other = needed.find(|(name, version)| now.get(name) != Some(version));
        let (name, version) = other?;
        Some(match now.get(name) {
            Some(now) => format!("it was made with {name} {version}, and this is {now}"),
            None => format!("it was made with {name} {version}, which is not installed"),
        })
    }
}

/// The record of a run that predicts other rows by fitting again.
pub fn refit(why: impl Into<String>) -> ModelRecord {
    ModelRecord { kind: ModelKind::Refit, why: why.into(), ..ModelRecord::default() }
}

fn changed(name: &str, how: &str) -> Trouble {
    Trouble::new(
        format!("the file {name} of the fitted model {how}"),
        "restore the folder of the run from a copy, or remove final/model.json to fit again",
    )
}

fn checksums(folder: &Path, below: &str, files: &mut BTreeMap<String, String>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let (path, name) = {
            let entry = entry?;
            (entry.path(), format!("{below}{}", entry.file_name().to_string_lossy()))
        };
        if path.is_dir() {
            checksums(&path, &format!("{name}/"), files)?;
        } else {
            files.insert(name, checksum(&path)?);
        }
    }
    Ok(())
}

fn checksum(file: &Path) -> io::Result<String> {
    let mut hasher = Sha256::new();
    let mut file = File::open(file)?;
    let mut block = vec![0; 1 << 20];
    loop {
        match io::Read::read(&mut file, &mut block)? {
            0 => break,
            read => hasher.update(&block[..read]),
        }
    }
    Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The paths of a model, its manifest and its script.
pub fn parts(folder: &Path) -> [PathBuf; 3] {
    [layout::MODEL, layout::MODEL_RECORD, layout::PREDICT].map(|name| folder.join(name))
}
