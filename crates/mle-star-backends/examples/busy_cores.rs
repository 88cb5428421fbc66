//! Measures how threads of GNU OpenMP wait for each other while other programs use cores: boosted trees with the default of
//! the library and with the setting that scripts get, alone, beside a program that is bound to the first core, and beside the
//! same fit.
//!
//! `cargo run --release -p mle-star-backends --example busy_cores [PYTHON] [ROUNDS]` (Linux); without PYTHON, the program's own
//! environment, with LightGBM. Both settings are taken in turn. Prints the medians of a fit in seconds.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use mle_star_backends::script::environment::{EnvironmentChoice, python_environment};
use mle_star_process::machine::machine;
use mle_star_process::variables::{Share, variables};

type Failure = Box<dyn Error>;

/// Prints the seconds of a fit with 200 trees; the arguments are the numbers of rows, columns and repetitions.
const FIT: &str = "import os, sys, time, numpy, lightgbm
rows, columns, repetitions = map(int, sys.argv[1:])
random = numpy.random.default_rng(0)
x = random.normal(size=(rows, columns))
y = x[:, 0] + x[:, 1] * x[:, 2] + random.normal(size=rows) > 0
model = lightgbm.LGBMClassifier(n_estimators=200, n_jobs=int(os.environ['OMP_NUM_THREADS']), verbose=-1)
for _ in range(repetitions):
    start = time.perf_counter()
    model.fit(x, y)
print(time.perf_counter() - start)";
/// Rows and columns.
const TABLES: [[&str; 2]; 2] = [["2000", "20"], ["20000", "30"]];
/// What scripts get, beside the numbers of threads.
const SETTING: &str = "GOMP_SPINCOUNT";

/// What else runs.
#[derive(Clone, Copy)]
enum Beside {
    Nothing,
    BoundProgram,
    SameFit,
}

/// A program that is killed when it is dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // One that has ended needs no kill.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A Python with the environment of a script, with or without the setting.
struct Fits<'a> {
    python: &'a Path,
    share: &'a Share,
    has_setting: bool,
}

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "the measurement is what this program is for")]
async fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let choice =
        arguments.next().map_or(EnvironmentChoice::Own, |path| EnvironmentChoice::Given(PathBuf::from(path)));
    let rounds: usize = arguments.next().map_or(Ok(3), |text| text.parse())?;
    let python = &python_environment(choice, &|line| println!("{line}")).await?.python;
    let share = &Share::of(&machine().await, 1, 0);
    println!("{} cores, {rounds} rounds", share.cores);
    println!("{:16}{:22}{:>12}{:>12}{:>8}", "rows, columns", "beside", "default", "script's", "ratio");
    for table in TABLES {
        for beside in [Beside::Nothing, Beside::BoundProgram, Beside::SameFit] {
            let mut times = [Vec::new(), Vec::new()];
            for _ in 0..rounds {
                for (times, has_setting) in times.iter_mut().zip([false, true]) {
                    let fits = Fits { python, share, has_setting };
                    let _running = fits.start(beside, table)?;
                    let output = fits.fit(table, 1).output()?;
                    times.push(String::from_utf8(output.stdout)?.trim().parse()?);
                }
            }
            let [default, own] = times.map(median);
            let (table, name) = (table.join(", "), beside.name());
            println!("{table:16}{name:22}{default:>12.2}{own:>12.2}{:>8.2}", own / default);
        }
    }
    Ok(())
}

impl Fits<'_> {
    fn fit(&self, table: [&str; 2], repetitions: usize) -> Command {
        let decided = [SETTING, "OMP_WAIT_POLICY"];
        let given = variables(std::env::vars_os(), &decided, self.share, Path::new("/"), Path::new("/tmp"));
        let mut command = Command::new(self.python);
        command.env_clear().envs(given).args(["-c", FIT]).args(table).arg(repetitions.to_string());
        if !self.has_setting {
            command.env_remove(SETTING);
        }
        command.stderr(Stdio::inherit());
        command
    }

    fn start(&self, beside: Beside, table: [&str; 2]) -> Result<Option<Running>, Failure> {
        let mut command = match beside {
            Beside::Nothing => return Ok(None),
            Beside::BoundProgram => Command::new("taskset"),
            Beside::SameFit => self.fit(table, 1_000_000),
        };
        if let Beside::BoundProgram = beside {
            command.args(["-c", "0"]).arg(self.python).args(["-c", "while True: pass"]);
        }
        Ok(Some(Running(command.spawn()?)))
    }
}

impl Beside {
    fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::BoundProgram => "program on one core",
            Self::SameFit => "the same fit",
        }
    }
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or_default()
}
