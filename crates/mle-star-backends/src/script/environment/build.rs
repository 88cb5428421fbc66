//! Creates the program's own environment once, and finds it again.
//!
//! It lies in the user's cache under a digest of the lock file, the interpreter's version and the platform. Virtual
//! environments contain absolute paths, so it is built in its final place, in two parts: what the data plane needs, then what
//! scripts need. A part is complete once it has its file, which is written last. A build that was killed leaves none, and the
//! next one starts that part over.

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
/// The libraries among them that the data plane needs.
const PLANE: [&str; 11] = [
    "backports-zstd",
    "cloudpickle",
    "fastexcel",
    "joblib",
    "narwhals",
    "numpy",
    "polars",
    "polars-runtime-32",
    "scikit-learn",
    "scipy",
    "threadpoolctl",
];
/// Installed with pip to install the rest, if uv is not on PATH.
const UV: &str = "uv==0.13.8";
/// How often a long step reports progress.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(5);
/// How often to check whether a build by another process has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// Settings of the user's shell that would redirect an installation, beside those of Python itself.
const REMOVED_VARIABLES: [&str; 4] = ["VIRTUAL_ENV", "PIP_TARGET", "PIP_USER", "PIP_REQUIRE_VIRTUALENV"];

/// A part of the environment, made one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// What the data plane needs.
    Plane,
    /// All libraries.
    All,
}

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

/// The program's own environment with the libraries of this part, created if it does not exist.
pub(super) async fn ensure(part: Part, print: &(dyn Fn(&str) + Sync)) -> Result<Environment, Trouble> {
    let base = interpreter::on_path().await?;
    let home = home(&base)?;
    if let Some(found) = finished(&home, part) {
        return Ok(found);
    }
    let progress = Progress { print, started: Instant::now() };
    let parent = home.parent().unwrap_or(&home);
    fs::create_dir_all(parent).map_err(|error| broken_cache(parent, &error))?;
    let _lock = lock(&home.with_extension("lock"), &progress).await?;
    // Another process may have created it while this one waited.
    if let Some(found) = finished(&home, part) {
        return Ok(found);
    }
    let environment = build(part, &home, &base, &progress).await?;
    progress.report("the Python environment is ready");
    Ok(environment)
}

/// The program's own environment, if it exists.
pub(super) async fn existing() -> Option<Environment> {
    let base = interpreter::on_path().await.ok()?;
    finished(&home(&base).ok()?, Part::All)
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

/// The environment in `home`, if this part is complete and its interpreter still exists.
fn finished(home: &Path, part: Part) -> Option<Environment> {
    let read = |part: Part| {
        let text = fs::read(home.join(part.mark())).ok()?;
        let environment: Environment = serde_json::from_slice(&text).ok()?;
        (environment.python.starts_with(home) && environment.python.exists()).then_some(environment)
    };
    read(Part::All).or_else(|| read(part))
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
                sleep(POLL_INTERVAL).await;
            }
        }
    }
}

async fn build(
    part: Part,
    home: &Path,
    base: &Interpreter,
    progress: &Progress<'_>,
) -> Result<Environment, Trouble> {
    if finished(home, Part::Plane).is_none() {
        remove_tree(home)
            .and_then(|()| fs::create_dir(home))
            .and_then(|()| fs::write(home.join(Part::Plane.requirements()), plane_digest()))
            .and_then(|()| fs::write(home.join(Part::All.requirements()), LOCK))
            .map_err(|error| broken_cache(home, &error))?;
        progress.report("creating the Python environment; this happens once");
        build_part(Part::Plane, home, base, progress).await?;
    }
    if part == Part::All {
        build_part(Part::All, home, base, progress).await?;
    }
    let environment = finished(home, part);
    environment.ok_or_else(|| broken_cache(home, &io::Error::other("it was removed while it was made")))
}

/// Installs the libraries of a part, and marks it as complete.
async fn build_part(
    part: Part,
    home: &Path,
    base: &Interpreter,
    progress: &Progress<'_>,
) -> Result<(), Trouble> {
    match with_uv(part, home, base, progress).await {
        Ok(()) => {}
        Err(Failure { obstacle: Some(obstacle), pip_failed: true, .. }) => return Err(obstacle.trouble()),
        Err(Failure { reason, .. }) => {
            progress.report(&format!("uv failed ({reason}); using venv and pip"));
            with_pip(part, home, base, progress).await?;
        }
    }
    if part == Part::All {
        for scaffold in ["uv", "uv-cache"] {
            remove_tree(&home.join(scaffold)).map_err(|error| broken_cache(home, &error))?;
        }
    }
    let python = home.join("venv/bin/python");
    let libraries = interpreter::libraries(&python).await?;
    let environment = Environment { origin: Origin::Own, python, version: base.version(), libraries };
    mark_complete(part, home, &environment).map_err(|error| broken_cache(home, &error))
}

impl Part {
    /// The file that says that it is complete.
    fn mark(self) -> &'static str {
        match self {
            Self::Plane => "plane.json",
            Self::All => "complete.json",
        }
    }

    /// The file with its libraries.
    fn requirements(self) -> &'static str {
        match self {
            Self::Plane => "plane.txt",
            Self::All => "requirements.txt",
        }
    }
}

/// The lines of the lock file that the data plane needs.
fn plane_digest() -> String {
    let is_needed = |line: &&str| line.split_once("==").is_some_and(|(name, _)| PLANE.contains(&name));
    LOCK.split_inclusive('\n').filter(is_needed).collect()
}

fn mark_complete(part: Part, home: &Path, environment: &Environment) -> io::Result<()> {
    let draft = home.join("complete.draft");
    fs::write(&draft, serde_json::to_vec_pretty(environment)?)?;
    fs::rename(draft, home.join(part.mark()))
}

/// Installs a part with uv from PATH, or else with one that pip installs. The error is the cause.
async fn with_uv(
    part: Part,
    home: &Path,
    base: &Interpreter,
    progress: &Progress<'_>,
) -> Result<(), Failure> {
    // Runs uv rather than look it up: one that is on PATH may not work.
    let mut uv = PathBuf::from("uv");
    let mut uses = Vec::new();
    let mut version = command(&uv, home);
    version.arg("--version");
    if run(version, "looking for uv", progress).await.is_err() {
        uv = home.join("uv/bin/uv");
        if !uv.exists() {
            let mut pip = command(&base.python, home);
            pip.args([
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
                "--target",
                "uv",
                UV,
            ]);
            let got = run(pip, "getting uv", progress).await;
            got.map_err(|failure| Failure { pip_failed: true, ..failure })?;
        }
        // A cache on the disk of the environment, removed later: files are linked, not copied.
        uses = vec!["--cache-dir".into(), home.join("uv-cache").into_os_string()];
    }
    if part == Part::Plane {
        let mut venv = command(&uv, home);
        venv.args(&uses).args(["venv", "--quiet", "--python"]).arg(&base.python).arg("venv");
        run(venv, "creating a virtual environment", progress).await?;
    }
    let mut install = command(&uv, home);
    install.args(&uses).args(["pip", "install", "--python", "venv/bin/python", "--compile-bytecode"]);
    install.args(["--no-deps", "--only-binary", ":all:", "-r", part.requirements()]);
    install.args(registry::is_registry_disabled().then_some("--no-index"));
    run(install, "installing the libraries with uv", progress).await
}

async fn with_pip(
    part: Part,
    home: &Path,
    base: &Interpreter,
    progress: &Progress<'_>,
) -> Result<(), Trouble> {
    let failed = |what: &str, reason: &str, hint: &str| Trouble::new(format!("{what}: {reason}"), hint);
    if part == Part::Plane {
        remove_tree(&home.join("venv")).map_err(|error| broken_cache(home, &error))?;
    }
    // One that uv made has no pip, and gets it here.
    let mut venv = command(&base.python, home);
    venv.args(["-m", "venv", "venv"]);
    run(venv, "creating a virtual environment", progress).await.map_err(|Failure { reason, .. }| {
        let hint =
            "install Python's venv module (Debian: python3-venv) or uv, or set `python` to an interpreter";
        failed("cannot create the Python environment", &reason, hint)
    })?;
    let mut install = command(&home.join("venv/bin/python"), home);
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    install.args(["--no-deps", "--only-binary", ":all:", "-r", part.requirements()]);
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
    for name in of_python.chain(REMOVED_VARIABLES.map(OsString::from)) {
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
    let mut ticks = interval(PROGRESS_INTERVAL);
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
