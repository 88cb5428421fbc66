//! Runs of the program on generated tasks: each task and seed once per configuration.
//!
//! A folder has the tasks, and beside each task its runs: `TASK-SEED/`, `TASK-SEED.runs/CONFIGURATION-SECONDS/`. A run
//! that is finished is not repeated, so a grid can be interrupted and extended.

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

use crate::Failure;
use crate::tasks::{self, Task};

/// The runs to make.
pub struct Grid {
    /// The tasks.
    pub tasks: Vec<&'static Task>,
    /// The number of seeds of each task.
    pub seeds: u64,
    /// The time limits of the runs.
    pub seconds: Vec<u64>,
    /// The configurations.
    pub configurations: Vec<&'static Configuration>,
    /// The number of runs side by side.
    pub jobs: usize,
    /// The folder of tasks and runs.
    pub folder: PathBuf,
}

/// Settings of a run.
#[derive(Debug, PartialEq, Eq)]
pub struct Configuration {
    /// The name on the command line and of folders.
    pub name: &'static str,
    /// What it does, for tables.
    pub title: &'static str,
    settings: [&'static str; 3],
}

/// One run.
pub struct Cell {
    /// The task.
    pub task: &'static Task,
    /// The seed of the task.
    pub seed: u64,
    /// The time limit.
    pub seconds: u64,
    /// The settings.
    pub configuration: &'static Configuration,
}

/// The paper's rules.
pub const PAPER: &str = "paper";

/// Every configuration. All settings are given, so that no default matters.
pub static CONFIGURATIONS: [Configuration; 5] = [
    Configuration {
        name: PAPER,
        title: "paper",
        settings: ["holdout=off", "acceptance=paper", "final_choice=validation"],
    },
    Configuration {
        name: "holdout",
        title: "holdout reports",
        settings: ["holdout=auto", "acceptance=paper", "final_choice=validation"],
    },
    Configuration {
        name: "choice",
        title: "holdout chooses",
        settings: ["holdout=auto", "acceptance=paper", "final_choice=holdout"],
    },
    Configuration {
        name: "one-sigma",
        title: "one standard error",
        settings: ["holdout=off", "acceptance=one_sigma", "final_choice=validation"],
    },
    Configuration {
        name: "both",
        title: "one standard error, holdout chooses",
        settings: ["holdout=auto", "acceptance=one_sigma", "final_choice=holdout"],
    },
];

impl Grid {
    /// All runs, in an order in which the first ones already allow comparisons.
    pub fn cells(&self) -> Vec<Cell> {
        let mut cells = Vec::new();
        for &seconds in &self.seconds {
            for seed in 1..=self.seeds {
                for &task in &self.tasks {
                    let cell =
                        |configuration: &&'static Configuration| Cell { task, seed, seconds, configuration };
                    cells.extend(self.configurations.iter().map(cell));
                }
            }
        }
        cells
    }

    /// Makes the runs that have no result yet.
    ///
    /// # Errors
    /// A task cannot be written. A run that fails is told on standard error and is no error here.
    pub fn run(&self, program: &Path) -> Result<(), Failure> {
        let missing: VecDeque<Cell> =
            self.cells().into_iter().filter(|cell| !cell.is_done(&self.folder)).collect();
        for cell in &missing {
            cell.prepare(&self.folder)?;
        }
        let (count, queue) = (missing.len(), Mutex::new((1..).zip(missing).collect::<VecDeque<_>>()));
        let next = &|| queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        thread::scope(|scope| {
            for job in 0..self.jobs {
                scope.spawn(move || {
                    while let Some((number, cell)) = next() {
                        let told = cell.run(&cores(job, self.jobs), program, &self.folder);
                        eprintln!("[{number}/{count}] {}: {told}", cell.name());
                    }
                });
            }
        });
        Ok(())
    }
}

impl Cell {
    /// The folder of the run.
    pub fn run_folder(&self, folder: &Path) -> PathBuf {
        self.runs(folder).join(self.run_id())
    }

    fn name(&self) -> String {
        format!("{} {} {}", self.task.name, self.seed, self.run_id())
    }

    fn run_id(&self) -> String {
        format!("{}-{}", self.configuration.name, self.seconds)
    }

    fn task_folder(&self, folder: &Path) -> PathBuf {
        folder.join(format!("{}-{}", self.task.name, self.seed))
    }

    fn runs(&self, folder: &Path) -> PathBuf {
        folder.join(format!("{}-{}.runs", self.task.name, self.seed))
    }

    fn is_done(&self, folder: &Path) -> bool {
        self.run_folder(folder).join(layout::RESULT).is_file()
    }

    /// Writes the task once. Runs notice when their data changes.
    fn prepare(&self, folder: &Path) -> io::Result<()> {
        let task = self.task_folder(folder);
        if !task.join("hidden/answers.csv").is_file() {
            tasks::write(self.task, self.seed, &task)?;
        }
        fs::create_dir_all(self.runs(folder))
    }

    /// Makes the run from its beginning; returns how it ended, in words.
    fn run(&self, cores: &str, program: &Path, folder: &Path) -> String {
        let began = Instant::now();
        match self.status(cores, program, folder) {
            Ok(status) if status.success() => format!("{:.0} s", began.elapsed().as_secs_f64()),
            Ok(status) => format!("{status}, see {}", self.log(folder).display()),
            Err(error) => error.to_string(),
        }
    }

    fn status(&self, cores: &str, program: &Path, folder: &Path) -> io::Result<ExitStatus> {
        let run = self.run_folder(folder);
        if run.exists() {
            fs::remove_dir_all(&run)?;
        }
        let log = File::create(self.log(folder))?;
        let mut command = Command::new("taskset");
        command
            .args(["--cpu-list", cores])
            .arg(program)
            .arg("run")
            .arg(self.task_folder(folder))
            .arg("--runs-dir")
            .arg(self.runs(folder));
        command.args(["--run-id", &self.run_id(), "--time-limit", &self.seconds.to_string()]);
        command.args(["--agents", "offline", "--jobs", "1"]);
        for setting in self.configuration.settings {
            command.args(["--set", setting]);
        }
        command.stdout(log.try_clone()?).stderr(log).status()
    }

    /// What the program prints.
    fn log(&self, folder: &Path) -> PathBuf {
        self.run_folder(folder).with_extension("log")
    }
}

/// The cores of a job, of as many jobs. Jobs do not share cores, since threads of boosted models wait for each other.
fn cores(job: usize, jobs: usize) -> String {
    let all = thread::available_parallelism().map_or(1, NonZero::get);
    let (first, end) = (job * all / jobs, (job + 1) * all / jobs);
    format!("{first}-{}", end.max(first + 1) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_configurations_of_a_task_come_together() {
        let tasks = tasks::TASKS[..2].iter().collect();
        let configurations = CONFIGURATIONS[..2].iter().collect();
        let (seconds, folder) = (vec![60, 120], PathBuf::from("out"));
        let grid = Grid { tasks, seeds: 2, seconds, configurations, jobs: 1, folder };
        let cells = grid.cells();
        assert_eq!(cells.len(), 16);
        let expected = [
            "loyalty 1 paper-60",
            "loyalty 1 holdout-60",
            "deliveries 1 paper-60",
            "deliveries 1 holdout-60",
        ];
        assert_eq!(cells[..4].iter().map(Cell::name).collect::<Vec<_>>(), expected);
        assert_eq!(cells[4].name(), "loyalty 2 paper-60");
        assert_eq!(cells[8].name(), "loyalty 1 paper-120");
        assert_eq!(cells[0].run_folder(&grid.folder), Path::new("out/loyalty-1.runs/paper-60"));
    }
}
