//! Runs of the program on generated tasks.
//!
//! A folder has the tasks, and beside each task its runs: `TASK-SEED/`, `TASK-SEED.runs/NAME-SECONDS/`. A run that is
//! finished is not repeated, so a measurement can be interrupted and extended.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use mle_star::layout;

use super::statistics::Case;
use super::tasks::{self, Task};

/// A task that is drawn with a seed.
#[derive(Clone, Copy)]
pub struct Drawn {
    /// The task.
    pub task: &'static Task,
    /// The seed.
    pub seed: u64,
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

/// Runs a command with these cores and its output in a file; returns how it ended, in words.
pub fn logged(command: &Command, cores: &str, log: &Path) -> Result<String, String> {
    let began = Instant::now();
    match status(command, cores, log) {
        Ok(status) if status.success() => Ok(format!("{:.0} s", began.elapsed().as_secs_f64())),
        Ok(status) => Err(format!("{status}, see {}", log.display())),
        Err(error) => Err(error.to_string()),
    }
}

fn status(command: &Command, cores: &str, log: &Path) -> io::Result<ExitStatus> {
    let log = File::create(log)?;
    let mut pinned = Command::new("taskset");
    pinned.args(["--cpu-list", cores]).arg(command.get_program()).args(command.get_args());
    pinned.stdout(log.try_clone()?).stderr(log).status()
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
    /// A file cannot be written.
    pub fn prepare(&self, folder: &Path) -> io::Result<()> {
        let task = self.folder(folder);
        if !task.join("hidden/answers.csv").is_file() {
            tasks::write(self.task, self.seed, &task)?;
        }
        Ok(())
    }
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

    /// Whether it has a result.
    pub fn is_done(&self, folder: &Path) -> bool {
        self.folder(folder).join(layout::RESULT).is_file()
    }

    /// Makes the run from its beginning; returns how it ended, in words.
    pub fn make(&self, cores: &str, program: &Path, folder: &Path) -> String {
        let run = self.folder(folder);
        if run.exists()
            && let Err(error) = fs::remove_dir_all(&run)
        {
            return error.to_string();
        }
        let runs = self.drawn.beside(folder, Self::ENDING);
        if let Err(error) = fs::create_dir_all(&runs) {
            return error.to_string();
        }
        let mut command = Command::new(program);
        command.arg("run").arg(self.drawn.folder(folder)).arg("--runs-dir").arg(runs);
        command.args(["--run-id", &self.id(), "--time-limit", &self.seconds.to_string()]);
        command.args(["--agents", "offline"]).args(&self.options);
        logged(&command, cores, &run.with_extension("log")).unwrap_or_else(|error| error)
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
        assert!(!run.is_done(Path::new("out")));
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
