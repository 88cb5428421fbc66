//! How much of the disk a child's folder takes.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::sys::statvfs::statvfs;
use tokio::task::spawn_blocking;

use crate::excess::{Excess, Resource};

/// How often the folder is measured, unless that takes long.
const CHECK_INTERVAL: Duration = Duration::from_millis(250);
/// Measuring takes at most this part of the time.
const MEASURE_FACTOR: u32 = 20;
/// The default limit, however large the disk is.
const MAX_MIB: u64 = 100 * 1024;
/// A child is stopped when less than this is left on the disk.
const RESERVE_MIB: u64 = 256;
/// A child is stopped when fewer files than this can be created on the disk.
const RESERVE_FILES: u64 = 256;

/// How deep folders may be nested; a dozen is usual.
const MAX_DEPTH: usize = 200;

/// How much of the disk one child may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// In MiB.
    pub disk_mib: u64,
    /// In files and folders.
    pub files: u64,
    /// Disk space that has to stay free, in MiB.
    pub reserve_mib: u64,
}

impl Limits {
    /// For a child that starts now in `folder`: `disk_mib`, or half of the free space.
    pub fn now(folder: &Path, disk_mib: Option<u64>, files: u64) -> Self {
        let free = free_mib(folder).unwrap_or(MAX_MIB);
        let disk_mib = disk_mib.unwrap_or((free / 2).clamp(1, MAX_MIB));
        // The child is not to blame for a disk that is nearly full when it starts.
        let reserve_mib = if free > 4 * RESERVE_MIB { RESERVE_MIB } else { 0 };
        Self { disk_mib, files, reserve_mib }
    }
}

/// Returns once `folder` exceeds `limits`.
pub(crate) async fn exceeded(folder: PathBuf, limits: Limits) -> Excess {
    let mut pause = CHECK_INTERVAL;
    loop {
        tokio::time::sleep(pause).await;
        let started = Instant::now();
        let looked_at = folder.clone();
        if let Ok(Some(excess)) = spawn_blocking(move || excess(&looked_at, limits)).await {
            return excess;
        }
        pause = CHECK_INTERVAL.max(started.elapsed() * MEASURE_FACTOR);
    }
}

fn excess(folder: &Path, limits: Limits) -> Option<Excess> {
    let taken = DiskUse::by(folder, limits);
    let of_files = |message| Some(Excess { message, resource: Resource::Files });
    let (mib, limit) = (taken.bytes >> 20, limits.disk_mib);
    if mib > limit {
        return of_files(format!(
            "stopped: its files took more than {limit} MiB of the disk, which is the limit"
        ));
    }
    let most = limits.files;
    if taken.files > most {
        return of_files(format!("stopped: it created more than {most} files, which is the limit"));
    }
    if taken.is_too_deep {
        return of_files(format!(
            "stopped: its folders are nested more than {MAX_DEPTH} deep, which is the limit"
        ));
    }
    if let Some(unseen) = taken.unseen {
        let name = unseen.strip_prefix(folder).unwrap_or(&unseen).display();
        return of_files(format!(
            "stopped: it removed the permission to read its folder {name}, so its disk usage cannot be measured"
        ));
    }
    let left = free_mib(folder)?;
    // Open files that were deleted are not found, but they fill the disk.
    (left < limits.reserve_mib).then(|| Excess {
        message: format!("stopped: the disk is nearly full, {left} MiB are left; its files take {mib} MiB"),
        resource: Resource::Disk,
    })
}

/// What is left on the disk of `folder` if it is full; `None` if it is not. Once a child's files are removed, this tells
/// whether others have filled the disk.
pub fn left_if_full(folder: &Path) -> Option<String> {
    let size = statvfs(folder).ok()?;
    let bytes = bytes(size.blocks_available(), size.fragment_size());
    if bytes >> 20 < RESERVE_MIB {
        return Some(if bytes >> 20 > 0 {
            format!("{} MiB", bytes >> 20)
        } else {
            format!("{} KiB", bytes >> 10)
        });
    }
    // Some file systems have no fixed number of files and report 0.
    let (files, left) = (number(size.files()), number(size.files_available()));
    (files > 0 && left < RESERVE_FILES).then(|| format!("room for {left} files"))
}

/// What is left on the disk of `folder`, in MiB; `None` if it cannot be read.
pub fn free_mib(folder: &Path) -> Option<u64> {
    let size = statvfs(folder).ok()?;
    Some(bytes(size.blocks_available(), size.fragment_size()) >> 20)
}

/// The number of bytes in this many `blocks`.
pub(crate) fn bytes(blocks: impl Into<u64>, size: impl Into<u64>) -> u64 {
    number(blocks) * number(size)
}

/// Systems count blocks and files in integers of different width.
fn number(count: impl Into<u64>) -> u64 {
    count.into()
}

/// The findings so far.
#[derive(Default)]
struct DiskUse {
    bytes: u64,
    files: u64,
    /// A folder that cannot be read.
    unseen: Option<PathBuf>,
    is_too_deep: bool,
}

impl DiskUse {
    /// Counts below `folder`, up to the limits. Links are not followed. Permissions are not changed in order to read a
    /// folder: a child that is quicker could make the path lead elsewhere.
    fn by(folder: &Path, limits: Limits) -> Self {
        let mut taken = Self::default();
        let mut folders = vec![(folder.to_owned(), 0)];
        while let Some((folder, depth)) = folders.pop() {
            if depth > MAX_DEPTH {
                taken.is_too_deep = true;
                break;
            }
            match taken.add(&folder) {
                Ok(below) => folders.extend(below.into_iter().map(|below| (below, depth + 1))),
                // A folder that vanished does not count, nor does one that only the program lacks memory or files for.
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => taken.unseen = Some(folder),
                // With long names, the path of a few folders is already too long for the system.
                Err(error) => taken.is_too_deep |= error.kind() == io::ErrorKind::InvalidFilename,
            }
            if taken.files > limits.files || taken.bytes >> 20 > limits.disk_mib {
                break;
            }
        }
        taken
    }

    /// Counts the entries of `folder`; returns the folders among them.
    fn add(&mut self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        let mut below = Vec::new();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let meta = match entry.metadata() {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                meta => meta?,
            };
            self.files += 1;
            // The space on disk, not the length: files may have holes.
            self.bytes += meta.blocks() * 512;
            if meta.is_dir() {
                below.push(entry.path());
            }
        }
        Ok(below)
    }
}
