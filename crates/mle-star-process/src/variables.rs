//! The environment variables of a Python script: the user's, without secrets, with its share of the machine.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use crate::machine::Machine;

/// Prefixes of variables that hold secrets or configure other programs that do.
const SECRET_STARTS: [&str; 4] = ["ANTHROPIC_", "AWS_", "CLAUDE_", "MLE_STAR_"];
/// Suffixes of variables that hold secrets.
const SECRET_ENDS: [&str; 11] = [
    "TOKEN",
    "_KEY",
    "APIKEY",
    "PASSWORD",
    "PASSWD",
    "_PWD",
    "_PAT",
    "_AUTH",
    "_DSN",
    "_CREDENTIALS",
    "_PASSPHRASE",
];
/// Variables that tell Python what to do. Those of the caller's shell are for other programs.
const PYTHON: &str = "PYTHON";
/// The user's way to give scripts a PYTHONPATH.
pub const ASKED_PYTHONPATH: &str = "MLE_STAR_PYTHONPATH";
/// Set for each script, or harmful to it.
const REPLACED: [&str; 10] = [
    "HOME",
    "PWD",
    "OLDPWD",
    "SSH_AUTH_SOCK",
    "TEMP",
    "TMP",
    "TMPDIR",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
];
/// Limit the thread pools of libraries.
const THREADS: [&str; 6] = [
    "OMP_NUM_THREADS",
    "OMP_THREAD_LIMIT",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_MAX_THREADS",
    "LOKY_MAX_CPU_COUNT",
];
/// How often a waiting thread of GNU OpenMP looks before it sleeps: as often as where it knows that there are more threads than
/// cores. Its default otherwise takes milliseconds, in which it keeps other threads from running: two programs that fit boosted
/// trees on the same cores can nearly stop each other.
const SPINS: (&str, &str) = ("GOMP_SPINCOUNT", "1000");
/// With more cores, the default stays: nobody has measured there what waking many threads costs.
const FEW_CORES: usize = 4;
/// If one of them is set, the user has decided how threads wait.
const WAITING: [&str; 2] = [SPINS.0, "OMP_WAIT_POLICY"];

/// One slot's share of the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    /// Cores for this slot, at least one.
    pub cores: usize,
    /// The GPUs' numbers; empty if the machine has none.
    pub gpus: Vec<u32>,
}

impl Share {
    /// The share of `slot`. Cores are divided evenly and GPUs assigned in turn; with fewer GPUs than slots, slots share
    /// one.
    pub fn of(machine: &Machine, slots: usize, slot: usize) -> Self {
        let slots = slots.max(1);
        let cores = (machine.cores / slots).max(1);
        let dealt = machine.gpus.len().min(slots);
        let mine = |position: &usize| dealt > 0 && position % dealt == slot % dealt;
        let gpus = machine.gpus.iter().enumerate().filter(|(position, _)| mine(position));
        Self { cores, gpus: gpus.map(|(_, gpu)| gpu.index).collect() }
    }
}

/// The environment of a script: the `inherited` variables without secrets and without those `removed`, and the
/// script's own.
pub fn variables(
    inherited: impl IntoIterator<Item = (OsString, OsString)>,
    removed: &[&str],
    share: &Share,
    home: &Path,
    temporary: &Path,
) -> Vec<(OsString, OsString)> {
    let kept = |name: &OsStr| {
        let name = name.to_string_lossy();
        !(is_secret(&name) || is_of_python(&name) || REPLACED.contains(&&*name) || removed.contains(&&*name))
    };
    let inherited: Vec<_> = inherited.into_iter().collect();
    let asked = inherited.iter().find(|(name, value)| name == ASKED_PYTHONPATH && !value.is_empty());
    let asked = asked.map(|(_, path)| ("PYTHONPATH".into(), path.clone()));
    let mut all: Vec<_> = inherited
        .into_iter()
        .filter(|(name, value)| kept(name) && !has_password(name, value))
        .chain(asked)
        .collect();
    let is_decided = WAITING.iter().any(|name| all.iter().any(|(known, _)| known == name));
    let mut set = |name: &str, value: OsString| {
        all.retain(|(other, _)| other != name);
        all.push((name.into(), value));
    };
    set("PYTHONUNBUFFERED", "1".into());
    set("PYTHONHASHSEED", "0".into());
    set("HOME", home.into());
    set("TMPDIR", temporary.into());
    for name in THREADS {
        set(name, share.cores.to_string().into());
    }
    if !is_decided && share.cores <= FEW_CORES {
        set(SPINS.0, SPINS.1.into());
    }
    if !share.gpus.is_empty() {
        let list: Vec<String> = share.gpus.iter().map(u32::to_string).collect();
        set("CUDA_VISIBLE_DEVICES", list.join(",").into());
    }
    all
}

/// Does a variable with this name tell Python what to do?
pub fn is_of_python(name: &str) -> bool {
    name.starts_with(PYTHON)
}

/// Does a variable with this name hold a secret, or configure a program that does?
pub fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    SECRET_STARTS.iter().any(|start| name.starts_with(start))
        || SECRET_ENDS.iter().any(|end| name.ends_with(end))
        || name.contains("_SECRET")
        || name.starts_with("SECRET")
}

/// Is the value a URL with a password? That of a proxy is kept, because scripts with network access need it.
fn has_password(name: &OsStr, value: &OsStr) -> bool {
    let (name, value) = (name.to_string_lossy(), value.to_string_lossy());
    let login =
        value.split_once("://").and_then(|(_, rest)| rest.split(['/', '?', '#']).next()?.rsplit_once('@'));
    login.is_some_and(|(login, _)| login.contains(':')) && !name.to_ascii_uppercase().ends_with("_PROXY")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Gpu;

    #[test]
    fn slots_share_cores_and_gpus() {
        let check = |cores, gpus: u32, slots, slot, expected: (usize, &[u32])| {
            let gpu = |index| Gpu { index, name: String::new(), memory_mib: 0 };
            let machine = Machine { cores, memory_mib: 0, gpus: (0..gpus).map(gpu).collect() };
            let share = Share::of(&machine, slots, slot);
            assert_eq!((share.cores, share.gpus.as_slice()), expected, "{cores} {gpus} {slots} {slot}");
        };
        check(8, 0, 1, 0, (8, &[]));
        check(8, 0, 3, 2, (2, &[]));
        check(2, 0, 4, 3, (1, &[]));
        check(8, 1, 1, 0, (8, &[0]));
        check(8, 4, 2, 0, (4, &[0, 2]));
        check(8, 4, 2, 1, (4, &[1, 3]));
        check(8, 2, 4, 2, (2, &[0]));
        check(8, 2, 4, 3, (2, &[1]));
        check(8, 1, 0, 0, (8, &[0]));
    }

    #[test]
    fn secrets_are_removed_and_the_rest_is_kept() {
        let check = |name: &str, removed: &[&str], expected: bool| {
            let share = Share { cores: 2, gpus: vec![] };
            let inherited = [(name.into(), "inherited".into())];
            let found = variables(inherited, removed, &share, Path::new("/h"), Path::new("/t"));
            assert_eq!(found.iter().any(|(_, value)| value == "inherited"), expected, "{name}");
        };
        for name in ["PATH", "LANG", "LD_LIBRARY_PATH", "HTTPS_PROXY", "TOKENIZERS_PARALLELISM", "TZ"] {
            check(name, &[], true);
        }
        let secrets =
            ["ANTHROPIC_API_KEY", "AWS_PROFILE", "CLAUDE_CONFIG_DIR", "HF_TOKEN", "hf_token", "X_API_KEY"];
        let more = ["MY_SECRET_KEY", "DB_PASSWORD", "SECRET", "TMP", "HOME", "PYTHONHASHSEED"];
        for name in secrets.into_iter().chain(more).chain(["OMP_NUM_THREADS"]) {
            check(name, &[], false);
        }
        for name in ["KAGGLE_KEY", "PGPASSWORD", "OPENAI_KEY", "GITHUB_PAT", "MYSQL_PWD", "SENTRY_DSN"] {
            check(name, &[], false);
        }
        // Without GPUs to assign, the user's choice stays.
        check("CUDA_VISIBLE_DEVICES", &[], true);
        for name in ["PATH", "OPTIMIZE", "HOME", "STARTUP", "WARNINGS", "INSPECT", "UTF8", "SAFEPATH", "_GIL"]
        {
            check(&format!("PYTHON{name}"), &[], false);
        }
        for (url, expected) in [("postgres://me:word@host:5432/db", false), ("https://host/a:b@c", true)] {
            let share = Share { cores: 2, gpus: vec![] };
            let found =
                variables([("INDEX".into(), url.into())], &[], &share, Path::new("/h"), Path::new("/t"));
            assert_eq!(found.iter().any(|(_, value)| value == url), expected, "{url}");
        }
        check(ASKED_PYTHONPATH, &[], true);
        check("VIRTUAL_ENV", &["VIRTUAL_ENV"], false);
    }
}
