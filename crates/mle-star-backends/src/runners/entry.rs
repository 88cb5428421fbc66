//! The entries of `runners` in the configuration.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use mle_star_domain::trouble::Trouble;
use serde::{Deserialize, Serialize};

/// The Python program that starts a runner on a Ray cluster.
const RAY: &str = include_str!("../../python/ray_runner.py");
/// Runs it from its source, so that it needs no file.
const FROM_SOURCE: &str =
    "import sys; SOURCE = sys.argv.pop(1); exec(compile(SOURCE, 'ray_runner.py', 'exec'))";

/// The time for the start of a runner unless its entry says another.
pub(super) const USUAL_START: Duration = Duration::from_secs(600);

/// Runners of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunnerEntry {
    /// Its name. Runners are called after it, with a number.
    pub name: String,
    /// Starts `mle-star runner` somewhere, with its standard input and output handed through. For Ray, the command on
    /// the node. `{id}` becomes another word with each start, for engines that want a name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// The address of a Ray cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ray: Option<String>,
    /// How many runners there are at most.
    #[serde(default = "one")]
    pub count: u32,
    /// How many scripts each runs at once; `None`: one for each of its GPUs, at least one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slots: Option<u32>,
    /// CPUs of a runner, as Ray counts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<f64>,
    /// GPUs of a runner, as Ray counts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpus: Option<f64>,
    /// Other resources of a runner, as Ray names and counts them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub resources: BTreeMap<String, f64>,
    /// How long the command may take until the runner answers, in seconds. It may wait in a queue.
    #[serde(default = "ten_minutes")]
    pub start_timeout: u64,
    /// How long a runner may have nothing to do before it is given back, in seconds.
    #[serde(default = "one_minute")]
    pub idle_timeout: u64,
    /// The Python interpreter there; `None`: as on this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub python: Option<PathBuf>,
    /// Whether other versions of Python and its libraries are accepted.
    #[serde(default)]
    pub any_python: bool,
    /// What agents are told about its machine, such as `8 CPU cores, 64 GiB of memory, one A100 with 80 GiB`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// The interpreter on this machine that has `ray`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ray_python: Option<PathBuf>,
}

impl RunnerEntry {
    /// How many scripts one runner runs at once, as far as it is known before its start.
    pub fn expected_slots(&self) -> usize {
        let gpus = self.gpus.map_or(0, |gpus| gpus.floor().max(0.0) as u32);
        self.slots.unwrap_or(gpus).max(1) as usize
    }

    /// Time for the start.
    pub(super) fn start_limit(&self) -> Duration {
        Duration::from_secs(self.start_timeout)
    }

    /// The command that starts one runner.
    pub(super) fn argv(&self, name: &str) -> Vec<OsString> {
        let id = format!("{name}-{}", unique_start_id());
        let command = || self.command.iter().map(|word| OsString::from(word.replace("{id}", &id)));
        let Some(address) = &self.ray else { return command().collect() };
        let python = self.ray_python.clone().unwrap_or_else(|| PathBuf::from("python3"));
        let mut argv: Vec<OsString> = vec![python.into(), "-c".into(), FROM_SOURCE.into(), RAY.into()];
        let option = |name: &str, value: String| [OsString::from(name), value.into()];
        argv.extend(option("--address", address.clone()));
        argv.extend(option("--cpus", self.cpus.unwrap_or(1.0).to_string()));
        argv.extend(option("--gpus", self.gpus.unwrap_or(0.0).to_string()));
        if !self.resources.is_empty() {
            argv.extend(option("--resources", serde_json::json!(self.resources).to_string()));
        }
        argv.extend(option("--name", name.to_owned()));
        argv.push("--".into());
        if self.command.is_empty() {
            argv.extend(["mle-star", "runner"].map(OsString::from));
        } else {
            argv.extend(command());
        }
        argv
    }
}

/// Checks the entries, and selects those with these names; all if there are no names.
///
/// # Errors
/// An entry is incomplete, or there is none with a name.
pub fn selected(entries: &[RunnerEntry], names: &[String]) -> Result<Vec<RunnerEntry>, Trouble> {
    let mut known = HashSet::new();
    for entry in entries {
        check(entry).map_err(|why| {
            Trouble::new(
                format!("runner {:?}: {why}", entry.name),
                "see docs/machines.md for entries that work",
            )
        })?;
        if !known.insert(&entry.name) {
            let message = format!("there are two runners with the name {}", entry.name);
            return Err(Trouble::new(message, "give each entry of `runners` its own name"));
        }
    }
    if let Some(name) = names.iter().find(|name| !known.contains(name)) {
        let all: Vec<&str> = entries.iter().map(|entry| &*entry.name).collect();
        let hint = match all.as_slice() {
            [] => "name runners with `runners` in a config file, and the file with --config".to_owned(),
            all => format!("the configuration has {}", all.join(", ")),
        };
        return Err(Trouble::new(format!("there is no runner {name}"), hint));
    }
    let is_wanted = |entry: &&RunnerEntry| names.is_empty() || names.contains(&entry.name);
    Ok(entries.iter().filter(is_wanted).cloned().collect())
}

fn check(entry: &RunnerEntry) -> Result<(), &'static str> {
    let is_plain = |name: &str| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    };
    let is_amount = |amount: Option<f64>| amount.is_none_or(|amount| amount.is_finite() && amount >= 0.0);
    if !is_plain(&entry.name) {
        return Err("`name` may have letters, digits, `-`, `_` and `.`");
    }
    if entry.command.is_empty() && entry.ray.is_none() {
        return Err("it needs a `command`, a list of words, or `ray`, the address of a cluster");
    }
    let is_for_ray = entry.cpus.is_some() || entry.gpus.is_some() || !entry.resources.is_empty();
    if entry.ray.is_none() && is_for_ray {
        return Err(
            "`cpus`, `gpus` and `resources` are for `ray`; in other engines, the command asks for them",
        );
    }
    let mut amounts = entry.resources.values().map(|amount| Some(*amount)).chain([entry.cpus, entry.gpus]);
    if !amounts.all(is_amount) {
        return Err("`cpus`, `gpus` and `resources` must not be negative");
    }
    if entry.count == 0 || entry.slots == Some(0) {
        return Err("`count` and `slots` must be at least 1");
    }
    if entry.start_timeout == 0 || entry.idle_timeout == 0 {
        return Err("`start_timeout` and `idle_timeout` must be at least 1 second");
    }
    Ok(())
}

/// A word that is different for every start of a runner by any process of this user; replaces `{id}`.
fn unique_start_id() -> String {
    static STARTS: AtomicU64 = AtomicU64::new(0);
    let (now, start) = (SystemTime::now(), STARTS.fetch_add(1, Ordering::Relaxed));
    let digest = blake3::hash(format!("{now:?} {} {start}", std::process::id()).as_bytes()).to_hex();
    digest[..8].to_owned()
}

fn one() -> u32 {
    1
}

fn one_minute() -> u64 {
    60
}

fn ten_minutes() -> u64 {
    USUAL_START.as_secs()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn entries_are_checked() {
        let check = |entries: serde_json::Value, names: &[&str], expected: Result<usize, &str>| {
            let entries: Vec<RunnerEntry> = serde_json::from_value(entries).unwrap();
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            let found = selected(&entries, &names);
            match expected {
                Ok(count) => assert_eq!(found.unwrap().len(), count),
                Err(message) => {
                    let found = found.unwrap_err().message;
                    assert!(found.contains(message), "{found}");
                }
            }
        };
        let plain = json!({"name": "a", "command": ["mle-star", "runner"]});
        let other = json!({"name": "b", "ray": "auto", "cpus": 2, "gpus": 0.5, "resources": {"A100": 1}});
        check(json!([]), &[], Ok(0));
        check(json!([plain, other]), &[], Ok(2));
        check(json!([plain, other]), &["b"], Ok(1));
        check(json!([plain]), &["c"], Err("there is no runner c"));
        check(json!([plain, plain]), &[], Err("two runners with the name a"));
        check(json!([{"name": "a"}]), &[], Err("needs a `command`"));
        check(json!([{"name": "a b", "command": ["x"]}]), &[], Err("`name` may have"));
        check(json!([{"name": "a", "command": ["x"], "cpus": 1}]), &[], Err("are for `ray`"));
        check(json!([{"name": "a", "ray": "auto", "resources": {"A100": -1}}]), &[], Err("negative"));
        check(json!([{"name": "a", "command": ["x"], "count": 0}]), &[], Err("at least 1"));
    }

    #[test]
    fn ray_is_asked_for_the_resources_of_an_entry() {
        let entry = json!({"name": "a", "ray": "auto", "resources": {"A100": 1, "here": 0.01}});
        let argv = serde_json::from_value::<RunnerEntry>(entry).unwrap().argv("a-1");
        let at = argv.iter().position(|word| word == "--resources").unwrap();
        assert_eq!(argv[at + 1], r#"{"A100":1.0,"here":0.01}"#);
        assert!(argv.iter().position(|word| word == "--").unwrap() > at);
    }
}
