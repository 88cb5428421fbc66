//! How much of the disk a script's folder takes.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::sys::statvfs::statvfs;
use tokio::task::spawn_blocking;

use super::watch::{Excess, Resource};

/// How often the folder is looked through, unless that takes long.
const EVERY: Duration = Duration::from_millis(250);
/// Looking takes at most this part of the time.
const SHARE: u32 = 20;
/// No script may take more, however large the disk is.
const LARGEST_MIB: u64 = 100 * 1024;
/// With less than this left on the disk, a script that is writing is stopped.
const RESERVE_MIB: u64 = 256;
/// The same in files.
const RESERVE_FILES: u64 = 256;

/// Folders in folders of one script: honest ones have a dozen.
const DEEPEST: usize = 200;

/// How much of the disk one script may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) disk_mib: u64,
    pub(super) files: u64,
    /// Space that has to stay free, in MiB.
    pub(super) reserve_mib: u64,
}

impl Limits {
    /// For a script that starts now in `folder`: `disk_mib`, or half of what is free.
    pub(super) fn now(folder: &Path, disk_mib: Option<u64>, files: u64) -> Self {
        let free = free_mib(folder).unwrap_or(LARGEST_MIB);
        let disk_mib = disk_mib.unwrap_or((free / 2).clamp(1, LARGEST_MIB));
        // A disk that is nearly full at the start is not this script's doing.
        let reserve_mib = if free > 4 * RESERVE_MIB { RESERVE_MIB } else { 0 };
        Self { disk_mib, files, reserve_mib }
    }
}

/// Returns once `folder` has more in it than `limits` allow, with a sentence that says so.
pub(super) async fn exceeded(folder: PathBuf, limits: Limits) -> Excess {
    let mut pause = EVERY;
    loop {
        tokio::time::sleep(pause).await;
        let started = Instant::now();
        let looked_at = folder.clone();
        if let Ok(Some(excess)) = spawn_blocking(move || excess(&looked_at, limits)).await {
            return excess;
        }
        pause = EVERY.max(started.elapsed() * SHARE);
    }
}

fn excess(folder: &Path, limits: Limits) -> Option<Excess> {
    let taken = Taken::by(folder, limits);
    let of_files = |said| Some(Excess { said, of: Resource::Files });
    let (mib, limit) = (taken.bytes >> 20, limits.disk_mib);
    if mib > limit {
        return of_files(format!(
            "stopped: its files took more than {limit} MiB of the disk, which is the limit"
        ));
    }
    let most = limits.files;
    if taken.files > most {
        return of_files(format!("stopped: it made more than {most} files, which is the limit"));
    }
    if taken.is_too_deep {
        return of_files(format!("stopped: its folders lie more than {DEEPEST} deep, which is the limit"));
    }
    if let Some(unseen) = taken.unseen {
        let name = unseen.strip_prefix(folder).unwrap_or(&unseen).display();
        return of_files(format!(
            "stopped: it took away the permission to look into its folder {name}, so nobody can tell what it takes of the disk"
        ));
    }
    let left = free_mib(folder)?;
    // Files that are open and have no name any more are not found, but they fill the disk.
    (left < limits.reserve_mib).then(|| Excess {
        said: format!("stopped: the disk is nearly full, {left} MiB are left; its files take {mib} MiB"),
        of: Resource::Volume,
    })
}

/// Is the volume of `folder` full whatever a script does? Asked when no file of the script is left. In words: how
/// much is left.
pub(super) fn is_full(folder: &Path) -> Option<String> {
    let size = statvfs(folder).ok()?;
    let bytes = bytes(size.blocks_available(), size.fragment_size());
    if bytes >> 20 < RESERVE_MIB {
        return Some(if bytes >> 20 > 0 {
            format!("{} MiB", bytes >> 20)
        } else {
            format!("{} KiB", bytes >> 10)
        });
    }
    // Some systems of files have no fixed number of files, and say that it is 0.
    let (files, left) = (number(size.files()), number(size.files_available()));
    (files > 0 && left < RESERVE_FILES).then(|| format!("room for {left} files"))
}

fn free_mib(folder: &Path) -> Option<u64> {
    let size = statvfs(folder).ok()?;
    Some(bytes(size.blocks_available(), size.fragment_size()) >> 20)
}

/// How many bytes so many `blocks` hold.
pub(super) fn bytes(blocks: impl Into<u64>, size: impl Into<u64>) -> u64 {
    number(blocks) * number(size)
}

/// Systems count blocks and files in numbers of different width.
fn number(count: impl Into<u64>) -> u64 {
    count.into()
}

/// What was found so far.
#[derive(Default)]
struct Taken {
    bytes: u64,
    files: u64,
    /// A folder whose content is not known.
    unseen: Option<PathBuf>,
    is_too_deep: bool,
}

impl Taken {
    /// Counts below `folder`, up to the limits. Links are not followed. Nothing is changed to be seen: where the
    /// script is quicker, a path may lead elsewhere.
    fn by(folder: &Path, limits: Limits) -> Self {
        let mut taken = Self::default();
        let mut folders = vec![(folder.to_owned(), 0)];
        while let Some((folder, depth)) = folders.pop() {
            if depth > DEEPEST {
                taken.is_too_deep = true;
                break;
            }
            match taken.add(&folder) {
                Ok(below) => folders.extend(below.into_iter().map(|below| (below, depth + 1))),
                // What vanished meanwhile is no matter, and neither is what only the program lacks.
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => taken.unseen = Some(folder),
                // Names may be so long that a path of few folders is too long for the system.
                Err(error) => taken.is_too_deep |= error.kind() == io::ErrorKind::InvalidFilename,
            }
            if taken.files > limits.files || taken.bytes >> 20 > limits.disk_mib {
                break;
            }
        }
        taken
    }

    /// Counts what is directly in `folder`; returns the folders among it.
    fn add(&mut self, folder: &Path) -> io::Result<Vec<PathBuf>> {
        let mut below = Vec::new();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let meta = match entry.metadata() {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                meta => meta?,
            };
            self.files += 1;
            // What is written, not the length: files may have holes.
            self.bytes += meta.blocks() * 512;
            if meta.is_dir() {
                below.push(entry.path());
            }
        }
        Ok(below)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_measured_with_all_below_it() {
        let folder = tempfile::tempdir().unwrap();
        let below = folder.path().join("a/b");
        fs::create_dir_all(&below).unwrap();
        fs::write(below.join("large"), vec![1; 3 << 20]).unwrap();
        fs::File::create(below.join("holes")).unwrap().set_len(1 << 40).unwrap();
        std::os::unix::fs::symlink("/usr", below.join("link")).unwrap();
        let check = |disk_mib, files, expected: Option<&str>| {
            let found = excess(folder.path(), Limits { disk_mib, files, reserve_mib: 0 });
            assert_eq!(found.is_some(), expected.is_some(), "{disk_mib} {files} {found:?}");
            let said = found.map(|excess| excess.said).unwrap_or_default();
            assert!(expected.is_none_or(|part| said.contains(part)), "{disk_mib} {files}");
        };
        check(4, 5, None);
        check(2, 5, Some("2 MiB"));
        check(4, 4, Some("4 files"));
        let full = Limits { disk_mib: 4, files: 5, reserve_mib: u64::MAX };
        assert!(excess(folder.path(), full).is_some_and(|excess| excess.said.contains("nearly full")));
    }
}
