//! Runs of the program on generated tasks: each task and seed once per configuration.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use crate::common::Failure;
use crate::common::runs::{Drawn, Program, Run, side_by_side};
use crate::common::tasks::Task;

/// The runs to make.
pub struct Grid {
    /// The tasks.
    pub tasks: Vec<&'static Task>,
    /// The seeds of each task.
    pub seeds: RangeInclusive<u64>,
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
    /// The run.
    pub run: Run,
    /// The settings.
    pub configuration: &'static Configuration,
}

/// The paper's rules.
pub const PAPER: &str = "paper";
/// Their title.
pub const PAPER_TITLE: &str = "paper";

/// Every configuration. All settings are given, so that no default matters.
pub static CONFIGURATIONS: [Configuration; 6] = [
    Configuration {
        name: PAPER,
        title: PAPER_TITLE,
        settings: ["holdout=off", "acceptance=paper", "final_choice=validation"],
    },
    Configuration {
        name: "holdout",
        title: "holdout reports",
        settings: ["holdout=auto", "acceptance=paper", "final_choice=validation"],
    },
    Configuration {
        name: "check",
        title: "holdout checks",
        settings: ["holdout=auto", "acceptance=paper", "final_choice=auto"],
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
            for seed in self.seeds.clone() {
                for &task in &self.tasks {
                    let drawn = Drawn { task, seed };
                    cells.extend(self.configurations.iter().map(|one| one.cell(drawn, seconds)));
                }
            }
        }
        cells
    }

    /// Makes the runs that have not ended yet.
    ///
    /// # Errors
    /// A task cannot be written, or another build made some of the runs. A run that fails is told on standard error and
    /// is no error here.
    pub fn run(&self, program: &Program) -> Result<(), Failure> {
        program.made_all(&self.folder, |_| true)?;
        let runs = self.cells().into_iter().map(|cell| cell.run);
        let missing: Vec<Run> = runs.filter(|run| run.end(&self.folder).is_none()).collect();
        for run in &missing {
            run.drawn.prepare(&self.folder)?;
        }
        side_by_side(missing, self.jobs, Run::name, |run, cores| run.make(cores, program, &self.folder));
        Ok(())
    }
}

impl Configuration {
    fn cell(&'static self, drawn: Drawn, seconds: u64) -> Cell {
        let settings = self.settings.iter().flat_map(|setting| ["--set", setting]);
        let options = ["--jobs", "1"].into_iter().chain(settings).map(str::to_owned).collect();
        Cell { run: Run { drawn, name: self.name.to_owned(), seconds, options }, configuration: self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common::tasks::TASKS;

    #[test]
    fn all_configurations_of_a_task_come_together() {
        let tasks = TASKS[..2].iter().collect();
        let configurations = CONFIGURATIONS[..2].iter().collect();
        let (seconds, folder) = (vec![60, 120], PathBuf::from("out"));
        let grid = Grid { tasks, seeds: 1..=2, seconds, configurations, jobs: 1, folder };
        let names: Vec<String> = grid.cells().iter().map(|cell| cell.run.name()).collect();
        assert_eq!(names.len(), 16);
        let expected = [
            "loyalty 1 paper-60",
            "loyalty 1 holdout-60",
            "deliveries 1 paper-60",
            "deliveries 1 holdout-60",
        ];
        assert_eq!(names[..4], expected);
        assert_eq!(names[4], "loyalty 2 paper-60");
        assert_eq!(names[8], "loyalty 1 paper-120");
    }

    #[test]
    fn configurations_are_options_of_the_program() {
        let cell = CONFIGURATIONS[0].cell(Drawn { task: &TASKS[0], seed: 1 }, 60);
        let expected = "--jobs 1 --set holdout=off --set acceptance=paper --set final_choice=validation";
        assert_eq!(cell.run.options.join(" "), expected);
    }
}
