//! Which folders of this machine are hidden from a child: all except the system and what it may use.

use std::collections::{BTreeSet, VecDeque};
use std::env;
use std::ffi::{CString, OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use super::access::Access;
use crate::spawn::{Mounts, ShownPath, TMP};

/// Never hidden: they have their own mounts, or files that every program reads.
const KEPT: [&str; 4] = ["/proc", "/sys", "/dev", "/etc"];
/// The user's terminals. A process that can open one reads what is typed there.
const TERMINALS: &str = "/dev/pts";
/// The kernel follows no more links.
const LINKS: usize = 40;

/// The folders that children do not see: those in `/` that they may not read as a whole, HOME, and terminals.
pub(super) fn hidden_folders(access: &Access) -> Vec<PathBuf> {
    // The home of some system users is a system folder.
    let is_own = |home: &PathBuf| fs::metadata(home).is_ok_and(|meta| meta.uid() != 0);
    let home = env::home_dir().into_iter().filter_map(|home| home.canonicalize().ok()).filter(is_own);
    let top = fs::read_dir("/").into_iter().flatten().flatten().map(|entry| entry.path());
    let is_folder = |path: &PathBuf| fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir());
    let is_kept = |path: &PathBuf| KEPT.iter().any(|kept| path == Path::new(kept)) || path == Path::new("/");
    let is_allowed = |path: &PathBuf| access.readable.contains(path) || access.writable.contains(path);
    let mut folders: Vec<PathBuf> =
        top.filter(is_folder).chain(home).filter(|path| !is_kept(path) && !is_allowed(path)).collect();
    folders.extend(Some(PathBuf::from(TERMINALS)).filter(|folder| folder.is_dir()));
    folders.sort();
    folders.dedup_by(|folder, above| folder.starts_with(above));
    folders
}

/// The mounts for a child that may use `access` and does not see the `folders`.
pub(super) fn mounts(folders: &[PathBuf], access: &Access) -> Mounts {
    let (mut real, mut links) = (BTreeSet::new(), BTreeSet::new());
    for path in access.writable.iter().chain(&access.readable) {
        let trail = Trail::to(path);
        real.insert(trail.end);
        links.extend(trail.links);
    }
    // Sorted: a folder comes before those in it.
    let mut shown: Vec<&PathBuf> = Vec::new();
    // A folder may have vanished since it was listed, for example with a mount.
    let hidden: Vec<&PathBuf> =
        folders.iter().filter(|folder| !real.contains(*folder) && folder.exists()).collect();
    let is_hidden = |path: &Path| hidden.iter().any(|folder| path.starts_with(folder));
    for path in real.iter().filter(|path| is_hidden(path) && path.exists()) {
        // What lies in a folder comes directly after it.
        if !shown.last().is_some_and(|above| path.starts_with(above)) {
            shown.push(path);
        }
    }
    let is_shown = |path: &Path| {
        path.ancestors().any(|above| shown.binary_search_by(|shown| shown.as_path().cmp(above)).is_ok())
    };
    let is_lost = |path: &Path| is_hidden(path) && !is_shown(path);
    links.retain(|(link, _)| is_lost(link));
    let made = shown.iter().map(|path| path.as_path()).chain(links.iter().map(|(link, _)| link.as_path()));
    let parents: BTreeSet<&Path> = made
        .flat_map(|path| path.ancestors().skip(1))
        .filter(|path| is_hidden(path) && !hidden.iter().any(|folder| folder == path))
        .collect();
    let tmp = Path::new(OsStr::from_bytes(TMP.to_bytes()));
    // Nobody writes beside what is needed there: it would seem to be where the real files are.
    let is_own =
        hidden.iter().any(|folder| *folder == tmp) && !shown.iter().any(|path| path.starts_with(tmp));
    let temporary = access.temporary.as_deref().filter(|_| is_own).and_then(existing);
    let hidden = hidden.iter().filter(|folder| temporary.is_none() || **folder != tmp);
    Mounts {
        writable: access.writable.iter().filter_map(|path| existing(path)).collect(),
        parents: parents.into_iter().filter_map(c_string).collect(),
        links: links.iter().filter_map(|(link, target)| Some((c_string(target)?, c_string(link)?))).collect(),
        shown: shown.iter().filter_map(|path| Some(ShownPath::new(c_string(path)?, path.is_dir()))).collect(),
        hidden: hidden.filter_map(|path| c_string(path)).collect(),
        temporary,
    }
}

/// The way to a path.
struct Trail {
    /// Links on the way, and their targets.
    links: Vec<(PathBuf, PathBuf)>,
    /// The path without any link in it, as far as it exists.
    end: PathBuf,
}

impl Trail {
    fn to(path: &Path) -> Self {
        let names = |path: &Path| {
            path.components().map(|part| part.as_os_str().to_owned()).collect::<Vec<OsString>>()
        };
        let mut trail = Self { links: Vec::new(), end: PathBuf::from("/") };
        let mut ahead: VecDeque<OsString> = names(path).into();
        while let Some(name) = ahead.pop_front() {
            match Path::new(&name).components().next() {
                Some(Component::RootDir) => trail.end = PathBuf::from("/"),
                Some(Component::ParentDir) => {
                    trail.end.pop();
                }
                Some(Component::Normal(name)) => {
                    let next = trail.end.join(name);
                    match fs::read_link(&next) {
                        Ok(target) if trail.links.len() < LINKS => {
                            names(&target).into_iter().rev().for_each(|name| ahead.push_front(name));
                            trail.links.push((next, target));
                        }
                        _ => trail.end = next,
                    }
                }
                _ => {}
            }
        }
        trail
    }
}

fn c_string(path: &Path) -> Option<CString> {
    CString::new(path.as_os_str().as_bytes()).ok()
}

fn existing(path: &Path) -> Option<CString> {
    c_string(path).filter(|_| path.exists())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// Paths below `root`, which is left out of them.
    fn names<'a>(root: &Path, paths: impl IntoIterator<Item = &'a CString>) -> Vec<String> {
        let name = |path: &CString| {
            let text = path.to_str().unwrap();
            text.strip_prefix(root.to_str().unwrap()).unwrap_or(text).to_owned()
        };
        paths.into_iter().map(name).collect()
    }

    #[test]
    fn needed_paths_stay_visible_with_the_links_to_them() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in ["home/u/run/work/x", "home/u/data/part", "mnt/disk/env/bin", "srv", "all"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        fs::write(root.join("mnt/python"), "").unwrap();
        symlink(root.join("mnt/disk/env"), root.join("home/u/env")).unwrap();
        symlink("../../mnt", root.join("home/u/mnt")).unwrap();
        let below = |names: &[&str]| names.iter().map(|name| root.join(name)).collect::<Vec<_>>();
        let access = Access {
            writable: below(&["home/u/run/work/x"]),
            readable: below(&[
                "home/u/data",
                "home/u/data/part",
                "home/u/env/bin",
                "home/u/mnt/python",
                "all",
                "none",
            ]),
            ..Access::default()
        };
        let mounts = mounts(&below(&["all", "home", "mnt", "none", "srv"]), &access);
        assert_eq!(names(&root, &mounts.hidden), ["/home", "/mnt", "/srv"]);
        let shown = mounts.shown.iter().map(|shown| &shown.path);
        assert_eq!(
            names(&root, shown),
            ["/home/u/data", "/home/u/run/work/x", "/mnt/disk/env/bin", "/mnt/python"]
        );
        assert_eq!(
            mounts.shown.iter().map(|shown| shown.is_folder).collect::<Vec<_>>(),
            [true, true, true, false]
        );
        assert_eq!(names(&root, mounts.links.iter().map(|(_, link)| link)), ["/home/u/env", "/home/u/mnt"]);
        assert_eq!(
            names(&root, mounts.links.iter().map(|(target, _)| target)),
            ["/mnt/disk/env", "../../mnt"]
        );
        let parents = ["/home/u", "/home/u/run", "/home/u/run/work", "/mnt/disk", "/mnt/disk/env"];
        assert_eq!(names(&root, &mounts.parents), parents);
    }
}
