//! A large file to several runners of one host.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::process::Command;
use std::time::Instant;

use super::processes::{descendants, processor_time, written};
use super::world::World;
use super::{Failure, Words};

/// A file of noise to all runners at once.
pub async fn data(words: &Words, mib: usize, runners: usize) -> Result<(), Failure> {
    let world = World::new(words, false).await?;
    let file = world.data().join("big.bin");
    write(&file, mib)?;
    let bytes = fs::metadata(&file)?.len();
    let copy = world.path("copy");
    let mut copying = Vec::new();
    for _ in 0..3 {
        let began = Instant::now();
        if !Command::new("cp").arg(&file).arg(&copy).status()?.success() {
            return Err("cp failed".into());
        }
        copying.push(began.elapsed().as_secs_f64());
        fs::remove_file(&copy)?;
    }
    let copying = super::quartiles(copying)[1];
    let on = world.fleet(runners, &["--copy-data"])?;
    let leases = on.leases(runners).await?;
    println!(
        "{runners} runners, {} processes, {mib} MiB of noise; cp takes {copying:.2} s",
        descendants().len()
    );
    let script = "import os; print(os.stat('input/big.bin').st_size)";
    for what in ["first", "again"] {
        let (before, processor, began) = (written()?, processor_time(), Instant::now());
        let running = leases.iter().map(|lease| world.run(&on.scripts, script, lease.slot()));
        for outcome in futures_util::future::join_all(running).await {
            if outcome?.stdout.head.trim() != bytes.to_string() {
                return Err("a script saw another file".into());
            }
        }
        let (took, sent) = (began.elapsed().as_secs_f64(), written()? - before);
        println!(
            "{what}: {:.4} of the file was sent, in {took:.2} s, {:.2} times cp; processor time {:.2} s",
            sent as f64 / bytes as f64,
            took / copying,
            (processor_time() - processor).as_secs_f64(),
        );
    }
    drop(leases);
    on.end().await
}

/// Bytes that do not compress.
fn write(path: &std::path::Path, mib: usize) -> Result<(), Failure> {
    let mut file = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let mut state = 7_u64;
    for _ in 0..mib * (1 << 17) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        file.write_all(&state.to_le_bytes())?;
    }
    Ok(file.flush()?)
}
