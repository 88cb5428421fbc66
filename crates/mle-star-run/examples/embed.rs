//! From a folder to a result: `embed FOLDER [KEY=VALUE]...`
#![expect(clippy::print_stdout, reason = "a program prints")]

use std::path::Path;

use mle_star::result::FinalResult;
use mle_star_run::{NoObserver, RunError, RunOptions, drive, prepare};

/// Solves the task in `folder` with the offline agents, which need no key and no network.
pub fn solve(folder: &Path, settings: &[String]) -> Result<FinalResult, RunError> {
    let options = RunOptions::default().set("agents=offline")?.set_all(settings)?;
    let run = prepare(&options, folder)?.freeze(&|line| println!("{line}"))?;
    drive(&run, &NoObserver)
}

fn main() -> Result<(), RunError> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (folder, settings) = words.split_first().map_or(("data", &[][..]), |(first, rest)| (first, rest));
    let result = solve(Path::new(folder), settings)?;
    println!("{} {}: {}", result.task.evaluation_metric, result.validation_score(), result.submission_path);
    Ok(())
}
