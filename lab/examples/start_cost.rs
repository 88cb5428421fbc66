//! Measures what a large table costs before the first script:
//! `cargo run --release -p mle-star-lab --example start_cost [ROWS|FOLDER]`.
//!
//! Prints seconds and peak memory of each step, for 3 million training rows (or the number given) of 20 columns, or for the
//! data folder given, whose columns `id` and `y` are ID and target.

#![expect(clippy::print_stdout, reason = "a benchmark is read on the terminal")]

use std::error::Error;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use mle_star_tables::holdout::{MOST, Roles, Share, labels, plan, trim, write};
use mle_star_tables::split::{Known, describe};
use mle_star_tables::summary::{Asked, summarize};
use mle_star_tables::{agreement, profile};

const COLUMNS: &str = "id,age,visits,stock,zip,score,price,width,height,ratio,noise,city,brand,grade,shop,model,active,note,day,seen";
const WORDS: [&str; 8] = ["red", "green", "blue", "cold", "warm", "quick", "slow", "bright"];

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let given = std::env::args().nth(1);
    let rows = given.as_ref().map_or(Ok(3_000_000), |rows| rows.parse());
    let data = match (rows, given) {
        (Err(_), Some(given)) => PathBuf::from(given),
        (rows, _) => make(&folder.path().join("data"), rows?)?,
    };
    println!("train.csv: {} MB", fs::metadata(data.join("train.csv"))?.len() / 1_000_000);

    let profile = step("profile", || profile::read(&data))?.map_err(|error| format!("{error:?}"))?;
    let known = Known { target: Some("y"), id: Some("id"), ..Known::default() };
    let roles = Roles { target: known.target, id: known.id, weight: None };
    step("agreement", || agreement::check(&profile, roles.id))?.map_err(|error| error.message)?;
    let split = step("split", || describe(&profile, &known, true))?;
    println!("{split:?}");
    let share = Share::Auto { most: MOST };
    let plan = step("plan", || plan(&profile, &roles, &split, share, 42))?.map_err(|off| off.0)?;
    println!("{} rows are held out", plan.rows());
    let asked = Asked {
        data_dir: &data,
        profile: Some(&profile),
        target: roles.target,
        id: roles.id,
        roles: None,
        split: Some(&split),
        period: None,
        held_out: Some(&plan),
        instead: &[],
    };
    let summary = step("summary", || summarize(&asked))?;
    println!("{} characters", summary.len());
    let input = folder.path().join("input");
    step("labels", || labels(&profile, &plan, &folder.path().join("labels.csv")))?
        .map_err(|error| error.message)?;
    step("write", || write(&profile, &plan, &input))?.map_err(|error| error.message)?;
    // The sample of the extended test table has the rows that a script predicts.
    let (submission, sample) = (input.join("sample_submission.csv"), data.join("sample_submission.csv"));
    let trimmed = folder.path().join("submission.csv");
    step("trim", || trim(&submission, &sample, "id", &trimmed))?.map_err(|error| error.message)?;
    Ok(())
}

/// Writes a data folder.
fn make(data: &Path, rows: u64) -> Result<PathBuf, Box<dyn Error>> {
    fs::create_dir(data)?;
    let all = rows + rows / 4;
    table(&data.join("train.csv"), &format!("{COLUMNS},y"), 0..rows, |n| {
        format!("{},{}", cells(n), mixed(n, 20) % 2)
    })?;
    table(&data.join("test.csv"), COLUMNS, rows..all, cells)?;
    table(&data.join("sample_submission.csv"), "id,y", rows..all, |n| format!("{n},0"))?;
    Ok(data.to_owned())
}

/// The cells of a row: whole numbers, numbers with a point, codes, categories, a text and times.
fn cells(n: u64) -> String {
    let whole = |column, below| mixed(n, column) % below;
    let part = |column, below: u64| whole(column, below) as f64;
    let note: Vec<&str> =
        (30..36).map(|column| WORDS[usize::try_from(whole(column, 8)).unwrap_or(0)]).collect();
    let (day, time) = (whole(18, 28) + 1, whole(19, 86_400));
    let score =
        if n.is_multiple_of(20) { String::new() } else { format!("{:.3}", part(5, 6_000) / 1e3 - 3.0) };
    format!(
        "{n},{},{},{},{},{score},{:.2},{:.1},{:.4},{},{:.6},city{},brand_{},{},S-{},\"m, {}\",{},{},{}-{:02}-{day:02},{}-{:02}-{day:02} {:02}:{:02}:{:02}",
        whole(1, 72) + 18,
        whole(2, 12),
        whole(3, 1_000_000),
        whole(4, 90_000) + 10_000,
        part(6, 50_000) / 100.0,
        part(7, 5_000) / 10.0,
        part(8, 2_000_000) / 1e4,
        part(9, 1 << 53) / (1_u64 << 53) as f64,
        part(10, 4_000_000) / 1e6,
        whole(11, 50),
        whole(12, 1_000),
        ["A", "B", "C", ""][usize::try_from(whole(13, 4)).unwrap_or(0)],
        whole(14, 20_000),
        whole(15, 5),
        ["True", "False"][usize::try_from(whole(16, 2)).unwrap_or(0)],
        note.join(" "),
        2020 + whole(17, 2),
        whole(21, 12) + 1,
        2020 + whole(17, 2),
        whole(21, 12) + 1,
        time / 3_600,
        time / 60 % 60,
        time % 60,
    )
}

/// A number that looks random for each row and column.
fn mixed(row: u64, column: u64) -> u64 {
    let mut number = (row << 6 | column).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    for _ in 0..2 {
        number = (number ^ (number >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    }
    number >> 8
}

fn table(
    file: &Path,
    header: &str,
    rows: std::ops::Range<u64>,
    cells: impl Fn(u64) -> String,
) -> std::io::Result<()> {
    let mut file = BufWriter::new(File::create(file)?);
    writeln!(file, "{header}")?;
    rows.into_iter().try_for_each(|n| writeln!(file, "{}", cells(n)))?;
    file.flush()
}

/// Does a step and prints its seconds of processor time, and the memory of the process: at most during the step, and after it.
fn step<T>(name: &str, work: impl FnOnce() -> T) -> Result<T, Box<dyn Error>> {
    // Resets the peak.
    fs::write("/proc/self/clear_refs", "5")?;
    let (began, cpu) = (Instant::now(), cpu_seconds()?);
    let value = work();
    let (seconds, cpu) = (began.elapsed().as_secs_f64(), cpu_seconds()? - cpu);
    let status = fs::read_to_string("/proc/self/status")?;
    let mib = |name: &str| -> Result<u64, Box<dyn Error>> {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).ok_or("no memory in status")?;
        Ok(line.trim().trim_end_matches(" kB").parse::<u64>()? >> 10)
    };
    let (peak, now) = (mib("VmHWM:")?, mib("VmRSS:")?);
    println!("{name}: {seconds:.2} s, processor {cpu:.2} s, at most {peak} MiB, then {now} MiB");
    Ok(value)
}

/// The processor time of this process so far.
fn cpu_seconds() -> Result<f64, Box<dyn Error>> {
    const PER_SECOND: f64 = 100.0;
    let stat = fs::read_to_string("/proc/self/stat")?;
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks =
        |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok()).ok_or("no times in stat");
    Ok((ticks(11)? + ticks(12)?) / PER_SECOND)
}
