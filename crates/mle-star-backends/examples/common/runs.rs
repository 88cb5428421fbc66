//! Runs of the program on generated tasks.
//!
//! A folder has the tasks, and beside each task its runs: `TASK-SEED/`, `TASK-SEED.runs/NAME-SECONDS/`. A run that has
//! ended is not repeated, so a measurement can be interrupted and extended. `NAME-SECONDS.ended.json` says how it ended and
//! which build made it, so that runs of different builds are not mixed.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use mle_star_domain::layout;
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use super::Failure;
use super::statistics::Case;
use super::tasks::{self, Made, Task};

/// The ending of the files that say how runs ended.
const ENDED: &str = "ended.json";
/// The program's exit statuses if a run fails, or ends at a limit before it has a solution.
const FAILED: [i32; 2] = [1, 4];

/// A task that is drawn with a seed.
#[derive(Clone, Copy)]
pub struct Drawn {
    /// The task.
    pub task: &'static Task,
    /// The seed.
    pub seed: u64,
}

/// The program to measure.
pub struct Program {
    path: PathBuf,
    build: String,
}

/// How a run ended.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct End {
    /// The build that made it: the beginning of the executable's hash.
    pub build: String,
    /// Whether it has no result. Such a run is not repeated either, since runs must not be chosen by success.
    pub failed: bool,
    /// Seconds of the whole process.
    pub seconds: f64,
}

/// One run of the program.
pub struct Run {
    /// What it solves.
    pub drawn: Drawn,
    /// The name of the settings or of the build.
    pub name: String,
    /// The time limit.
    pub seconds: u64,
    /// Further options of the program.
    pub options: Vec<String>,
}

/// Does jobs side by side and tells on standard error how each ended. `work` gets a job and the cores that it may use,
/// as a list of `taskset`.
pub fn side_by_side<J: Send>(
    jobs: Vec<J>,
    at_once: usize,
    name: impl Fn(&J) -> String + Sync,
    work: impl Fn(&J, &str) -> String + Sync,
) {
    let (count, queue) = (jobs.len(), Mutex::new((1..).zip(jobs).collect::<VecDeque<_>>()));
    let next = &|| queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    let (name, work, allowed) = (&name, &work, &allowed_cores());
    thread::scope(|scope| {
        for worker in 0..at_once {
            scope.spawn(move || {
                let cores = cores(allowed, worker, at_once);
                while let Some((number, job)) = next() {
                    eprintln!("[{number}/{count}] {}: {}", name(&job), work(&job, &cores));
                }
            });
        }
    });
}

/// Runs a command with these cores and its output in a file.
///
/// # Errors
/// The file cannot be written, or the command cannot be started.
pub fn logged(command: &Command, cores: &str, log: &Path) -> io::Result<ExitStatus> {
    let log = File::create(log)?;
    let mut pinned = Command::new("taskset");
    pinned.args(["--cpu-list", cores]).arg(command.get_program()).args(command.get_args());
    pinned.stdout(log.try_clone()?).stderr(log).status()
}

/// How a command ended that began then, in words.
pub fn in_words(status: ExitStatus, began: Instant, log: &Path) -> String {
    match status.success() {
        true => format!("{:.0} s", began.elapsed().as_secs_f64()),
        false => format!("{status}, see {}", log.display()),
    }
}

impl Drawn {
    /// The name of the task, and the seed.
    pub fn case(&self) -> Case {
        (self.task.name, self.seed)
    }

    /// The folder of the task.
    pub fn folder(&self, folder: &Path) -> PathBuf {
        folder.join(format!("{}-{}", self.task.name, self.seed))
    }

    /// The folder beside it with this ending.
    pub fn beside(&self, folder: &Path, ending: &str) -> PathBuf {
        folder.join(format!("{}-{}.{ending}", self.task.name, self.seed))
    }

    /// Writes the task once. Runs notice when their data changes.
    ///
    /// # Errors
    /// A file cannot be written, or the folder has another task of this name.
    pub fn prepare(&self, folder: &Path) -> Result<(), Failure> {
        self.redrawn(folder)?;
        if !self.folder(folder).join(tasks::ANSWERS).is_file() {
            tasks::write(self.task, self.seed, &self.folder(folder))?;
        }
        Ok(())
    }

    /// The task, drawn again to another folder.
    ///
    /// # Errors
    /// A file cannot be read or written, or the folder has another task of this name.
    pub fn redrawn(&self, folder: &Path) -> Result<(TempDir, Made), Failure> {
        let (scratch, written) = (tempfile::tempdir()?, self.folder(folder));
        let made = tasks::write(self.task, self.seed, scratch.path())?;
        if written.join(tasks::ANSWERS).is_file() {
            let tables = fs::read_dir(scratch.path().join("data"))?.map(|entry| Ok(entry?.path()));
            let mut files = tables.collect::<io::Result<Vec<_>>>()?;
            files.push(scratch.path().join(tasks::ANSWERS));
            for file in files {
                let same = written.join(file.strip_prefix(scratch.path())?);
                if fs::read(&same).ok() != Some(fs::read(&file)?) {
                    let same = same.display();
                    return Err(format!("{same} is not what today's rules draw; use another --out").into());
                }
            }
        }
        Ok((scratch, made))
    }
}

impl Program {
    /// A copy of an executable in a folder, so that a build meanwhile does not change it.
    ///
    /// # Errors
    /// It cannot be read or copied.
    pub fn copied(path: &Path, folder: &Path) -> Result<Self, Failure> {
        let unread = |error| format!("cannot read {}: {error}", path.display());
        let build = blake3::hash(&fs::read(path).map_err(unread)?).to_hex()[..16].to_owned();
        let copy = folder.join("programs").join(&build);
        if !copy.is_file() {
            fs::create_dir_all(folder.join("programs"))?;
            let draft = copy.with_extension("draft");
            fs::copy(path, &draft)?;
            fs::rename(draft, &copy)?;
        }
        Ok(Self { path: copy, build })
    }

    /// Fails if another build made runs of a folder whose names `is_compared` accepts.
    ///
    /// # Errors
    /// It did, or the folder cannot be read.
    pub fn made_all(&self, folder: &Path, is_compared: impl Fn(&str) -> bool) -> Result<(), Failure> {
        for runs in folders(folder, Run::ENDING)? {
            for file in folders(&runs, ENDED)? {
                let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
                let Some(end) = ended(&file).filter(|end| end.build != self.build && is_compared(&name))
                else {
                    continue;
                };
                return Err(format!(
                    "{} is of another build ({}, not {}); use another --out or --label, so that results are not mixed",
                    file.display(),
                    end.build,
                    self.build
                )
                .into());
            }
        }
        Ok(())
    }
}

/// What is in a folder and has this ending; nothing without the folder.
fn folders(folder: &Path, ending: &str) -> Result<Vec<PathBuf>, Failure> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let all = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    let ending = format!(".{ending}");
    Ok(all.into_iter().filter(|path| path.to_string_lossy().ends_with(&ending)).collect())
}

fn ended(file: &Path) -> Option<End> {
    serde_json::from_slice(&fs::read(file).ok()?).ok()
}

impl Run {
    /// The folders of all runs of a task end so.
    pub const ENDING: &str = "runs";

    /// The folder of the run.
    pub fn folder(&self, folder: &Path) -> PathBuf {
        self.drawn.beside(folder, Self::ENDING).join(self.id())
    }

    /// Task, seed and the name of the folder.
    pub fn name(&self) -> String {
        format!("{} {} {}", self.drawn.task.name, self.drawn.seed, self.id())
    }

    /// How it ended; `None` if it has to be made.
    pub fn end(&self, folder: &Path) -> Option<End> {
        let has_result = self.folder(folder).join(layout::RESULT).is_file();
        ended(&self.beside(folder, ENDED)).filter(|end| end.failed || has_result)
    }

    /// Makes the run from its beginning; returns how it ended, in words.
    pub fn make(&self, cores: &str, program: &Program, folder: &Path) -> String {
        self.try_to_make(cores, program, folder).unwrap_or_else(|error| error.to_string())
    }

    fn try_to_make(&self, cores: &str, program: &Program, folder: &Path) -> Result<String, Failure> {
        let (run, end, log) = (self.folder(folder), self.beside(folder, ENDED), self.beside(folder, "log"));
        if run.exists() {
            fs::remove_dir_all(&run)?;
        }
        if end.exists() {
            fs::remove_file(&end)?;
        }
        let runs = self.drawn.beside(folder, Self::ENDING);
        fs::create_dir_all(&runs)?;
        let mut command = Command::new(&program.path);
        command.arg("run").arg(self.drawn.folder(folder)).arg("--runs-dir").arg(runs);
        command.args(["--run-id", &self.id(), "--time-limit", &self.seconds.to_string()]);
        command.args(["--agents", "offline"]).args(&self.options);
        let began = Instant::now();
        let status = logged(&command, cores, &log)?;
        let failed = !run.join(layout::RESULT).is_file();
        // Anything but a failure of a run that had begun says nothing about the program: a signal, a full disk.
        let has_begun = run.join(layout::JOURNAL).is_file();
        if !failed || has_begun && status.code().is_some_and(|code| FAILED.contains(&code)) {
            let (build, seconds) = (program.build.clone(), began.elapsed().as_secs_f64());
            fs::write(end, serde_json::to_vec(&End { build, failed, seconds })?)?;
        }
        Ok(in_words(status, began, &log))
    }

    fn beside(&self, folder: &Path, ending: &str) -> PathBuf {
        self.drawn.beside(folder, Self::ENDING).join(format!("{}.{ending}", self.id()))
    }

    fn id(&self) -> String {
        format!("{}-{}", self.name, self.seconds)
    }
}

/// The cores of a worker, of as many workers. Workers do not share cores if there are enough, since threads of boosted
/// models wait for each other.
fn cores(allowed: &[usize], worker: usize, workers: usize) -> String {
    let at = |share: usize| share * allowed.len() / workers;
    let first = at(worker);
    let own = &allowed[first..at(worker + 1).max(first + 1)];
    own.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
}

/// The cores that this process may use, as `/proc` lists them (`0-3,6`); otherwise all.
fn allowed_cores() -> Vec<usize> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let listed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).and_then(listed);
    listed.unwrap_or_else(|| (0..thread::available_parallelism().map_or(1, NonZero::get)).collect())
}

fn listed(list: &str) -> Option<Vec<usize>> {
    let mut cores = Vec::new();
    for part in list.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        cores.extend(first.parse::<usize>().ok()?..=last.parse().ok()?);
    }
    Some(cores)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_lie_beside_their_task() {
        let drawn = Drawn { task: &tasks::TASKS[0], seed: 2 };
        let run = Run { drawn, name: "paper".to_owned(), seconds: 60, options: Vec::new() };
        assert_eq!(run.name(), "loyalty 2 paper-60");
        assert_eq!(run.folder(Path::new("out")), Path::new("out/loyalty-2.runs/paper-60"));
        assert_eq!(run.end(Path::new("out")), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn runs_are_made_once_and_by_one_build() {
        use std::os::unix::fs::PermissionsExt;

        let folder = tempfile::tempdir().unwrap();
        let program = |does: &str| {
            let path = folder.path().join("program");
            // Words: run TASK --runs-dir FOLDER --run-id ID
            fs::write(&path, format!("#!/bin/sh\nmkdir -p \"$4/$6\"; cd \"$4/$6\"\n{does}\n")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            Program::copied(&path, folder.path()).unwrap()
        };
        let drawn = Drawn { task: &tasks::TASKS[0], seed: 2 };
        let run = Run { drawn, name: "v0.1".to_owned(), seconds: 60, options: Vec::new() };
        let (cores, at) = (cores(&allowed_cores(), 0, 1), folder.path());
        let make = |does: &str| run.make(&cores, &program(does), at);

        assert!(make("touch journal.db; exit 130").contains("130"));
        assert_eq!((make("exit 1").is_empty(), run.end(at)), (false, None));
        for status in [1, 4] {
            make(&format!("touch journal.db; exit {status}"));
            assert!(run.end(at).unwrap().failed, "{status}");
        }
        let working = "echo {} > result.json";
        let error = program(working).made_all(at, |_| true).unwrap_err().to_string();
        assert!(error.contains("loyalty-2.runs/v0.1-60.ended.json is of another build"), "{error}");
        program(working).made_all(at, |name| name.starts_with("v0.2-")).unwrap();
        assert_eq!(make(working), "0 s");
        let end = run.end(at).unwrap();
        assert!(end.build == program(working).build && !end.failed && end.seconds < 60.0, "{end:?}");
        program(working).made_all(at, |_| true).unwrap();
        fs::remove_dir_all(run.folder(at)).unwrap();
        assert_eq!(run.end(at), None);
    }

    #[test]
    fn a_folder_keeps_its_tasks() {
        let folder = tempfile::tempdir().unwrap();
        let drawn = Drawn { task: tasks::TASKS.iter().find(|task| task.name == "clinic").unwrap(), seed: 1 };
        let made = drawn.redrawn(folder.path()).unwrap().1;
        drawn.prepare(folder.path()).unwrap();
        drawn.prepare(folder.path()).unwrap();
        assert_eq!(made.best.to_bits(), drawn.redrawn(folder.path()).unwrap().1.best.to_bits());
        fs::write(drawn.folder(folder.path()).join("data/train.csv"), "id").unwrap();
        assert!(
            drawn
                .prepare(folder.path())
                .is_err_and(|error| error.to_string().contains("clinic-1/data/train.csv is not what"))
        );
    }

    #[test]
    fn workers_share_cores_only_if_there_are_too_few() {
        let check = |list: &str, workers: usize, expected: &[&str]| {
            let allowed = listed(list).unwrap();
            let found: Vec<String> = (0..workers).map(|worker| cores(&allowed, worker, workers)).collect();
            assert_eq!(found, expected, "{list}");
        };
        check("0-3", 2, &["0,1", "2,3"]);
        check("\t1", 2, &["1", "1"]);
        check("2-4,7", 3, &["2", "3", "4,7"]);
        assert_eq!(listed("none"), None);
        assert!(!allowed_cores().is_empty());
    }

    #[test]
    fn every_job_is_done_once() {
        let done = Mutex::new(Vec::new());
        side_by_side(
            (0..20).collect(),
            3,
            |job: &u32| job.to_string(),
            |job, _| {
                done.lock().unwrap().push(*job);
                String::new()
            },
        );
        let mut done = done.into_inner().unwrap();
        done.sort_unstable();
        assert_eq!(done, (0..20).collect::<Vec<_>>());
    }
}
