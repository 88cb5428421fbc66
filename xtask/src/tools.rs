//! What checks and tests need beside the workspace: installed below `target/`, never part of the repository.

use std::env::consts::ARCH;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use crate::command::{on_path, root, succeeds, target, watched};

/// Variables that tests read, with the file that each names. An error says why there is none.
pub type Needs = Vec<(&'static str, Result<PathBuf, String>)>;

/// The release of `codex` that its tests are written against.
const CODEX: &str = "0.169.0";
/// Packages that carry programs, which need no other package.
const ALONE: [&str; 2] = ["claude", "tools"];

/// The interpreter of an environment with the packages of `xtask/environments/NAME.txt`, made when it is not there yet.
///
/// # Errors
/// It cannot be made; in words.
pub fn environment(name: &str) -> Result<PathBuf, String> {
    // Steps side by side ask for the same ones.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let (folder, list) = (target().join(name), root().join(format!("xtask/environments/{name}.txt")));
    let (python, stamp) = (folder.join("bin/python"), folder.join("installed.txt"));
    let wanted = fs::read_to_string(&list).map_err(|error| format!("{}: {error}", list.display()))?;
    // Written when everything is installed.
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(python);
    }
    let (mut venv, mut pip) = (Command::new("python3"), Command::new(&python));
    venv.args(["-m", "venv", "--clear"]).arg(&folder);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"]).arg(list);
    if ALONE.contains(&name) {
        pip.arg("--no-deps");
    }
    if !succeeds(venv) || !succeeds(pip) {
        return Err(format!("{name} cannot be installed"));
    }
    fs::write(&stamp, wanted).map_err(|error| format!("{}: {error}", stamp.display()))?;
    Ok(python)
}

/// The folder with cargo-nextest, for the path.
///
/// # Errors
/// It cannot be had; in words.
pub fn nextest() -> Result<PathBuf, String> {
    let found = on_path(&["cargo-nextest"]).map_or_else(|| environment("tools"), Ok)?;
    Ok(found.with_file_name(""))
}

/// Whether the licences and sources of all dependencies are allowed, and the arrows between crates point down.
///
/// # Errors
/// cargo-deny cannot be had; in words.
pub fn dependencies_are_good() -> Result<bool, String> {
    let mut deny = Command::new(environment("tools")?.with_file_name("cargo-deny"));
    deny.current_dir(root()).args(["check", "licenses", "bans", "sources"]);
    Ok(succeeds(deny))
}

/// Chromium and its driver, which are the system's, and the accessibility audit.
pub fn browser() -> Needs {
    let installed = |names: &[&str]| {
        let missing =
            || format!("{} is not installed (Debian: apt-get install chromium chromium-driver)", names[0]);
        on_path(names).ok_or_else(missing)
    };
    let audit = environment("tools").and_then(|python| packaged(&python, "axe_playwright_python/axe.min.js"));
    vec![
        ("MLE_STAR_TEST_CHROMIUM", installed(&["chromium", "chromium-browser", "google-chrome"])),
        ("MLE_STAR_TEST_CHROMEDRIVER", installed(&["chromedriver"])),
        ("MLE_STAR_TEST_AXE", audit),
    ]
}

/// What only the daily tests need. Those of the real `claude` and `codex` run where a network can be closed.
pub fn of_deep_tests() -> Needs {
    let mut unshare = Command::new("unshare");
    unshare.args(["--map-root-user", "--net", "true"]);
    let closed =
        succeeds(unshare).then_some(()).ok_or("network namespaces are not permitted here".to_owned());
    let claude = || packaged(&environment("claude")?, "claude_agent_sdk/_bundled/claude");
    let made = |name: &str| {
        let python = target().join(name).join("bin/python3");
        python.exists().then_some(python).ok_or_else(|| format!("no {name}: its install.sh was not run"))
    };
    vec![
        ("MLE_STAR_TEST_CLAUDE", closed.clone().and_then(|()| claude())),
        ("MLE_STAR_TEST_CODEX", closed.and_then(|()| codex())),
        ("MLE_STAR_TEST_MCP", environment("mcp-client")),
        ("MLE_STAR_TEST_MLFLOW", environment("mlflow")),
        ("MLE_STAR_TEST_RAY", made("ray")),
        ("MLE_STAR_TEST_MLEBENCH_PYTHON", made("mle-bench")),
    ]
}

/// The program's own Python environment, made if it does not exist by a test of `tests`. So xtask does not depend on the
/// program, which would be compiled twice.
pub fn of_scripts(tests: &Path) -> Needs {
    let made = || {
        let mut maker = Command::new(tests);
        maker.args(["--ignored", "--nocapture", "program_environment_maker"]).current_dir(root());
        let (_, text) = watched(maker).map_err(|error| error.to_string())?;
        let found = text.lines().find_map(|line| line.split_once("found: "));
        let found: serde_json::Value =
            found.and_then(|(_, json)| serde_json::from_str(json).ok()).unwrap_or_default();
        let python = found["Ok"]["python"].as_str().map(PathBuf::from);
        python.ok_or_else(|| format!("the Python environment cannot be made: {}", found["Err"]))
    };
    let python = made();
    vec![("MLE_STAR_TEST_PYTHON", python.clone()), ("MLE_STAR_DATA_PYTHON", python)]
}

/// A file of a package in an environment.
fn packaged(python: &Path, name: &str) -> Result<PathBuf, String> {
    let libraries = python.with_file_name("").join("../lib");
    let versions = fs::read_dir(&libraries).into_iter().flatten().flatten();
    let mut files = versions.map(|version| version.path().join("site-packages").join(name));
    files.find(|file| file.exists()).ok_or_else(|| format!("{} has no {name}", libraries.display()))
}

/// The executable of `codex`, which the npm package of one platform holds.
fn codex() -> Result<PathBuf, String> {
    let folder = target().join("codex-cli").join(CODEX);
    let (processor, triple) = match ARCH {
        "aarch64" => ("arm64", "aarch64-unknown-linux-musl"),
        _ => ("x64", "x86_64-unknown-linux-musl"),
    };
    let executable = folder.join(format!("node_modules/@openai/codex/vendor/{triple}/bin/codex"));
    if !executable.exists() {
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-save", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"]);
        // All platforms are versions of one package.
        npm.arg(&folder).arg(format!("@openai/codex@{CODEX}-linux-{processor}"));
        succeeds(npm);
    }
    executable.exists().then_some(executable).ok_or_else(|| "codex cannot be installed".to_owned())
}
