//! The data of runs on a runner's machine: every file once, by content, for all runners of a user.
//!
//! ```text
//! files/ab/abcd…        a file, or the list of a data folder's files, named by its digest
//! files/ab/abcd….part   the part of a file that has arrived; whoever receives it holds its lock
//! views/DIGEST/         the data of a run: links to files; the digest is that of the list
//! views/DIGEST.lock     held by the runners that use the view
//! known/DIGEST          the digest of a file in place, named by a digest of its path, size, inode and time
//! ```

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use mle_star::journal::{Lock, is_unsupported, try_lock};
use mle_star_process::disk::free_mib;
use mle_star_process::remove::remove_tree;

use super::manifest::{self, Manifest};
use super::protocol::CHUNK_BYTES;

/// The data of runs on this machine.
#[derive(Clone, Debug)]
pub(super) struct Cache {
    folder: PathBuf,
    /// The most that its files may occupy, in bytes.
    limit: u64,
    /// Whether files that lie at the same path on both machines are used where they are.
    in_place: bool,
}

/// Whether this runner has to receive a file.
#[derive(Debug)]
pub(super) enum Claim {
    /// It is there.
    Have,
    /// It is to be received now.
    Mine(Box<IncomingFile>),
    /// Another runner receives it.
    Busy,
}

/// A file that arrives in pieces. Its part is locked.
#[derive(Debug)]
pub(super) struct IncomingFile {
    part: File,
    _lock: Lock,
    part_path: PathBuf,
    whole: PathBuf,
    digest: String,
    hasher: blake3::Hasher,
}

/// A data folder that is in use.
#[derive(Debug)]
pub(super) struct View {
    pub(super) folder: PathBuf,
    _lock: File,
}

impl Cache {
    /// `limit` is in bytes. Without one, its files may occupy half of the free space and of what they occupy already, together.
    pub(super) fn new(folder: &Path, limit: Option<u64>, in_place: bool) -> io::Result<Self> {
        for name in ["files", "views", "known"] {
            fs::create_dir_all(folder.join(name))?;
        }
        let mut cache = Self { folder: folder.canonicalize()?, limit: u64::MAX, in_place };
        let half =
            |free_mib: u64| Ok::<_, io::Error>(free_mib.saturating_mul(1 << 20) / 2 + cache.used()? / 2);
        cache.limit = match (limit, free_mib(folder)) {
            (Some(limit), _) => limit,
            (None, Some(free)) => half(free)?,
            (None, None) => u64::MAX,
        };
        Ok(cache)
    }

    /// Where it lies. Scripts may read only their own data of it.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether a file is there, or has to be received.
    pub(super) fn claim(&self, digest: &str) -> io::Result<Claim> {
        let whole = self.file(digest);
        let part_path = whole.with_extension("part");
        if let Some(folder) = whole.parent() {
            fs::create_dir_all(folder)?;
        }
        loop {
            if whole.exists() {
                return Ok(Claim::Have);
            }
            let options = File::options().read(true).write(true).create(true).truncate(false).clone();
            let mut part = options.open(&part_path)?;
            let Some(lock) = try_lock(&part, &part_path)? else { return Ok(Claim::Busy) };
            // Whoever held the lock may have renamed or removed it meanwhile.
            let is_same = fs::metadata(&part_path)
                .is_ok_and(|now| part.metadata().is_ok_and(|mine| mine.ino() == now.ino()));
            if !is_same {
                continue;
            }
            let mut hasher = blake3::Hasher::new();
            hasher.update_reader(&mut part)?;
            let digest = digest.to_owned();
            return Ok(Claim::Mine(Box::new(IncomingFile {
                part,
                _lock: lock,
                part_path,
                whole,
                digest,
                hasher,
            })));
        }
    }

    /// Whether a file lies at the same path here as on the program's machine, with the same content.
    pub(super) fn in_place(&self, entry: &manifest::Entry) -> bool {
        let stamp = || {
            let meta = fs::metadata(&entry.at).ok().filter(fs::Metadata::is_file)?;
            let modified = meta.modified().ok()?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
            (meta.len() == entry.bytes)
                .then(|| format!("{}\n{}\n{}\n{modified:?}", entry.at.display(), meta.len(), meta.ino()))
        };
        let Some(stamp) = self.in_place.then(stamp).flatten() else { return false };
        let known = self.folder.join("known").join(blake3::hash(stamp.as_bytes()).to_hex().as_str());
        if let Ok(digest) = fs::read_to_string(&known) {
            return digest == entry.digest;
        }
        let Ok((digest, _)) = manifest::digest(&entry.at) else { return false };
        // Without it, the file is read again next time.
        let _ = fs::write(&known, &digest);
        digest == entry.digest
    }

    /// The list of a data folder's files, if it is there. A damaged one is removed.
    pub(super) fn list(&self, digest: &str) -> io::Result<Manifest> {
        let path = self.file(digest);
        let text = fs::read(&path)?;
        if blake3::hash(&text).to_hex().as_str() == digest {
            return Manifest::read(&text);
        }
        fs::remove_file(&path)?;
        Err(not_found("the list of the data's files is damaged"))
    }

    /// How many bytes of a file have to come; `None`: it is there. A file of the wrong size is removed and counts as missing.
    pub(super) fn missing(&self, entry: &manifest::Entry) -> io::Result<Option<u64>> {
        let whole = self.file(&entry.digest);
        match fs::metadata(&whole) {
            Ok(found) if found.len() == entry.bytes => return Ok(None),
            // The machine may have lost power before the content was on its disk.
            Ok(_) => fs::remove_file(&whole)?,
            Err(_) => {}
        }
        let part = fs::metadata(whole.with_extension("part")).map_or(0, |part| part.len());
        Ok(Some(entry.bytes.saturating_sub(part)))
    }

    /// Keeps data from being removed.
    pub(super) fn hold(&self, digest: &str) -> io::Result<File> {
        let lock = self.lock(digest)?;
        // Without locks in this file system, no view is ever removed.
        if let Err(error) = lock.lock_shared()
            && !is_unsupported(&error)
        {
            return Err(error);
        }
        // The time of the last use.
        lock.set_modified(SystemTime::now())?;
        Ok(lock)
    }

    /// The data folder for a manifest. The lock is that of [`Self::hold`].
    ///
    /// # Errors
    /// Something cannot be read or written; `NotFound`: not all files are there.
    pub(super) fn view(&self, digest: &str, manifest: &Manifest, lock: File) -> io::Result<View> {
        let folder = self.view_folder(digest);
        let is_whole = |folder: &Path| {
            // A view without files is whole as soon as its folder exists.
            let mut files = manifest.files.iter();
            folder.is_dir()
                && files.all(|entry| {
                    let found = fs::metadata(folder.join(&entry.path));
                    found.is_ok_and(|found| found.len() == entry.bytes)
                        && (!folder.join(&entry.path).is_symlink() || self.in_place(entry))
                })
        };
        if !is_whole(&folder) {
            let new = tempfile::Builder::new().prefix(".new-").tempdir_in(self.folder.join("views"))?;
            let made = new.path().join("data");
            fs::create_dir(&made)?;
            for entry in &manifest.files {
                self.link(entry, &made.join(&entry.path))?;
            }
            // Another runner may have made it meanwhile.
            if fs::rename(&made, &folder).is_err() && !is_whole(&folder) {
                remove_tree(&folder)?;
                fs::rename(&made, &folder)?;
            }
            if !is_whole(&folder) {
                return Err(not_found("a file of the data is damaged"));
            }
        }
        Ok(View { folder, _lock: lock })
    }

    fn link(&self, entry: &manifest::Entry, to: &Path) -> io::Result<()> {
        if let Some(folder) = to.parent() {
            fs::create_dir_all(folder)?;
        }
        if self.in_place(entry) {
            return symlink(&entry.at, to);
        }
        let file = self.file(&entry.digest);
        // Some disks have no hard links.
        fs::hard_link(&file, to).or_else(|_| fs::copy(&file, to).map(drop))
    }

    /// Removes data that a script changed.
    pub(super) fn forget(&self, digest: &str, manifest: &Manifest) -> io::Result<()> {
        for entry in &manifest.files {
            let _ = fs::remove_file(self.file(&entry.digest));
        }
        remove_tree(&self.view_folder(digest))
    }

    /// Removes what was not used for the longest time, until `bytes` more fit. What `needed` names stays.
    ///
    /// # Errors
    /// They do not fit, or the folder cannot be read.
    pub(super) fn make_room(&self, bytes: u64, needed: &Manifest) -> io::Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        let mut used = self.used()?;
        if used + bytes <= self.limit {
            return Ok(());
        }
        let needed: HashSet<&str> = needed.files.iter().map(|entry| &*entry.digest).collect();
        let is_needed =
            |path: &Path| path.file_stem().and_then(OsStr::to_str).is_some_and(|name| needed.contains(name));
        for (path, meta) in self.files()? {
            // If its lock is free, nobody receives the rest. Without locks in this file system, nothing is removed.
            let is_left = |part: File| part.try_lock().is_ok() && fs::remove_file(&path).is_ok();
            let is_other_part = path.extension().is_some() && !is_needed(&path);
            if is_other_part && File::open(&path).is_ok_and(is_left) {
                used = used.saturating_sub(meta.len());
            }
        }
        if used + bytes <= self.limit {
            return Ok(());
        }
        let mut views: Vec<(SystemTime, PathBuf)> = Vec::new();
        for entry in fs::read_dir(self.folder.join("views"))? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "lock") {
                views.push((fs::metadata(&path)?.modified()?, path));
            }
        }
        views.sort();
        for (_, lock) in views {
            let unused = File::open(&lock)?;
            let Ok(()) = unused.try_lock() else { continue };
            remove_tree(&lock.with_extension(""))?;
            for (path, meta) in self.files()? {
                // A file of no other view, which nobody receives.
                let is_free = meta.nlink() == 1 && path.extension().is_none() && !is_needed(&path);
                if is_free && used + bytes > self.limit {
                    used = used.saturating_sub(meta.len());
                    fs::remove_file(path)?;
                }
            }
            if used + bytes <= self.limit {
                return Ok(());
            }
        }
        let gib = |bytes: u64| format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30));
        let message = format!(
            "the data needs {} more, but the runner's cache holds {} in use, and its limit is {}",
            gib(bytes),
            gib(used),
            gib(self.limit)
        );
        Err(io::Error::new(io::ErrorKind::QuotaExceeded, message))
    }

    fn used(&self) -> io::Result<u64> {
        Ok(self.files()?.iter().map(|(_, meta)| meta.len()).sum())
    }

    fn files(&self) -> io::Result<Vec<(PathBuf, fs::Metadata)>> {
        let mut files = Vec::new();
        for folder in fs::read_dir(self.folder.join("files"))? {
            for file in fs::read_dir(folder?.path())? {
                let path = file?.path();
                // Another runner may remove it now.
                files.extend(fs::metadata(&path).ok().map(|meta| (path, meta)));
            }
        }
        Ok(files)
    }

    fn file(&self, digest: &str) -> PathBuf {
        self.folder.join("files").join(&digest[..2]).join(digest)
    }

    /// Views with and without files in place are different.
    fn view_folder(&self, digest: &str) -> PathBuf {
        let kind = if self.in_place { "" } else { "-copied" };
        self.folder.join("views").join(format!("{digest}{kind}"))
    }

    fn lock(&self, digest: &str) -> io::Result<File> {
        let path = self.view_folder(digest).with_added_extension("lock");
        File::options().read(true).write(true).create(true).truncate(false).open(path)
    }
}

impl IncomingFile {
    /// How much is there already.
    pub(super) fn have(&self) -> u64 {
        self.hasher.count()
    }

    /// Adds a piece. Returns whether the file is whole.
    ///
    /// # Errors
    /// The piece does not fit, the disk is full, or the content is not what it should be.
    pub(super) fn add(&mut self, offset: u64, piece: &[u8], is_last: bool) -> io::Result<bool> {
        let damaged = |message| io::Error::new(io::ErrorKind::InvalidData, message);
        if offset != self.have() {
            return Err(damaged("a piece of a file is missing"));
        }
        self.part.seek(SeekFrom::Start(offset))?;
        self.part.write_all(piece)?;
        self.hasher.update(piece);
        if !is_last {
            return Ok(false);
        }
        if self.hasher.finalize().to_hex().as_str() != self.digest {
            fs::remove_file(&self.part_path)?;
            return Err(damaged("a file arrived with other content than it should have"));
        }
        self.part.set_permissions(fs::Permissions::from_mode(0o444))?;
        // Small files are many. What a crash leaves of them has another size.
        if self.have() > CHUNK_BYTES as u64 {
            self.part.sync_all()?;
        }
        fs::rename(&self.part_path, &self.whole)?;
        Ok(true)
    }
}

/// What has to be received again.
fn not_found(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runners::manifest::Entry;

    fn cache(folder: &Path, limit: u64, in_place: bool) -> Cache {
        Cache::new(&folder.join("cache"), Some(limit), in_place).unwrap()
    }

    fn entry(folder: &Path, name: &str, content: &[u8]) -> Entry {
        let at = folder.join(name);
        fs::write(&at, content).unwrap();
        let (digest, bytes) = manifest::digest(&at).unwrap();
        Entry { path: name.into(), bytes, digest, at }
    }

    fn shown(cache: &Cache, data: &str, manifest: &Manifest) -> io::Result<View> {
        cache.view(data, manifest, cache.hold(data).unwrap())
    }

    fn receive(cache: &Cache, entry: &Entry) {
        let Claim::Mine(mut incoming) = cache.claim(&entry.digest).unwrap() else { panic!("not mine") };
        assert!(incoming.add(0, &fs::read(&entry.at).unwrap(), true).unwrap());
    }

    #[test]
    fn a_file_is_received_once_and_goes_on_where_it_stopped() {
        let folder = tempfile::tempdir().unwrap();
        let (cache, entry) =
            (cache(folder.path(), 1 << 20, false), entry(folder.path(), "a.csv", b"0123456789"));
        let claim = || cache.claim(&entry.digest).unwrap();
        let Claim::Mine(mut incoming) = claim() else { panic!("not mine") };
        assert!(matches!(claim(), Claim::Busy));
        assert!(!incoming.add(0, b"0123", false).unwrap());
        assert!(incoming.add(3, b"3", false).is_err(), "a piece came twice");
        drop(incoming);
        let Claim::Mine(mut incoming) = claim() else { panic!("not mine") };
        assert_eq!(incoming.have(), 4);
        assert!(incoming.add(4, b"456789", true).unwrap());
        assert!(matches!(claim(), Claim::Have));
        assert_eq!(fs::read(cache.file(&entry.digest)).unwrap(), b"0123456789");
    }

    #[test]
    fn a_file_with_other_content_is_not_kept() {
        let folder = tempfile::tempdir().unwrap();
        let (cache, entry) =
            (cache(folder.path(), 1 << 20, false), entry(folder.path(), "a.csv", b"0123456789"));
        let Claim::Mine(mut incoming) = cache.claim(&entry.digest).unwrap() else { panic!("not mine") };
        assert!(incoming.add(0, b"9876543210", true).is_err());
        drop(incoming);
        let Claim::Mine(incoming) = cache.claim(&entry.digest).unwrap() else { panic!("not mine") };
        assert_eq!(incoming.have(), 0);
    }

    #[test]
    fn a_view_shows_files_of_the_cache_and_files_in_place() {
        let folder = tempfile::tempdir().unwrap();
        for in_place in [false, true] {
            let cache = cache(&folder.path().join(in_place.to_string()), 1 << 20, in_place);
            let entries = [entry(folder.path(), "a.csv", b"a"), entry(folder.path(), "b.csv", b"bb")];
            assert_eq!(entries.each_ref().map(|entry| cache.in_place(entry)), [in_place; 2]);
            if !in_place {
                entries.iter().for_each(|entry| receive(&cache, entry));
            }
            let manifest = Manifest { files: entries.to_vec() };
            let (data, _) = manifest.text().unwrap();
            let check = || {
                let view = shown(&cache, &data, &manifest).unwrap();
                assert_eq!(fs::read(view.folder.join("b.csv")).unwrap(), b"bb");
                assert_eq!(view.folder.join("b.csv").is_symlink(), in_place);
                view
            };
            // A view that is damaged is made again.
            fs::remove_file(check().folder.join("b.csv")).unwrap();
            check();
            if in_place {
                fs::write(&entries[0].at, "x").unwrap();
                let earlier = SystemTime::now() - std::time::Duration::from_secs(100);
                File::open(&entries[0].at).unwrap().set_modified(earlier).unwrap();
                assert!(!cache.in_place(&entries[0]), "a changed file is used");
                assert!(shown(&cache, &data, &manifest).is_err());
            } else {
                // So is one whose file a crash damaged.
                let file = cache.file(&entries[1].digest);
                fs::remove_file(&file).unwrap();
                fs::write(file, b"b").unwrap();
                fs::remove_file(check().folder.join("b.csv")).unwrap();
                let error = shown(&cache, &data, &manifest).unwrap_err();
                assert_eq!(error.kind(), io::ErrorKind::NotFound, "{error}");
                assert_eq!(cache.missing(&entries[1]).unwrap(), Some(2));
                receive(&cache, &entries[1]);
                check();
                cache.forget(&data, &manifest).unwrap();
                assert!(matches!(cache.claim(&entries[0].digest).unwrap(), Claim::Mine(_)));
            }
        }
    }

    #[test]
    fn what_was_not_used_for_long_makes_room() {
        let folder = tempfile::tempdir().unwrap();
        let cache = cache(folder.path(), 100, false);
        let mut views = Vec::new();
        for (name, age) in [("old", 300), ("used", 200), ("new", 100)] {
            let entry = entry(folder.path(), name, &[name.len() as u8 + age as u8; 30]);
            receive(&cache, &entry);
            let manifest = Manifest { files: vec![entry.clone()] };
            let (data, _) = manifest.text().unwrap();
            let view = shown(&cache, &data, &manifest).unwrap();
            let then = SystemTime::now() - std::time::Duration::from_secs(age);
            cache.lock(&data).unwrap().set_modified(then).unwrap();
            views.push((entry, (name == "used").then_some(view)));
        }
        let there = || {
            let there = |(entry, _): &(Entry, _)| cache.file(&entry.digest).exists();
            views.iter().map(there).collect::<Vec<_>>()
        };
        let other = Manifest { files: Vec::new() };
        cache.make_room(10, &other).unwrap();
        assert_eq!(there(), [true, true, true]);
        cache.make_room(40, &other).unwrap();
        assert_eq!(there(), [false, true, true]);
        let new = Manifest { files: vec![views[2].0.clone()] };
        let error = cache.make_room(60, &new).unwrap_err().to_string();
        assert!(error.contains("its limit is"), "{error}");
        assert_eq!(there(), [false, true, true], "what is needed is removed");
        cache.make_room(70, &other).unwrap();
        assert_eq!(there(), [false, true, false]);
        assert!(cache.make_room(80, &other).is_err());
        assert_eq!(there(), [false, true, false], "data in use is removed");
    }
}
