//! Reads damaged files: `fuzz COUNT SEED FOLDER SCRATCH` changes the files of a folder at random places, so many times in
//! all, and reads each. It tells panics, messages of several lines, and files that take long. A child process reads the
//! files. Where one ends it, or keeps it for minutes, this is told, too, and the next child goes on after it.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Cursor, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use fastrand::Rng;
use mle_star_formats::{Options, detect, is_plain, open};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

/// Reading a small file may take so long.
const LONG: Duration = Duration::from_secs(5);
/// Pieces that readers may stumble over.
const PIECES: [&[u8]; 15] = [
    b"\0",
    b"\"",
    b",",
    b"\n",
    b"\r\n",
    b"\xFF",
    b"{",
    b"[",
    b"null",
    b"1e999",
    b"\\u0000",
    b"\xFF\xFF\xFF\xFF",
    b"\x7F\xFF\xFF\xFF",
    b"1,234",
    b"<c r=\"XFD1048576\"/>",
];

fn main() -> io::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match &words[..] {
        [count, seed, folder, scratch] => parent(number(count)?, number(seed)?, folder, Path::new(scratch)),
        ["child", from, to, folder, scratch] => child(number(from)?, number(to)?, folder, Path::new(scratch)),
        _ => Err(io::Error::other("fuzz COUNT SEED FOLDER SCRATCH")),
    }
}

fn number(word: &str) -> io::Result<u64> {
    word.parse().map_err(io::Error::other)
}

fn parent(count: u64, seed: u64, folder: &str, scratch: &Path) -> io::Result<()> {
    let (begin, mut said) = (Instant::now(), io::stdout().lock());
    fs::create_dir_all(scratch)?;
    let (mut next, end, mut deaths) = (seed, seed + count, 0);
    while next < end {
        let words = ["child".to_owned(), next.to_string(), end.to_string(), folder.to_owned()];
        let status = Command::new(std::env::current_exe()?).args(words).arg(scratch).status()?;
        let last = number(fs::read_to_string(scratch.join("at"))?.trim())?;
        if status.success() {
            break;
        }
        deaths += 1;
        for entry in fs::read_dir(scratch.join("file"))?.flatten() {
            let kept = scratch.join(format!("death-{last}-{}", entry.file_name().to_string_lossy()));
            fs::copy(entry.path(), &kept)?;
            writeln!(said, "{status}: {}", kept.display())?;
        }
        next = last + 1;
    }
    writeln!(said, "{count} files, {deaths} ended the process, {:.0} s", begin.elapsed().as_secs_f64())
}

fn child(from: u64, to: u64, folder: &str, scratch: &Path) -> io::Result<()> {
    let mut seeds: Vec<(String, Vec<u8>)> = Vec::new();
    for entry in fs::read_dir(folder)?.flatten().filter(|entry| entry.path().is_file()) {
        seeds.push((entry.file_name().to_string_lossy().into_owned(), fs::read(entry.path())?));
    }
    seeds.sort();
    let current = Arc::new(AtomicU64::new(from));
    watch(current.clone());
    let mut said = io::stdout().lock();
    let mut counts: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for seed in from..to {
        let mut random = Rng::with_seed(seed);
        let (name, bytes) = &seeds[random.usize(..seeds.len())];
        let other = &seeds[random.usize(..seeds.len())].1;
        let bytes = changed(&mut random, name, bytes, other);
        let path = place(scratch, seed, name, &bytes)?;
        current.store(seed, Ordering::Relaxed);
        let begin = Instant::now();
        let result = catch_unwind(AssertUnwindSafe(|| read(&path)));
        let ending = name.rsplit('.').next().unwrap_or_default();
        let count = counts.entry(ending.to_owned()).or_default();
        count.0 += 1;
        let problem = match result {
            Err(_) => Some("panic".to_owned()),
            Ok(Ok(())) => {
                count.1 += 1;
                None
            }
            Ok(Err(message)) if message.contains('\n') || message.contains("rust") => Some(message),
            Ok(Err(_)) => None,
        };
        let problem = problem.or_else(|| (begin.elapsed() > LONG).then(|| format!("{:?}", begin.elapsed())));
        if let Some(problem) = problem {
            let kept = scratch.join(format!("case-{seed}-{name}"));
            fs::copy(&path, &kept)?;
            writeln!(said, "{}: {problem}", kept.display())?;
        }
        if (seed + 1 - from).is_multiple_of(50_000) {
            writeln!(said, "{seed}: {counts:?} (files, of them read)")?;
        }
    }
    writeln!(said, "{counts:?} (files, of them read)")
}

/// Ends the process if it reads one file for a minute.
fn watch(current: Arc<AtomicU64>) {
    std::thread::spawn(move || {
        let mut before = None;
        loop {
            std::thread::sleep(Duration::from_secs(60));
            let now = Some(current.load(Ordering::Relaxed));
            if now == before {
                std::process::exit(1);
            }
            before = now;
        }
    });
}

/// Writes a file where the parent finds it if the process ends.
fn place(scratch: &Path, seed: u64, name: &str, bytes: &[u8]) -> io::Result<PathBuf> {
    let folder = scratch.join("file");
    fs::create_dir_all(&folder)?;
    for entry in fs::read_dir(&folder)?.flatten() {
        fs::remove_file(entry.path())?;
    }
    fs::write(scratch.join("at"), seed.to_string())?;
    fs::write(folder.join(name), bytes)?;
    Ok(folder.join(name))
}

fn read(path: &Path) -> Result<(), String> {
    let message = |trouble: mle_star_domain::trouble::Trouble| trouble.message;
    detect(path).map_err(message)?;
    is_plain(path).map_err(message)?;
    let table = open(path, &Options::default()).map_err(message)?;
    table.notes();
    let mut rows = 0;
    let width = table.columns().len();
    table
        .each_row(&mut |row| {
            rows += 1;
            assert_eq!(row.len(), width, "cells of a row");
            Ok(())
        })
        .map_err(message)?;
    assert_eq!(rows, table.row_count(), "rows of a table");
    Ok(())
}

/// A changed file. Of archives, mostly a member is changed, so that the archive itself can be read.
fn changed(random: &mut Rng, name: &str, bytes: &[u8], other: &[u8]) -> Vec<u8> {
    let is_archive = bytes.starts_with(b"PK\x03\x04") && random.u8(..10) > 0;
    if is_archive && let Some(archive) = within(random, bytes, other) {
        return archive;
    }
    if name.ends_with(".gz") && random.bool() {
        let mut plain = Vec::new();
        if flate2::read::MultiGzDecoder::new(bytes).read_to_end(&mut plain).is_ok() {
            let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            _ = packed.write_all(&mutated(random, &plain, other));
            return packed.finish().unwrap_or_default();
        }
    }
    mutated(random, bytes, other)
}

fn within(random: &mut Rng, bytes: &[u8], other: &[u8]) -> Option<Vec<u8>> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).ok()?;
    let chosen = random.usize(..archive.len().max(1));
    let mut out = ZipWriter::new(Cursor::new(Vec::new()));
    for at in 0..archive.len() {
        let mut member = archive.by_index(at).ok()?;
        let mut content = Vec::new();
        member.read_to_end(&mut content).ok()?;
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
        out.start_file(member.name().ok()?.to_string(), options).ok()?;
        let content = if at == chosen { mutated(random, &content, other) } else { content };
        out.write_all(&content).ok()?;
    }
    Some(out.finish().ok()?.into_inner())
}

fn mutated(random: &mut Rng, bytes: &[u8], other: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..1 + random.usize(..4) {
        let length = bytes.len();
        if length == 0 {
            return bytes;
        }
        // The ends of columnar files say the most.
        let at = if random.u8(..3) == 0 {
            length - 1 - random.usize(..length.min(2_048))
        } else {
            random.usize(..length)
        };
        let to = at + random.usize(..=(length - at).min(64));
        match random.u8(..10) {
            0 => bytes.truncate(at),
            1 | 2 => bytes[at] ^= 1 << random.u8(..8),
            3 => bytes[at] = random.u8(..),
            4 => drop(bytes.drain(at..to)),
            5 => bytes[at..to].iter_mut().for_each(|byte| *byte = random.u8(..)),
            6 => drop(bytes.splice(at..at, PIECES[random.usize(..PIECES.len())].iter().copied())),
            7 => {
                let piece = bytes[at..to].to_vec();
                drop(bytes.splice(at..at, piece));
            }
            8 => {
                let from = random.usize(..other.len().max(1)).min(other.len());
                let piece = &other[from..(from + 64).min(other.len())];
                drop(bytes.splice(at..to, piece.iter().copied()));
            }
            _ => {
                let value = [0, 1, 0x7F, 0x80, 0xFF][random.usize(..5)];
                bytes[at..to.min(at + 8)].iter_mut().for_each(|byte| *byte = value);
            }
        }
    }
    bytes
}
