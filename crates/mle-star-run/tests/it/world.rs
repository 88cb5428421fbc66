//! A small task in a folder of its own.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

/// Settings that make a run short.
const SMALL: [&str; 6] = [
    "num_retrieved_models=1",
    "num_parallel_solutions=1",
    "outer_loop_steps=1",
    "inner_loop_steps=1",
    "ensemble_rounds=1",
    "probes=off",
];

/// A folder with a task, removed when the test ends.
pub struct World {
    folder: tempfile::TempDir,
}

impl World {
    /// Writes the task.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        fs::create_dir(&data).unwrap();
        let (mut train, mut test, mut sample) =
            ("id,size,town,price\n".to_owned(), "id,size,town\n".to_owned(), "id,price\n".to_owned());
        for row in 0..100_u32 {
            let (size, town) = (row * 37 % 101, ["a", "b", "c"][row as usize % 3]);
            if row < 80 {
                writeln!(train, "{row},{size},{town},{}", 3 * size + 2 * (row % 3)).unwrap();
            } else {
                writeln!(test, "{row},{size},{town}").unwrap();
                writeln!(sample, "{row},0").unwrap();
            }
        }
        for (name, text) in [("train", train), ("test", test), ("sample_submission", sample)] {
            fs::write(data.join(format!("{name}.csv")), text).unwrap();
        }
        fs::write(
            data.join("description.md"),
            "Predict the price.\n\n# Evaluation\n\nRoot mean squared error.\n",
        )
        .unwrap();
        Self { folder }
    }

    /// The data of the task.
    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// The folder of the run.
    pub fn run(&self) -> PathBuf {
        self.folder.path().join("runs/r")
    }

    /// Settings of a short run in this folder.
    pub fn settings(&self) -> Vec<String> {
        let runs_dir = format!("runs_dir={}", self.folder.path().join("runs").display());
        let python = mle_star_needs::python_with_libraries();
        let own = [runs_dir, "run_id=r".to_owned(), format!("python={}", python.display())];
        own.into_iter().chain(SMALL.map(str::to_owned)).collect()
    }
}
