//! The frozen inputs in a run folder: written first, and compared on resume.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use mle_star::journal::Frozen;
use mle_star_backends::runners::entry::RunnerEntry;
use mle_star_domain::config::Config;
use mle_star_domain::layout::{self, CONFIG, DATA_SUMMARY, MODELS, PROMPTS, STAGED_CONFIG};
use mle_star_domain::task::Task;
use mle_star_domain::trouble::Trouble;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Writes `task.json`, `config.json` and `prompts/`; `models.json` if the user gave models, and `data.md` if the data is
/// summarized.
///
/// # Errors
/// The folder cannot be written.
pub fn write(folder: &Path, frozen: &Frozen) -> Result<(), Trouble> {
    let all = || -> io::Result<()> {
        write_json(&folder.join(layout::TASK), &frozen.task)?;
        write_json(&folder.join(CONFIG), &frozen.config)?;
        fs::create_dir_all(folder.join(PROMPTS))?;
        texts(frozen)?.iter().try_for_each(|(name, text)| write_atomically(&folder.join(name), text))
    };
    let start_again =
        "free disk space or make the folder writable, then start the run again with the same --run-id";
    all().map_err(|error| Trouble::new(unwritable(folder, &error).message, start_again))
}

/// The frozen inputs that are files as they are, by their paths in the run folder.
fn texts(frozen: &Frozen) -> io::Result<BTreeMap<String, Vec<u8>>> {
    let templates = frozen.prompts.iter().map(|(name, text)| (format!("{PROMPTS}/{name}"), text));
    let metric = frozen.task.metric_file.iter().map(|file| (layout::METRIC_FILE.to_owned(), &file.text));
    let summary = frozen.data_summary.iter().map(|summary| (DATA_SUMMARY.to_owned(), summary));
    let texts = templates.chain(metric).chain(summary);
    let mut texts: BTreeMap<_, _> = texts.map(|(name, text)| (name, text.clone().into_bytes())).collect();
    if let Some(models) = &frozen.retrieved_models {
        texts.insert(MODELS.to_owned(), json(models)?);
    }
    Ok(texts)
}

/// Keeps what the data plane says of the data.
///
/// # Errors
/// The folder cannot be written.
pub fn write_facts(folder: &Path, facts: &Value) -> Result<(), Trouble> {
    let written = write_json(&folder.join(layout::FACTS), facts);
    written.map_err(|error| unwritable(folder, &error))
}

/// What the data plane said of the data when the run began.
pub fn read_facts(folder: &Path) -> Option<Value> {
    serde_json::from_slice(&fs::read(folder.join(layout::FACTS)).ok()?).ok()
}

/// Keeps the runners for the next resume.
///
/// # Errors
/// The folder cannot be written.
pub fn write_runners(folder: &Path, runners: &[RunnerEntry]) -> Result<(), Trouble> {
    if runners.is_empty() && !folder.join(layout::RUNNERS).exists() {
        return Ok(());
    }
    write_json(&folder.join(layout::RUNNERS), &runners).map_err(|error| unwritable(folder, &error))
}

/// The runners that the run used last; none if they cannot be read.
pub fn read_runners(folder: &Path) -> Vec<RunnerEntry> {
    let text = fs::read(folder.join(layout::RUNNERS)).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

/// Writes a configuration with raised limits beside `config.json`. It becomes valid when the journal records the limits.
///
/// # Errors
/// As [`write_atomically`].
pub fn stage_config(folder: &Path, config: &Config) -> io::Result<()> {
    write_partial(&folder.join(STAGED_CONFIG), &json(config)?)
}

/// Checks that the files equal what the journal froze. If a resume that raised limits was interrupted after the journal
/// recorded them, the staged configuration replaces `config.json` now.
///
/// # Errors
/// A file is missing or differs; the message names the file, and the key in it.
pub fn check_unchanged(folder: &Path, frozen: &Frozen) -> Result<(), Trouble> {
    let raisable: Vec<&str> = Config::keys().filter(|key| key.is_raisable).map(|key| key.name).collect();
    same_keys::<Task>(folder, layout::TASK, &frozen.task, &[])?;
    let differs_in_limits = same_keys::<Config>(folder, CONFIG, &frozen.config, &[]).is_err()
        && same_keys::<Config>(folder, CONFIG, &frozen.config, &raisable).is_ok();
    if differs_in_limits && same_keys::<Config>(folder, STAGED_CONFIG, &frozen.config, &[]).is_ok() {
        let placed = fs::rename(folder.join(STAGED_CONFIG), folder.join(CONFIG));
        placed.map_err(|error| unwritable(folder, &error))?;
    }
    same_keys::<Config>(folder, CONFIG, &frozen.config, &[])?;
    let unreadable = |error: io::Error| differs(format!("cannot read the inputs of the run: {error}"));
    let texts = texts(frozen).map_err(unreadable)?;
    for (name, text) in &texts {
        match fs::read(folder.join(name)) {
            Ok(found) if found == *text => {}
            Ok(_) => return Err(differs(format!("{name} has changed since the run started"))),
            Err(error) => return Err(differs(format!("cannot read {name} of the run: {error}"))),
        }
    }
    let found = names_of_texts(folder).map_err(unreadable)?;
    match found.iter().find(|name| !texts.contains_key(*name)) {
        Some(extra) => Err(differs(format!("{extra} was added after the run started"))),
        None => Ok(()),
    }
}

/// Writes a file atomically.
///
/// # Errors
/// The disk is full or the folder not writable.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let partial = path.with_extension("part");
    write_partial(&partial, bytes)?;
    fs::rename(partial, path)
}

fn write_partial(partial: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(partial)?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn json(value: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut text = serde_json::to_vec_pretty(value)?;
    text.push(b'\n');
    Ok(text)
}

/// Copies a file atomically, replacing the destination.
///
/// # Errors
/// As [`write_atomically`].
pub fn copy_atomically(from: &Path, to: &Path) -> io::Result<()> {
    let partial = to.with_extension("part");
    let copied = fs::copy(from, &partial).and_then(|_| fs::rename(&partial, to));
    copied.inspect_err(|_| drop(fs::remove_file(&partial)))
}

/// Copies a file or a folder, if it is there. Links are left out: a script may have made them.
///
/// # Errors
/// A file cannot be read, or the destination cannot be written.
pub fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let Ok(meta) = from.symlink_metadata() else { return Ok(()) };
    if meta.is_file() {
        return fs::copy(from, to).map(drop);
    }
    if !meta.is_dir() {
        return Ok(());
    }
    fs::create_dir_all(to)?;
    fs::read_dir(from)?.try_for_each(|entry| {
        let name = entry?.file_name();
        copy(&from.join(&name), &to.join(&name))
    })
}

/// Removes a file or a folder if it exists.
///
/// # Errors
/// The folder that it is in is not writable.
pub fn remove(path: &Path) -> io::Result<()> {
    let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Writes a value as indented JSON, atomically.
///
/// # Errors
/// As [`write_atomically`].
pub fn write_json(path: &Path, value: &impl Serialize) -> io::Result<()> {
    write_atomically(path, &json(value)?)
}

/// The error for a run folder that cannot be written.
pub fn unwritable(folder: &Path, error: &io::Error) -> Trouble {
    let message = format!("cannot write into the run folder {}: {error}", folder.display());
    Trouble::resumable(message, "free disk space or make the folder writable")
}

/// Compares a file with the frozen value, except for the keys in `but`.
fn same_keys<T: Serialize + DeserializeOwned>(
    folder: &Path,
    name: &str,
    frozen: &T,
    but: &[&str],
) -> Result<(), Trouble> {
    let path = folder.join(name);
    let text = fs::read_to_string(&path)
        .map_err(|error| differs(format!("cannot read {name} of the run: {error}")))?;
    let mut found: Value = serde_json::from_str(&text)
        .map_err(|error| differs(format!("{name} of the run is no longer valid JSON: {error}")))?;
    // An earlier version did not know every key. It used what is the default now.
    if let Ok(read) = T::deserialize(&found) {
        found = serde_json::to_value(read).unwrap_or_default();
    }
    let mut expected = serde_json::to_value(frozen).unwrap_or_default();
    for map in [&mut found, &mut expected].into_iter().filter_map(Value::as_object_mut) {
        map.retain(|key, _| !but.contains(&key.as_str()));
    }
    match first_difference(&expected, &found) {
        Some(key) => Err(differs(format!("{name} has another {key} than at the start of the run"))),
        None => Ok(()),
    }
}

/// The first key with differing values, as a dotted path.
pub fn first_difference(expected: &Value, found: &Value) -> Option<String> {
    let (Value::Object(expected), Value::Object(found)) = (expected, found) else {
        return (expected != found).then(String::new);
    };
    let keys = expected.keys().chain(found.keys().filter(|key| !expected.contains_key(*key)));
    keys.into_iter().find_map(|key| {
        let of = |map: &serde_json::Map<String, Value>| map.get(key).cloned().unwrap_or_default();
        let below = first_difference(&of(expected), &of(found))?;
        Some(if below.is_empty() { key.clone() } else { format!("{key}.{below}") })
    })
}

/// The names of the templates in a run folder, as paths in it, and of the models that the user gave.
fn names_of_texts(folder: &Path) -> io::Result<Vec<String>> {
    let templates = fs::read_dir(folder.join(PROMPTS))?;
    let name =
        |entry: io::Result<fs::DirEntry>| Ok(format!("{PROMPTS}/{}", entry?.file_name().to_string_lossy()));
    let models = folder.join(MODELS).exists().then(|| Ok(MODELS.to_owned()));
    templates.map(name).chain(models).collect()
}

fn differs(message: String) -> Trouble {
    Trouble::new(
        message,
        "undo the change, or start a new run; a run can be resumed only with its own inputs",
    )
}
