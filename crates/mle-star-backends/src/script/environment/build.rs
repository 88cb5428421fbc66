//! Makes the program's own environment, once, and finds it again.
//!
//! It lives in the user's cache under a digest of the lock file, the interpreter's version and the platform.
//! Virtual environments hold absolute paths, so it is built where it stays; only the file `complete.json`,
//! written last, makes it count. A build that was killed leaves none, and the next one starts over.

use std::env;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::process::Stdio;
use std::time::{Duration, Instant};

use mle_star::stop::Trouble;
use tokio::io::AsyncReadExt;
use tokio::process::Command;
use tokio::time::{interval, sleep};

use super::interpreter::{self, Interpreter};
use super::{Environment, Origin};
use crate::process::{Streams, Tree};
use crate::script::workplace::broken;
use mle_star_data::removal::remove_tree;

/// The libraries with their exact versions, for every Python from 3.11 on.
const LOCK: &str = include_str!("../../../python/requirements.lock");
/// What is installed to install the rest, where uv is not on PATH.
const UV: &str = "uv==0.13.8";
/// How often a long step says that it goes on.
const TICK: Duration = Duration::from_secs(5);
/// How often a build by another process is looked at.
const LOOK_AGAIN: Duration = Duration::from_millis(500);
/// Settings of the user's shell that would lead an installation elsewhere.
const MISLEADING: [&str; 6] =
    ["PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "PIP_TARGET", "PIP_USER", "PIP_REQUIRE_VIRTUALENV"];

/// Says what is being done and for how long.
struct Progress<'a> {
    say: &'a (dyn Fn(&str) + Sync),
    started: Instant,
}

/// The program's own environment, made when it is not there yet.
pub(super) async fn own(say: &(dyn Fn(&str) + Sync)) -> Result<Environment, Trouble> {
    let base = interpreter::on_path().await?;
    let home = home(&base)?;
    if let Some(found) = finished(&home) {
        return Ok(found);
    }
    let progress = Progress { say, started: Instant::now() };
    let parent = home.parent().unwrap_or(&home);
    fs::create_dir_all(parent).map_err(|error| broken_cache(parent, &error))?;
    let _lock = lock(&home.with_extension("lock"), &progress).await?;
    // Another process may have made it while this one waited.
    if let Some(found) = finished(&home) {
        return Ok(found);
    }
    let environment = build(&home, &base, &progress).await?;
    progress.report("the Python environment is ready");
    Ok(environment)
}

/// The program's own environment, when it is there.
pub(super) async fn made() -> Option<Environment> {
    let base = interpreter::on_path().await.ok()?;
    finished(&home(&base).ok()?)
}

/// Where the environment on top of `base` lives.
fn home(base: &Interpreter) -> Result<PathBuf, Trouble> {
    Ok(cache()?.join("python").join(key(base)))
}

/// `MLE_STAR_CACHE`, else `mle-star` in the user's cache folder.
fn cache() -> Result<PathBuf, Trouble> {
    let folder = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let found = folder("MLE_STAR_CACHE")
        .or_else(|| Some(folder("XDG_CACHE_HOME").filter(|path| path.is_absolute())?.join("mle-star")))
        .or_else(|| Some(env::home_dir()?.join(".cache").join("mle-star")));
    let cache = found.ok_or_else(|| {
        Trouble::new("there is no cache folder: HOME is not set", "name one with MLE_STAR_CACHE")
    })?;
    std::path::absolute(&cache).map_err(|error| broken_cache(&cache, &error))
}

fn key(base: &Interpreter) -> String {
    let all = format!("{LOCK}\n{}\n{}", base.version(), base.platform);
    let digest = blake3::hash(all.as_bytes()).to_hex();
    format!("{}-{}", base.version().replace('.', "_"), &digest[..12])
}

/// The environment at `home`, when it was made to its end and its interpreter is still there.
fn finished(home: &Path) -> Option<Environment> {
    let text = fs::read(home.join("complete.json")).ok()?;
    let environment: Environment = serde_json::from_slice(&text).ok()?;
    (environment.python.starts_with(home) && environment.python.exists()).then_some(environment)
}

/// Waits until no other process builds here. The lock ends with the file, or with the process.
async fn lock(path: &Path, progress: &Progress<'_>) -> Result<File, Trouble> {
    let file = File::create(path).map_err(|error| broken_cache(path, &error))?;
    let mut told = false;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(error)) => return Err(broken_cache(path, &error)),
            Err(TryLockError::WouldBlock) => {
                if !told {
                    progress.report("another mle-star is making the Python environment, waiting for it");
                }
                told = true;
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
    progress.report("making the Python environment; this happens once");
    if let Err(reason) = with_uv(home, base, progress).await {
        progress.report(&format!("uv did not do it ({reason}); using venv and pip"));
        with_pip(home, base, progress).await?;
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

/// Makes `venv` with uv from PATH, else with one that pip can install; the error is the reason why not.
async fn with_uv(home: &Path, base: &Interpreter, progress: &Progress<'_>) -> Result<(), String> {
    let mut uv = PathBuf::from("uv");
    let mut uses = Vec::new();
    let mut version = command(&uv, home);
    version.arg("--version");
    if run(version, "looking for uv", progress).await.is_err() {
        let mut pip = command(&base.python, home);
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", "uv", UV]);
        run(pip, "getting uv", progress).await?;
        uv = home.join("uv/bin/uv");
        // Its own cache, on the disk of the environment: files are linked, not copied, and the cache goes.
        uses = vec!["--cache-dir".into(), home.join("uv-cache").into_os_string()];
    }
    remove_tree(&home.join("venv")).map_err(|error| error.to_string())?;
    let mut venv = command(&uv, home);
    venv.args(&uses).args(["venv", "--quiet", "--python"]).arg(&base.python).arg("venv");
    run(venv, "making a virtual environment", progress).await?;
    let mut install = command(&uv, home);
    install.args(&uses).args(["pip", "install", "--python", "venv/bin/python", "--compile-bytecode"]);
    install.args(["--only-binary", ":all:", "-r", "requirements.txt"]);
    run(install, "installing the libraries with uv", progress).await
}

async fn with_pip(home: &Path, base: &Interpreter, progress: &Progress<'_>) -> Result<(), Trouble> {
    let failed = |what: &str, reason: &str, hint: &str| Trouble::new(format!("{what}: {reason}"), hint);
    remove_tree(&home.join("venv")).map_err(|error| broken_cache(home, &error))?;
    let mut venv = command(&base.python, home);
    venv.args(["-m", "venv", "venv"]);
    run(venv, "making a virtual environment", progress).await.map_err(|reason| {
        let hint =
            "install Python's venv module (Debian: python3-venv) or uv, or give an interpreter with `python`";
        failed("the Python environment cannot be made", &reason, hint)
    })?;
    let mut install = command(&home.join("venv/bin/python"), home);
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    install.args(["--only-binary", ":all:", "-r", "requirements.txt"]);
    run(install, "installing the libraries with pip", progress).await.map_err(|reason| {
        let hint = "check the network and the free disk space, or give an interpreter with `python`";
        failed("the Python libraries cannot be installed", &reason, hint)
    })
}

fn command(program: &Path, home: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(home);
    for name in MISLEADING {
        command.env_remove(name);
    }
    command
}

/// Runs one step to its end, saying that it goes on; the error is what the step said last.
///
/// Under a guard, like a script: an installer that outlived this process would disturb the next build.
async fn run(command: Command, doing: &str, progress: &Progress<'_>) -> Result<(), String> {
    let mut step = pin!(output(command));
    let mut ticks = interval(TICK);
    ticks.tick().await;
    let output = loop {
        tokio::select! {
            output = &mut step => break output,
            _ = ticks.tick() => progress.report(doing),
        }
    };
    let (succeeded, said) = output.map_err(|error| error.to_string())?;
    if succeeded {
        return Ok(());
    }
    Err(cause(&said).unwrap_or("it failed without a word").to_owned())
}

/// Did it succeed, and what did it print on both streams?
async fn output(command: Command) -> io::Result<(bool, String)> {
    let (mut tree, Streams { mut stdout, mut stderr, .. }) = Tree::spawn(command, Stdio::null())?;
    let (mut said, mut complained) = (Vec::new(), Vec::new());
    let (_, _, ending) =
        tokio::try_join!(stdout.read_to_end(&mut said), stderr.read_to_end(&mut complained), tree.ended())?;
    let said = [said, complained].concat();
    let succeeded = ending.status.is_some_and(|status| status.success());
    Ok((succeeded, String::from_utf8_lossy(&said).into_owned()))
}

/// The line that names the cause: pip and uv mark it, and say more below; else the last line.
fn cause(said: &str) -> Option<&str> {
    let mut lines = said.lines().map(str::trim).filter(|line| !line.is_empty()).rev();
    let marked = lines.clone().find(|line| line.starts_with("ERROR:") || line.starts_with("error:"));
    marked.or_else(|| lines.next())
}

impl Progress<'_> {
    fn report(&self, doing: &str) {
        (self.say)(&format!("{doing} · {} s", self.started.elapsed().as_secs()));
    }
}

fn broken_cache(path: &Path, error: &io::Error) -> Trouble {
    let trouble = broken("use the cache", path, error);
    Trouble {
        hint: "make room or make it writable, or name another folder with MLE_STAR_CACHE".to_owned(),
        ..trouble
    }
}
