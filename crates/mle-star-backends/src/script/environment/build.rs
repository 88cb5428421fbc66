//! Creates the program's own environment once, and finds it again.
//!
//! It lies in the user's cache under a digest of the lock file, the interpreter's version and the platform. Virtual
//! environments contain absolute paths, so it is built in its final place. It is complete once it has the file
//! `complete.json`, which is written last. A build that was killed leaves none, and the next one starts over.

use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::process::Stdio;
use std::time::{Duration, Instant};

use mle_star::journal::{Lock, try_lock};
use mle_star_domain::trouble::Trouble;
use mle_star_process::remove::remove_tree;
use mle_star_process::variables::is_of_python;
use mle_star_process::{ProcessTree, Streams};
use tokio::io::AsyncReadExt;
use tokio::process::Command;
use tokio::time::{interval, sleep};

use super::interpreter::{self, Interpreter};
use super::registry::{self, Obstacle};
use super::{Environment, Origin};

/// The libraries with their exact versions, for every Python since 3.11: all that they need, but for what CatBoost draws with in
/// notebooks (plotly, graphviz), a fifth of the installation.
const LOCK: &str = include_str!("../../../python/requirements.lock");
/// Installed with pip to install the rest, if uv is not on PATH.
const UV: &str = "uv==0.13.8";
/// How often a long step reports progress.
const TICK: Duration = Duration::from_secs(5);
/// How often to check whether a build by another process has ended.
const LOOK_AGAIN: Duration = Duration::from_millis(500);
/// Settings of the user's shell that would redirect an installation, beside those of Python itself.
const MISLEADING: [&str; 4] = ["VIRTUAL_ENV", "PIP_TARGET", "PIP_USER", "PIP_REQUIRE_VIRTUALENV"];

/// Why a step failed.
struct Failure {
    reason: String,
    /// What kept it from the registry.
    obstacle: Option<Obstacle>,
    /// Whether pip failed while it installed uv, so that installing everything with pip would fail, too.
    pip_failed: bool,
}

/// Reports the current step and the time since the start.
struct Progress<'a> {
    print: &'a (dyn Fn(&str) + Sync),
    started: Instant,
}

/// The program's own environment, created if it does not exist.
pub(super) async fn own(print: &(dyn Fn(&str) + Sync)) -> Result<Environment, Trouble> {
    let base = interpreter::on_path().await?;
    let home = home(&base)?;
    if let Some(found) = finished(&home) {
        return Ok(found);
    }
    let progress = Progress { print, started: Instant::now() };
    let parent = home.parent().unwrap_or(&home);
    fs::create_dir_all(parent).map_err(|error| broken_cache(parent, &error))?;
    let _lock = lock(&home.with_extension("lock"), &progress).await?;
    // Another process may have created it while this one waited.
    if let Some(found) = finished(&home) {
        return Ok(found);
    }
    let environment = build(&home, &base, &progress).await?;
    progress.report("the Python environment is ready");
    Ok(environment)
}

/// The program's own environment, if it exists.
pub(super) async fn made() -> Option<Environment> {
    let base = interpreter::on_path().await.ok()?;
    finished(&home(&base).ok()?)
}

/// The folder of the environment based on `base`.
fn home(base: &Interpreter) -> Result<PathBuf, Trouble> {
    Ok(cache()?.join("python").join(key(base)))
}

/// `MLE_STAR_CACHE`, or else `mle-star` in the user's cache folder.
pub(super) fn cache() -> Result<PathBuf, Trouble> {
    let folder = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let found = folder("MLE_STAR_CACHE")
        .or_else(|| Some(folder("XDG_CACHE_HOME").filter(|path| path.is_absolute())?.join("mle-star")))
        .or_else(|| Some(env::home_dir()?.join(".cache").join("mle-star")));
    let cache = found.ok_or_else(|| {
        Trouble::new("there is no cache folder: HOME is not set", "set MLE_STAR_CACHE to a folder")
    })?;
    std::path::absolute(&cache).map_err(|error| broken_cache(&cache, &error))
}

fn key(base: &Interpreter) -> String {
    let all = format!("{LOCK}\n{}\n{}", base.version(), base.platform);
    let digest = blake3::hash(all.as_bytes()).to_hex();
    format!("{}-{}", base.version().replace('.', "_"), &digest[..12])
}

/// The environment in `home`, if it is complete and its interpreter still exists.
fn finished(home: &Path) -> Option<Environment> {
    let text = fs::read(home.join("complete.json")).ok()?;
    let environment: Environment = serde_json::from_slice(&text).ok()?;
    (environment.python.starts_with(home) && environment.python.exists()).then_some(environment)
}

/// Waits until no other process builds here. The lock is released with the file or when the process ends.
async fn lock(path: &Path, progress: &Progress<'_>) -> Result<(File, Lock), Trouble> {
    let file = File::create(path).map_err(|error| broken_cache(path, &error))?;
    let mut reported = false;
    loop {
        match try_lock(&file, path) {
            Ok(Some(lock)) => return Ok((file, lock)),
            Err(error) => return Err(broken_cache(path, &error)),
            Ok(None) => {
                if !reported {
                    progress.report("another mle-star is creating the Python environment, waiting for it");
                }
                reported = true;
                sleep(LOOK_AGAIN).await;
            }
        }
    }
}

async fn build(home: &Path, base: &Interpreter, progress: &Progress<'_>) -> Result<Environment, Trouble> {
    remove_tree(home)
        .and_then(|()| fs::create_dir(home))
        .and_then(|()| fs::write(home.join("requirements.txt"), LOCK))
        .map_err(|error| broken_cache(home, &error))?;
    progress.report("creating the Python environment; this happens once");
    match with_uv(home, base, progress).await {
        Ok(()) => {}
        Err(Failure { obstacle: Some(obstacle), pip_failed: true, .. }) => return Err(obstacle.trouble()),
        Err(Failure { reason, .. }) => {
            progress.report(&format!("uv failed ({reason}); using venv and pip"));
            with_pip(home, base, progress).await?;
        }
    }
    for scaffold in ["uv", "uv-cache"] {
        remove_tree(&home.join(scaffold)).map_err(|error| broken_cache(home, &error))?;
    }
    let python = home.join("venv/bin/python");
    let libraries = interpreter::libraries(&python).await?;
    let environment = Environment { origin: Origin::Own, python, version: base.version(), libraries };
    mark_complete(home, &environment).map_err(|error| broken_cache(home, &error))?;
    Ok(environment)
}

fn mark_complete(home: &Path, environment: &Environment) -> io::Result<()> {
    let draft = home.join("complete.draft");
    fs::write(&draft, serde_json::to_vec_pretty(environment)?)?;
    fs::rename(draft, home.join("complete.json"))
}

/// Creates `venv` with uv from PATH, or else with one that pip installs. The error is the cause.
async fn with_uv(home: &Path, base: &Interpreter, progress: &Progress<'_>) -> Result<(), Failure> {
    // Runs uv rather than look it up: one that is on PATH may not work.
    let mut uv = PathBuf::from("uv");
    let mut uses = Vec::new();
    let mut version = command(&uv, home);
    version.arg("--version");
    if run(version, "looking for uv", progress).await.is_err() {
        let mut pip = command(&base.python, home);
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", "uv", UV]);
        let got = run(pip, "getting uv", progress).await;
        got.map_err(|failure| Failure { pip_failed: true, ..failure })?;
        uv = home.join("uv/bin/uv");
        // A cache on the disk of the environment, removed later: files are linked, not copied.
        uses = vec!["--cache-dir".into(), home.join("uv-cache").into_os_string()];
    }
    remove_tree(&home.join("venv"))?;
    let mut venv = command(&uv, home);
    venv.args(&uses).args(["venv", "--quiet", "--python"]).arg(&base.python).arg("venv");
    run(venv, "creating a virtual environment", progress).await?;
    let mut install = command(&uv, home);
    install.args(&uses).args(["pip", "install", "--python", "venv/bin/python", "--compile-bytecode"]);
    install.args(["--no-deps", "--only-binary", ":all:", "-r", "requirements.txt"]);
    install.args(registry::is_registry_disabled().then_some("--no-index"));
    run(install, "installing the libraries with uv", progress).await
}

async fn with_pip(home: &Path, base: &Interpreter, progress: &Progress<'_>) -> Result<(), Trouble> {
    let failed = |what: &str, reason: &str, hint: &str| Trouble::new(format!("{what}: {reason}"), hint);
    remove_tree(&home.join("venv")).map_err(|error| broken_cache(home, &error))?;
    let mut venv = command(&base.python, home);
    venv.args(["-m", "venv", "venv"]);
    run(venv, "creating a virtual environment", progress).await.map_err(|Failure { reason, .. }| {
        let hint =
            "install Python's venv module (Debian: python3-venv) or uv, or set `python` to an interpreter";
        failed("cannot create the Python environment", &reason, hint)
    })?;
    let mut install = command(&home.join("venv/bin/python"), home);
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    install.args(["--no-deps", "--only-binary", ":all:", "-r", "requirements.txt"]);
    run(install, "installing the libraries with pip", progress).await.map_err(
        |Failure { reason, obstacle, .. }| {
            if let Some(obstacle) = obstacle {
                return obstacle.trouble();
            }
            let hint = "check the network and the free disk space, or set `python` to an interpreter";
            failed("cannot install the Python libraries", &reason, hint)
        },
    )
}

fn command(program: &Path, home: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(home);
    let of_python = env::vars_os().map(|(name, _)| name).filter(|name| is_of_python(&name.to_string_lossy()));
    for name in of_python.chain(MISLEADING.map(OsString::from)) {
        command.env_remove(name);
    }
    registry::share_settings(&mut command);
    command
}

/// Runs one step to its end and reports progress. The error is the cause that the step printed.
///
/// It runs under a supervisor, like a script: an installer that outlived this process would disturb the next build.
async fn run(command: Command, doing: &str, progress: &Progress<'_>) -> Result<(), Failure> {
    let mut step = pin!(output(command));
    let mut ticks = interval(TICK);
    ticks.tick().await;
    let output = loop {
        tokio::select! {
            output = &mut step => break output,
            _ = ticks.tick() => progress.report(doing),
        }
    };
    let (succeeded, printed) = output?;
    if succeeded {
        return Ok(());
    }
    let obstacle = Obstacle::reported_in(&printed);
    let reason = obstacle.map(Obstacle::reason).or_else(|| cause(&printed)).unwrap_or("it printed no error");
    Err(Failure { reason: reason.to_owned(), obstacle, pip_failed: false })
}

/// Did it succeed, and what did it print to both streams?
async fn output(command: Command) -> io::Result<(bool, String)> {
    let (mut tree, Streams { mut stdout, mut stderr, .. }) = ProcessTree::spawn(command, Stdio::null())?;
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let (_, _, ending) =
        tokio::try_join!(stdout.read_to_end(&mut out), stderr.read_to_end(&mut err), tree.ended())?;
    let succeeded = ending.status.is_some_and(|status| status.success());
    Ok((succeeded, String::from_utf8_lossy(&[out, err].concat()).into_owned()))
}

/// The line that names the cause: the one that pip and uv mark, or else the last one.
fn cause(printed: &str) -> Option<&str> {
    let mut lines = printed.lines().map(str::trim).filter(|line| !line.is_empty()).rev();
    let marked = lines.clone().find(|line| line.starts_with("ERROR:") || line.starts_with("error:"));
    marked.or_else(|| lines.next())
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self { reason: error.to_string(), obstacle: None, pip_failed: false }
    }
}

impl Progress<'_> {
    fn report(&self, doing: &str) {
        (self.print)(&format!("{doing} · {} s", self.started.elapsed().as_secs()));
    }
}

fn broken_cache(path: &Path, error: &io::Error) -> Trouble {
    let hint = match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "free disk space, or set MLE_STAR_CACHE to another folder"
        }
        // XDG_CACHE_HOME or HOME led there, if not this variable itself.
        _ => "make the folder writable, or set MLE_STAR_CACHE to one that is",
    };
    Trouble { hint: hint.to_owned(), ..Trouble::io("use the cache", path, error) }
}
