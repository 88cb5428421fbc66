//! Measures what it costs to hold out rows of a large table: `cargo run --release -p mle-star-data --example holdout_cost`.
//!
//! Prints seconds and peak memory of each step, for 3 million training rows (or the number given) of five columns.

#![expect(clippy::print_stdout, reason = "a benchmark is read on the terminal")]

use std::error::Error;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use mle_star_data::holdout::{MOST, Roles, Share, labels, plan, trim, write};
use mle_star_data::profile;
use mle_star_domain::protocol::{Split, SplitKind};

fn main() -> Result<(), Box<dyn Error>> {
    let rows: u64 = std::env::args().nth(1).map_or(Ok(3_000_000), |rows| rows.parse())?;
    let folder = tempfile::tempdir()?;
    let data = folder.path().join("data");
    fs::create_dir(&data)?;
    let all = rows + rows / 4;
    let cells = |n: u64| format!("{n},{}.5,{},{}", n % 7919, n % 97, n.wrapping_mul(0x9e37_79b9) % 10_007);
    table(&data.join("train.csv"), "id,a,b,c,y", 0..rows, |n| format!("{},{}", cells(n), n % 2))?;
    table(&data.join("test.csv"), "id,a,b,c", rows..all, cells)?;
    table(&data.join("sample_submission.csv"), "id,y", rows..all, |n| format!("{n},0.5"))?;
    println!("train.csv: {rows} rows, {} MB", fs::metadata(data.join("train.csv"))?.len() / 1_000_000);

    let profile = step("profile", || profile::read(&data))?.map_err(|error| format!("{error:?}"))?;
    let split = Split { kind: SplitKind::Stratified, column: None, why: String::new() };
    let roles = Roles { target: Some("y"), id: Some("id") };
    let share = Share::Auto { most: MOST };
    let plan = step("plan", || plan(&profile, &roles, &split, share, 42))?;
    let plan = plan.map_err(|off| off.0)?;
    println!("{} rows are held out", plan.rows());
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

/// Does a step and prints its seconds and the peak memory of the process during it.
fn step<T>(name: &str, work: impl FnOnce() -> T) -> Result<T, Box<dyn Error>> {
    // Resets the peak.
    fs::write("/proc/self/clear_refs", "5")?;
    let began = Instant::now();
    let value = work();
    let seconds = began.elapsed().as_secs_f64();
    let status = fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no VmHWM")?;
    let kib: u64 = peak.trim().trim_end_matches(" kB").parse()?;
    println!("{name}: {seconds:.1} s, {} MiB", kib >> 10);
    Ok(value)
}
