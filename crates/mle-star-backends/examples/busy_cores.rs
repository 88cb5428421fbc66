//! Measures how threads of GNU OpenMP wait for each other while other programs use cores: boosted trees with the default of
//! the library and with the setting that scripts get, on idle cores and beside one and more busy programs.
//!
//! `cargo run --release -p mle-star-backends --example busy_cores [PYTHON] [ROUNDS] [MOST]`; without PYTHON, the program's own
//! environment, with LightGBM. MOST is the most busy programs. Both settings are taken in turn. Prints the medians of a fit in seconds.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use mle_star_backends::script::environment::{EnvironmentChoice, python_environment};
use mle_star_process::machine::machine;
use mle_star_process::variables::{Share, variables};

type Failure = Box<dyn Error>;

/// Prints the seconds of a fit with 200 trees; the arguments are the number of rows and of columns.
const FIT: &str = "import os, sys, time, numpy, lightgbm
rows, columns = map(int, sys.argv[1:])
random = numpy.random.default_rng(0)
x = random.normal(size=(rows, columns))
y = x[:, 0] + x[:, 1] * x[:, 2] + random.normal(size=rows) > 0
model = lightgbm.LGBMClassifier(n_estimators=200, n_jobs=int(os.environ['OMP_NUM_THREADS']), verbose=-1)
start = time.perf_counter()
model.fit(x, y)
print(time.perf_counter() - start)";
/// Rows and columns.
const TABLES: [[&str; 2]; 2] = [["2000", "20"], ["20000", "30"]];
/// What scripts get, beside the numbers of threads.
const SETTING: &str = "GOMP_SPINCOUNT";

/// Programs that use one core each until they are dropped.
struct Busy(Vec<Child>);

impl Busy {
    fn start(python: &Path, programs: usize) -> Result<Self, Failure> {
        let mut busy = Self(Vec::new());
        for _ in 0..programs {
            busy.0.push(Command::new(python).args(["-c", "while True: pass"]).spawn()?);
        }
        Ok(busy)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // One that has ended needs no kill.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "the measurement is what this program is for")]
async fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let choice =
        arguments.next().map_or(EnvironmentChoice::Own, |path| EnvironmentChoice::Given(PathBuf::from(path)));
    let rounds: usize = arguments.next().map_or(Ok(3), |text| text.parse())?;
    let most: usize = arguments.next().map_or(Ok(2), |text| text.parse())?;
    let python = python_environment(choice, &|line| println!("{line}")).await?.python;
    let share = Share::of(&machine().await, 1, 0);
    println!("{} cores, {rounds} rounds", share.cores);
    println!(
        "{:16}{:>14}{:>12}{:>12}{:>8}",
        "rows, columns", "busy programs", "default", "script's", "ratio"
    );
    for table in TABLES {
        for programs in 0..=most {
            let _busy = Busy::start(&python, programs)?;
            let mut times = [Vec::new(), Vec::new()];
            for _ in 0..rounds {
                for (times, removed) in times.iter_mut().zip([true, false]) {
                    times.push(fit(&python, &share, table, removed)?);
                }
            }
            let [default, own] = times.map(median);
            let name = table.join(", ");
            println!("{name:16}{programs:>14}{default:>12.2}{own:>12.2}{:>8.2}", own / default);
        }
    }
    Ok(())
}

/// Seconds of a fit, in the environment of a script or without the setting.
fn fit(python: &Path, share: &Share, table: [&str; 2], removed: bool) -> Result<f64, Failure> {
    let given = variables(
        std::env::vars_os(),
        &[SETTING, "OMP_WAIT_POLICY"],
        share,
        Path::new("/"),
        Path::new("/tmp"),
    );
    let mut command = Command::new(python);
    command.env_clear().envs(given).args(["-c", FIT]).args(table).stderr(Stdio::inherit());
    if removed {
        command.env_remove(SETTING);
    }
    let output = command.output()?;
    Ok(String::from_utf8(output.stdout)?.trim().parse()?)
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or_default()
}
