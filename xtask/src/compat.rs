//! The campaign of libraries: installs those that solutions use, lets the example `compat` run a script for each, isolated
//! as in a run, and writes what came of it to `docs/libraries.md`.
//!
//! It takes ten gigabytes below `target/compat` and half an hour, so it is not part of the gate.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::command::{cargo, root, say, succeeds, watched};
use crate::packages;
use table::{ENVIRONMENTS, Environment, Library};

mod table;

const SCRIPTS: &str = "lab/examples/compat/scripts";
const PAGE: &str = "docs/libraries.md";
const HEAD: &str = "\
# Libraries

What libraries do inside the isolation of scripts: no network, only their own folder to write to. `cargo xtask compat`
installs each, runs its script from `lab/examples/compat/scripts`, isolated as in a run, without and
with [warm start](warm-start.md), and writes this page.";
const TABLE: &str = "\
*cold* and *warm* are the seconds of the script, next to other work. A time in brackets is that of a script that no worker
forked.

| library | version | its script | cold | warm | result |
|---|---|---|---:|---:|---|";
const TAIL: &str = "\
Scripts get a HOME, a TMPDIR and a `/tmp` of their own, empty and writable, so caches and settings there do not outlive a
script. Files for all scripts belong into the data folder, or into folders that `HF_HUB_CACHE`, `TORCH_HOME`, `NLTK_DATA`,
`JAVA_HOME`, `TESSDATA_PREFIX` or `LD_LIBRARY_PATH` name: scripts may read them.
";

/// Runs the scripts with these names, or all; `false` if a library does not work. The table keeps the rows of the others.
///
/// `--python PATH` names the interpreter for new environments.
pub fn campaign(options: &[&str]) -> bool {
    let (python, names) = match options {
        ["--python", python, names @ ..] => (*python, names),
        names => ("python3", names),
    };
    if !succeeds(cargo("build -p mle-star-lab --example compat")) {
        return false;
    }
    let mut rows = kept();
    for environment in &ENVIRONMENTS {
        let wanted = |library: &&Library| names.is_empty() || names.contains(&library.script);
        let wanted: Vec<&Library> = environment.libraries.iter().filter(wanted).collect();
        if wanted.is_empty() {
            continue;
        }
        match tried(python, environment, &wanted) {
            Ok(new) => rows.extend(new),
            Err(reason) => say(&format!("{}: {reason}", environment.name)),
        }
        if let Err(error) = keep(&rows) {
            say(&format!("the rows cannot be kept: {error}"));
        }
    }
    let page = page(&rows);
    say(&page);
    fs::write(root().join(PAGE), page).is_ok()
        && ENVIRONMENTS.iter().all(|environment| all_work(environment, &rows))
}

/// Runs the example `gpu` with an interpreter that has torch, its own or the given one; `true` without a GPU, where there is
/// nothing to run.
pub fn on_gpu(options: &[&str]) -> bool {
    let has_gpu = Command::new("nvidia-smi").arg("-L").output().is_ok_and(|output| output.status.success());
    if !has_gpu {
        say("skipped: `nvidia-smi` finds no GPU on this machine");
        return true;
    }
    let python = match options {
        ["--python", python] => Ok(PathBuf::from(python)),
        _ => ENVIRONMENTS
            .iter()
            .find(|it| it.name == "deep")
            .map_or_else(|| Err("no environment has torch".to_owned()), |deep| install("python3", deep)),
    };
    match python {
        Ok(python) => {
            let mut command = cargo("run --quiet -p mle-star-lab --example gpu");
            command.arg(python);
            succeeds(command)
        }
        Err(reason) => {
            say(&format!("torch cannot be installed: {reason}"));
            false
        }
    }
}

/// By script: what the example printed, with `version` and `date`.
type Rows = BTreeMap<String, Value>;

fn tried(python: &str, environment: &Environment, libraries: &[&Library]) -> Result<Rows, String> {
    let interpreter = install(python, environment)?;
    let versions = versions(&interpreter)?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    let mut command = Command::new(target.join("debug/examples/compat"));
    command.arg(interpreter).current_dir(root());
    command.args(libraries.iter().map(|library| format!("{SCRIPTS}/{}.py", library.script)));
    let (ok, text) = watched(command).map_err(|error| error.to_string())?;
    if !ok {
        say(&format!("{}: the example ended early", environment.name));
    }
    let found = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let named = found.filter_map(|mut row| {
        let script = row["script"].as_str()?.to_owned();
        let library = libraries.iter().find(|library| library.script == script)?;
        let package = library.package.split(' ').next().unwrap_or_default();
        row["version"] = versions.get(package).cloned().unwrap_or_default().into();
        row["date"] = today().into();
        Some((script, row))
    });
    Ok(named.collect())
}

/// The interpreter of an environment with everything that its libraries' scripts import.
fn install(python: &str, environment: &Environment) -> Result<PathBuf, String> {
    let folder = root().join("target/compat");
    let uv = folder.join("tools/bin/uv");
    if !uv.exists() {
        packages::succeeds(Command::new(python).args(["-m", "venv"]).arg(folder.join("tools")))?;
        packages::succeeds(Command::new(folder.join("tools/bin/pip")).args(["install", "--quiet", "uv"]))?;
    }
    let interpreter = folder.join(environment.name).join("bin/python");
    let uv = || {
        let mut uv = Command::new(&uv);
        // On the same file system, so that files are linked and not copied.
        uv.env("UV_CACHE_DIR", folder.join("cache"));
        uv
    };
    if !interpreter.exists() {
        packages::succeeds(
            uv().args(["venv", "--quiet", "--python", python]).arg(folder.join(environment.name)),
        )?;
    }
    let own = environment.libraries.iter().filter(|library| !library.package.contains(' '));
    let more = environment.libraries.iter().flat_map(|library| library.with.iter().copied());
    let all = own.map(|library| library.package).chain(more);
    packages::succeeds(uv().args(["pip", "install", "--quiet", "--python"]).arg(&interpreter).args(all))?;
    Ok(interpreter)
}

fn versions(python: &Path) -> Result<BTreeMap<String, String>, String> {
    let ask = "import importlib.metadata as m, json; print(json.dumps({d.name.lower().replace('_', '-'): d.version for d in m.distributions()}))";
    let output = Command::new(python).args(["-c", ask]).output().map_err(|error| error.to_string())?;
    serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())
}

fn today() -> String {
    let output = Command::new("date").args(["-u", "+%Y-%m-%d"]).output();
    output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default()
}

fn rows_file() -> PathBuf {
    root().join("target/compat/rows.json")
}

/// The rows of earlier campaigns.
fn kept() -> Rows {
    fs::read(rows_file()).ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
}

fn keep(rows: &Rows) -> std::io::Result<()> {
    fs::write(rows_file(), serde_json::to_vec_pretty(rows)?)
}

fn works(row: &Value) -> bool {
    row["cold"]["works"] == true && row["warm"]["works"] == true
}

fn all_work(environment: &Environment, rows: &Rows) -> bool {
    environment.libraries.iter().all(|library| rows.get(library.script).is_some_and(works))
}

fn page(rows: &Rows) -> String {
    let all = || ENVIRONMENTS.iter().flat_map(|environment| environment.libraries);
    let tried = all().filter_map(|library| Some((library, rows.get(library.script)?)));
    let dates: Vec<&str> = tried.clone().filter_map(|(_, row)| row["date"].as_str()).collect();
    let (first, last) = (dates.iter().min().unwrap_or(&""), dates.iter().max().unwrap_or(&""));
    let when = if first == last { format!("on {first}") } else { format!("from {first} to {last}") };
    let lines: Vec<String> = tried.map(|(library, row)| line(library, row)).collect();
    format!(
        "{HEAD}\nIt was run {when} on two cores without a GPU, with Python 3.12.\n\n{TABLE}\n{}\n\n{TAIL}",
        lines.join("\n")
    )
}

fn line(library: &Library, row: &Value) -> String {
    let seconds = |ended: &Value| match ended["seconds"].as_f64() {
        Some(seconds) if seconds < 10.0 => format!("{seconds:.1}"),
        Some(seconds) => format!("{seconds:.0}"),
        None => String::new(),
    };
    let warm = seconds(&row["warm"]);
    let warm = if row["warm"]["forked"] == true { warm } else { format!("({warm})") };
    let result = match (works(row), library.needs) {
        (true, "") => "works".to_owned(),
        (true, needs) => format!("works; {needs}"),
        (false, _) => {
            let ended = if row["cold"]["works"] == true { &row["warm"] } else { &row["cold"] };
            let outside = if row["plain"]["works"] == true { "" } else { ", as without isolation" };
            format!("fails{outside}: {}", ended["says"].as_str().unwrap_or_default().replace('|', "\\|"))
        }
    };
    let Library { package, work, .. } = library;
    let version = row["version"].as_str().unwrap_or_default();
    format!("| {package} | {version} | {work} | {} | {warm} | {result} |", seconds(&row["cold"]))
}
