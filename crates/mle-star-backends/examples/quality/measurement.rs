//! What is measured: runs of one build, and submissions of other programs, on the same tasks.

use std::collections::BTreeMap;
use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use crate::anchors::{self, Anchor, KINDS, Kind};
use crate::common::Failure;
use crate::common::record;
use crate::common::runs::{Drawn, Program, Run, side_by_side};
use crate::common::tasks::{Made, Task};
use crate::tables::{Contestant, Outcome, Range};

/// What to do.
pub struct Measurement {
    /// The tasks.
    pub tasks: Vec<&'static Task>,
    /// The seeds of each task.
    pub seeds: RangeInclusive<u64>,
    /// The time limits of runs.
    pub seconds: Vec<u64>,
    /// The name of the build.
    pub label: String,
    /// The programs to compare with.
    pub against: Vec<&'static Kind>,
    /// Their time limits.
    pub against_seconds: Vec<u64>,
    /// Environments of theirs that exist.
    pub environments: BTreeMap<&'static str, PathBuf>,
    /// The number of jobs side by side.
    pub jobs: usize,
    /// The folder of tasks, runs and submissions.
    pub folder: PathBuf,
}

/// One process.
enum Job {
    Run(Run),
    Anchor(Anchor),
}

/// Which of the results in a folder to show; `None` stands for all.
pub struct Filter {
    /// The tasks.
    pub tasks: Vec<&'static Task>,
    /// The seeds.
    pub seeds: Option<RangeInclusive<u64>>,
    /// The time limits of runs.
    pub seconds: Option<Vec<u64>>,
    /// The names of builds, in the order of the tables. Builds in one entry share a column.
    pub labels: Option<Vec<Vec<String>>>,
    /// The programs to compare with.
    pub against: Vec<&'static Kind>,
    /// Their time limits.
    pub against_seconds: Option<Vec<u64>>,
}

impl Measurement {
    /// Does what has no result yet. Without `program`, only submissions of other programs are made.
    ///
    /// # Errors
    /// A task or an environment cannot be made, or another build made some of the runs. A run that fails is told on standard
    /// error and is no error here.
    pub fn make(&self, program: Option<&Program>) -> Result<(), Failure> {
        if let Some(program) = program {
            program.made_all(&self.folder, |name| name.starts_with(&format!("{}-", self.label)))?;
        }
        let mut jobs = self.jobs();
        jobs.retain(|job| !job.is_done(&self.folder) && (program.is_some() || matches!(job, Job::Anchor(_))));
        for job in &jobs {
            job.drawn().prepare(&self.folder)?;
        }
        let script = anchors::write_script(&self.folder)?;
        let mut pythons = BTreeMap::new();
        for kind in &self.against {
            let python = match self.environments.get(kind.name) {
                Some(environment) => anchors::interpreter(environment),
                None => kind.environment(&self.folder)?,
            };
            pythons.insert(kind.name, python);
        }
        side_by_side(jobs, self.jobs, Job::name, |job, cores| match job {
            Job::Run(run) => {
                program.map_or_else(String::new, |program| run.make(cores, program, &self.folder))
            }
            Job::Anchor(anchor) => match pythons.get(anchor.kind.name) {
                Some(python) => anchor.make(cores, python, &script, &self.folder),
                None => String::new(),
            },
        });
        Ok(())
    }

    /// All jobs, in an order in which the first ones already allow comparisons.
    fn jobs(&self) -> Vec<Job> {
        let mut jobs = Vec::new();
        for seed in self.seeds.clone() {
            for &task in &self.tasks {
                let drawn = Drawn { task, seed };
                let anchors = anchors_of(drawn, &self.against, &self.against_seconds);
                jobs.extend(anchors.into_iter().map(Job::Anchor));
                jobs.extend(self.seconds.iter().map(|&seconds| {
                    Job::Run(Run { drawn, name: self.label.clone(), seconds, options: Vec::new() })
                }));
            }
        }
        jobs
    }
}

/// The submissions of other programs for a task.
fn anchors_of(drawn: Drawn, kinds: &[&'static Kind], seconds: &[u64]) -> Vec<Anchor> {
    let limits = |kind: &Kind| if kind.is_timed { seconds.to_vec() } else { vec![0] };
    let anchors = kinds
        .iter()
        .flat_map(|&kind| limits(kind).into_iter().map(move |seconds| Anchor { drawn, kind, seconds }));
    anchors.collect()
}

impl Filter {
    /// The place of a build in the tables; `None` if its runs with this time limit are not shown.
    pub fn order(&self, label: &str, seconds: u64) -> Option<usize> {
        let place = |columns: &Vec<Vec<String>>| {
            columns.iter().position(|labels| labels.iter().any(|one| one == label))
        };
        let order = self.labels.as_ref().map_or(Some(0), place);
        order.filter(|_| is_in(self.seconds.as_deref(), &seconds))
    }

    /// Joins the runs of builds that share a column. If several have a case, that of the last build counts.
    pub fn joined(&self, mut outcomes: Vec<Outcome>) -> Vec<Outcome> {
        let Some(columns) = &self.labels else { return outcomes };
        outcomes.sort_by_key(|outcome| match &outcome.contestant {
            Contestant::Run { order, label, .. } => columns[*order].iter().position(|one| one == label),
            Contestant::Anchor { .. } => None,
        });
        let mut joined: Vec<Outcome> = Vec::new();
        for mut outcome in outcomes {
            if let Contestant::Run { order, label, .. } = &mut outcome.contestant {
                *label = columns[*order].join("+");
            }
            joined.retain(|one| (&one.contestant, one.case) != (&outcome.contestant, outcome.case));
            joined.push(outcome);
        }
        joined
    }

    /// Whether submissions of another program with this time limit are shown.
    pub fn shows(&self, kind: &'static Kind, seconds: u64) -> bool {
        let fits = !kind.is_timed || is_in(self.against_seconds.as_deref(), &seconds);
        fits && self.against.contains(&kind)
    }

    /// Whether cases with this seed are shown.
    pub fn has(&self, seed: u64) -> bool {
        self.seeds.as_ref().is_none_or(|seeds| seeds.contains(&seed))
    }
}

impl Job {
    fn drawn(&self) -> Drawn {
        match self {
            Self::Run(run) => run.drawn,
            Self::Anchor(anchor) => anchor.drawn,
        }
    }

    fn name(&self) -> String {
        match self {
            Self::Run(run) => run.name(),
            Self::Anchor(anchor) => anchor.name(),
        }
    }

    fn is_done(&self, folder: &Path) -> bool {
        match self {
            Self::Run(run) => run.end(folder).is_some(),
            Self::Anchor(anchor) => anchor.found(folder).is_some(),
        }
    }
}

/// The results in a folder.
///
/// # Errors
/// A task cannot be drawn again, or the files of a run cannot be read.
pub fn outcomes(folder: &Path, filter: &Filter) -> Result<Vec<Outcome>, Failure> {
    let mut outcomes = Vec::new();
    for &task in &filter.tasks {
        for seed in seeds(folder, task)? {
            if !filter.has(seed) {
                continue;
            }
            let drawn = Drawn { task, seed };
            let (_scratch, made) = drawn.redrawn(folder)?;
            outcomes.extend(of_anchors(folder, drawn, &made, filter)?);
            outcomes.extend(of_runs(folder, drawn, &made, filter)?);
        }
    }
    Ok(outcomes)
}

fn of_anchors(folder: &Path, drawn: Drawn, made: &Made, filter: &Filter) -> Result<Vec<Outcome>, Failure> {
    let mut outcomes = Vec::new();
    for (name, seconds) in results(&drawn.beside(folder, Anchor::ENDING))? {
        let Some(kind) = KINDS.iter().find(|kind| kind.name == name) else { continue };
        if !filter.shows(kind, seconds) {
            continue;
        }
        let Some((submission, found)) = (Anchor { drawn, kind, seconds }).found(folder) else { continue };
        outcomes.push(Outcome {
            contestant: Contestant::Anchor { kind, seconds },
            case: drawn.case(),
            range: Range::of(made),
            hidden: made.score(&submission).ok(),
            seconds: found.seconds,
            scripts: None,
            build: Some(found.build),
        });
    }
    Ok(outcomes)
}

fn of_runs(folder: &Path, drawn: Drawn, made: &Made, filter: &Filter) -> Result<Vec<Outcome>, Failure> {
    let mut outcomes = Vec::new();
    for (label, seconds) in results(&drawn.beside(folder, Run::ENDING))? {
        let run = Run { drawn, name: label.clone(), seconds, options: Vec::new() };
        let Some(order) = filter.order(&label, seconds) else { continue };
        let Some((end, record)) = record::of(&run, folder, made)? else { continue };
        outcomes.push(Outcome {
            contestant: Contestant::Run { order, label, seconds },
            case: drawn.case(),
            range: Range::of(made),
            hidden: record.as_ref().and_then(|record| record.hidden),
            seconds: end.seconds,
            scripts: Some(record.map_or(0, |record| record.scripts.len())),
            build: Some(end.build),
        });
    }
    Ok(outcomes)
}

fn is_in<T: PartialEq>(wanted: Option<&[T]>, value: &T) -> bool {
    wanted.is_none_or(|wanted| wanted.contains(value))
}

/// The seeds with which a folder has a task or results for it.
fn seeds(folder: &Path, task: &Task) -> Result<Vec<u64>, Failure> {
    let names = names(folder)?;
    let found = names.iter().filter_map(|name| named(name.split('.').next()?));
    let mut seeds: Vec<u64> = found.filter(|(name, _)| name == task.name).map(|(_, seed)| seed).collect();
    seeds.sort_unstable();
    seeds.dedup();
    Ok(seeds)
}

/// Names and seconds of results.
fn results(folder: &Path) -> Result<Vec<(String, u64)>, Failure> {
    Ok(names(folder)?.iter().filter_map(|name| named(name)).collect())
}

/// The names in a folder; none without the folder.
fn names(folder: &Path) -> Result<Vec<String>, Failure> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let names = fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
    names.collect()
}

/// A folder's name: a name and a number.
fn named(folder: &str) -> Option<(String, u64)> {
    let (name, number) = folder.rsplit_once('-')?;
    Some((name.to_owned(), number.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common::tasks::TASKS;

    #[test]
    fn other_programs_come_before_runs_of_the_same_task() {
        let measurement = Measurement {
            tasks: TASKS[..2].iter().collect(),
            seeds: 1..=1,
            seconds: vec![60, 120],
            label: "new".to_owned(),
            against: KINDS.iter().collect(),
            against_seconds: vec![60, 600],
            environments: BTreeMap::new(),
            jobs: 1,
            folder: PathBuf::from("out"),
        };
        let names: Vec<String> = measurement.jobs().iter().map(Job::name).collect();
        let expected = [
            "loyalty 1 lightgbm-0",
            "loyalty 1 flaml-60",
            "loyalty 1 flaml-600",
            "loyalty 1 autogluon-60",
            "loyalty 1 autogluon-600",
            "loyalty 1 new-60",
            "loyalty 1 new-120",
        ];
        assert_eq!(names[..7], expected);
        assert_eq!((names.len(), names[7].as_str()), (14, "deliveries 1 lightgbm-0"));
    }

    #[test]
    fn results_are_found_by_the_names_of_folders() {
        let folder = tempfile::tempdir().unwrap();
        for name in
            ["loyalty-2", "loyalty-11.anchors", "loyalty-2.runs/a-b-60", "loyalty-2.runs/log", "clinic-1"]
        {
            fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        assert_eq!(seeds(folder.path(), &TASKS[0]).unwrap(), [2, 11]);
        let runs = folder.path().join("loyalty-2.runs");
        assert_eq!(results(&runs).unwrap(), [("a-b".to_owned(), 60)]);
        assert_eq!(results(&folder.path().join("nothing")).unwrap(), []);
    }

    #[test]
    fn a_folder_without_results_has_no_outcomes() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("clinic-1")).unwrap();
        let filter = Filter {
            tasks: TASKS.iter().collect(),
            seeds: None,
            seconds: None,
            labels: None,
            against: KINDS.iter().collect(),
            against_seconds: None,
        };
        assert!(outcomes(folder.path(), &filter).unwrap().is_empty());
        assert!(outcomes(&folder.path().join("nothing"), &filter).unwrap().is_empty());
    }
}
