//! `doctor --e2e`: solves a small generated task through the production path.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use mle_star_domain::trouble::Trouble;

use super::run;
use crate::args::{DoctorArgs, RunArgs, SettingsArgs};
use crate::exit::{Exit, Failure};
use crate::output;

/// Labelled rows.
const TRAIN: u32 = 200;
/// Rows to predict.
const TEST: u32 = 50;
/// M=2, T=1, K=1, L=2, R=1: every part of the algorithms runs once.
const SEARCH: [&str; 5] = [
    "num_retrieved_models=2",
    "outer_loop_steps=1",
    "inner_loop_steps=1",
    "num_parallel_solutions=2",
    "ensemble_rounds=1",
];

/// Solves the task with the agents of the settings, by default the offline ones.
///
/// # Errors
/// Any error of the run; the exit code is 1.
pub fn solve(args: &DoctorArgs) -> Result<Exit, Failure> {
    let cannot = |error: io::Error| {
        let hint = "free disk space, or set TMPDIR to a writable folder";
        Failure::failed(Trouble::new(format!("cannot write the toy task: {error}"), hint))
    };
    let folder = tempfile::Builder::new().prefix("mle-star-toy-").tempdir().map_err(cannot)?;
    let data = folder.path().join("toy/data");
    write_task(&data).map_err(cannot)?;
    let mut set: Vec<String> = SEARCH.map(str::to_owned).to_vec();
    set.extend(args.python.iter().map(|python| format!("python={}", python.display())));
    set.extend(args.set.iter().cloned());
    let names_agents = args.config.is_some() || args.set.iter().any(|pair| pair.starts_with("agents="));
    let agents = (!names_agents).then(|| "offline".to_owned());
    let settings = SettingsArgs { agents, config: args.config.clone(), set, ..SettingsArgs::default() };
    let args = RunArgs {
        path: data,
        settings,
        time_limit: Some("300".to_owned()),
        runs_dir: Some(PathBuf::from(folder.path()).join("runs")),
        run_id: Some("toy".to_owned()),
        ..RunArgs::default()
    };
    let ended = run::run(&args);
    if matches!(ended, Ok(Exit::Done)) {
        output::data("end to end: ok; the toy run was removed");
        return ended;
    }
    // Its logs are needed for diagnosis.
    output::talk(&format!("the toy run was kept in {}", folder.keep().display()));
    match ended {
        Err(stopped) if matches!(stopped.exit, Exit::Interrupted | Exit::Terminated) => Err(stopped),
        Err(failure) => Err(Failure::failed(failure.trouble)),
        Ok(_) => Ok(Exit::Failed),
    }
}

fn write_task(data: &Path) -> io::Result<()> {
    fs::create_dir_all(data)?;
    let (mut train, mut test, mut sample) =
        ("id,size,age,town,price\n".to_owned(), "id,size,age,town\n".to_owned(), "id,price\n".to_owned());
    for row in 0..TRAIN + TEST {
        let (size, age, town) = (20 + row * 37 % 101, row * 53 % 60, ["a", "b", "c"][row as usize % 3]);
        let price = 3 * size + 100 * (row % 3) + row * 17 % 23 - age;
        // Writing to a string cannot fail.
        let _ = if row < TRAIN {
            writeln!(train, "{row},{size},{age},{town},{price}")
        } else {
            writeln!(test, "{row},{size},{age},{town}").and_then(|()| writeln!(sample, "{row},0"))
        };
    }
    fs::write(data.join("train.csv"), train)?;
    fs::write(data.join("test.csv"), test)?;
    fs::write(data.join("sample_submission.csv"), sample)?;
    fs::write(data.join("description.md"), "Predict the price.\n\n# Evaluation\n\nRoot mean squared error.\n")
}
