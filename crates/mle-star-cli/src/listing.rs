//! The runs of a directory in short. A run is read again only if its files have changed.
//!
//! Reading thousands of journals takes seconds, so what was read is kept in the user's cache folder ([`kept`]), never in
//! the runs directory: looking at runs writes nothing there. A [`Look`] may be limited in time; what it leaves unread is
//! read in the background, the newest runs first.

mod kept;

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use mle_star_domain::layout;
use mle_star_domain::metric::Score;
use mle_star_report::run_view::{self, Summary};
use mle_star_report::score_report::{Figure, ScoreReport};
use mle_star_report::{figures, files};
use mle_star_run::runs::{self, is_hidden};
use serde::{Deserialize, Serialize};

/// How many newly read runs are worth a write to the cache.
const WORTH_KEEPING: usize = 16;
/// How many runs are read in the background before they are kept: the process may end meanwhile.
const KEPT_AT_ONCE: usize = 200;
/// More threads do not read faster.
const MOST_THREADS: usize = 8;

/// The runs of a directory.
pub struct Listing {
    /// The directory.
    pub runs_dir: PathBuf,
    known: Mutex<Known>,
}

/// What was read so far.
#[derive(Default)]
struct Known {
    /// Grows with every change.
    generation: u64,
    /// Whether what an earlier process read was loaded.
    is_loaded: bool,
    /// Whether a thread reads the runs for which there was no time.
    is_reading: bool,
    /// How many runs were read since the last write to the cache.
    unkept: usize,
    runs: HashMap<String, Stamped>,
}

/// A run with the state of its files when it was read.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Stamped {
    stamp: String,
    entry: Entry,
}

/// A folder of the runs directory.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Entry {
    /// The run ID.
    pub id: String,
    /// Whether it is a link to a folder, which may be elsewhere.
    pub is_link: bool,
    /// What is known about it.
    pub read: Read,
}

/// What is known about a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Read {
    /// The run.
    Run(Box<Row>),
    /// Why it cannot be read.
    Unreadable(String),
    /// There was no time to read it yet.
    NotYet,
}

/// A run in short.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Its summary.
    pub summary: Summary,
    /// The digest of its data.
    pub data: String,
    /// The score on held-out rows with its 95 % interval, for people.
    pub held_out: Option<Figure>,
    /// Why only a part of its journal could be read.
    pub damage: Option<String>,
}

/// Task, metric, direction and data: runs with equal scales have comparable scores.
pub type Scale<'a> = [&'a str; 4];

/// How much time a look may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// As much as it needs.
    Whole,
    /// What is not read by then is read in the background.
    Within(Duration),
}

/// A folder with the state of its files.
struct Folder {
    path: PathBuf,
    id: String,
    is_link: bool,
    stamp: String,
}

impl Listing {
    /// The list of this runs directory, which need not exist. Reads nothing.
    pub fn of(runs_dir: &Path) -> Arc<Self> {
        Arc::new(Self { runs_dir: runs_dir.to_owned(), known: Mutex::default() })
    }

    /// Reads the runs that have changed since the last look. Returns a number that grows with every change.
    pub fn look(self: &Arc<Self>, look: Look) -> u64 {
        self.load();
        let folders = self.folders();
        let mut changed = self.changed(folders);
        if changed.is_empty() {
            return self.known().generation;
        }
        changed.sort_by_cached_key(|folder| Reverse(written(&folder.path)));
        let until = match look {
            Look::Whole => None,
            Look::Within(time) => Some(Instant::now() + time),
        };
        let read = self.read(&changed, until, cores());
        let rest = changed.split_off(read);
        if !rest.is_empty() {
            self.read_later(rest);
        }
        self.keep();
        self.known().generation
    }

    /// The runs as last read, in no order.
    pub fn entries(&self) -> Vec<Entry> {
        self.known().runs.values().map(|known| known.entry.clone()).collect()
    }

    fn folders(&self) -> Vec<Folder> {
        let entries = fs::read_dir(&self.runs_dir).into_iter().flatten().flatten();
        let folder = |entry: fs::DirEntry| {
            let path = entry.path();
            let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
            let id = entry.file_name().to_string_lossy().into_owned();
            runs::is_run(&path).then(|| Folder { stamp: stamp(&path), path, id, is_link })
        };
        entries.filter(|entry| !is_hidden(entry)).filter_map(folder).collect()
    }

    /// The folders that must be read. Forgets the runs that are gone, and names the new ones.
    fn changed(&self, folders: Vec<Folder>) -> Vec<Folder> {
        let mut guard = self.known();
        let known = &mut *guard;
        let there: BTreeSet<&String> = folders.iter().map(|folder| &folder.id).collect();
        let before = known.runs.len();
        known.runs.retain(|id, _| there.contains(id));
        known.generation += u64::from(known.runs.len() < before);
        let is_reading = known.is_reading;
        let must = |folder: &Folder| match known.runs.get(&folder.id) {
            Some(Stamped { entry: Entry { read: Read::NotYet, .. }, .. }) => !is_reading,
            Some(seen) => seen.stamp != folder.stamp,
            None => true,
        };
        folders.into_iter().filter(must).collect()
    }

    /// Reads folders in order, in this many threads, until there is no time left; returns how many were read.
    fn read(&self, folders: &[Folder], until: Option<Instant>, threads: usize) -> usize {
        let next = AtomicUsize::new(0);
        let work = || {
            loop {
                if until.is_some_and(|until| Instant::now() >= until) {
                    return;
                }
                let Some(folder) = folders.get(next.fetch_add(1, Ordering::Relaxed)) else { return };
                self.put(folder, Entry::read(folder));
            }
        };
        let threads = threads.min(MOST_THREADS);
        thread::scope(|scope| {
            for _ in 1..threads.min(folders.len()) {
                scope.spawn(work);
            }
            work();
        });
        next.into_inner().min(folders.len())
    }

    fn read_later(self: &Arc<Self>, folders: Vec<Folder>) {
        let mut known = self.known();
        for folder in &folders {
            let entry = Entry { id: folder.id.clone(), is_link: folder.is_link, read: Read::NotYet };
            known.runs.entry(folder.id.clone()).or_insert(Stamped { stamp: String::new(), entry });
        }
        known.generation += 1;
        if std::mem::replace(&mut known.is_reading, true) {
            return;
        }
        drop(known);
        let listing = Arc::clone(self);
        thread::spawn(move || {
            for some in folders.chunks(KEPT_AT_ONCE) {
                // Pages are made meanwhile.
                listing.read(some, None, cores().saturating_sub(1).max(1));
                listing.keep();
            }
            listing.known().is_reading = false;
        });
    }

    fn put(&self, folder: &Folder, entry: Entry) {
        let mut known = self.known();
        known.generation += 1;
        known.unkept += 1;
        known.runs.insert(folder.id.clone(), Stamped { stamp: folder.stamp.clone(), entry });
    }

    fn load(&self) {
        if std::mem::replace(&mut self.known().is_loaded, true) {
            return;
        }
        let kept = kept::load(&self.runs_dir);
        self.known().runs = kept;
    }

    fn keep(&self) {
        let mut known = self.known();
        if known.unkept >= WORTH_KEEPING {
            known.unkept = 0;
            let runs = known.runs.clone();
            drop(known);
            kept::store(&self.runs_dir, &runs);
        }
    }

    /// Hold this lock only briefly, because pages wait for it.
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

impl Entry {
    fn read(folder: &Folder) -> Self {
        let read = match run_view::read(&folder.path) {
            Err(error) => Read::Unreadable(error.to_string()),
            Ok(view) => Read::Run(Box::new(Row {
                data: view.snapshot.frozen.data_id,
                held_out: view.result.as_ref().and_then(|result| ScoreReport::of(result).held_out()),
                damage: view.snapshot.damage,
                summary: view.summary,
            })),
        };
        Self { id: folder.id.clone(), is_link: folder.is_link, read }
    }

    /// The run, if it was read.
    pub fn row(&self) -> Option<&Row> {
        match &self.read {
            Read::Run(row) => Some(row),
            Read::Unreadable(_) | Read::NotYet => None,
        }
    }
}

impl Row {
    /// What makes its score comparable with others.
    pub fn scale(&self) -> Scale<'_> {
        let summary = &self.summary;
        [&summary.task, self.metric(), summary.run.direction.name(), &self.data]
    }

    /// The metric.
    pub fn metric(&self) -> &str {
        &self.summary.run.metric
    }

    /// The best score, for people.
    pub fn best(&self) -> Option<String> {
        self.summary.best_score.map(figures::number)
    }
}

/// The runs with the best score among those with which they can be compared, if there are any; of equal ones the oldest.
pub fn best(entries: &[Entry]) -> BTreeSet<String> {
    let mut scales: HashMap<Scale<'_>, Vec<(&Entry, Score, &str)>> = HashMap::new();
    for entry in entries {
        let Some(row) = entry.row() else { continue };
        let score = row.summary.best_score.and_then(|score| Score::new(score, row.summary.run.direction));
        if let Some(score) = score {
            scales.entry(row.scale()).or_default().push((entry, score, &row.summary.created_at));
        }
    }
    let several = scales.into_values().filter(|runs| runs.len() > 1);
    several
        .filter_map(|mut runs| {
            runs.sort_by_key(|(entry, _, begun)| (*begun, &entry.id));
            let best = runs.into_iter().reduce(|best, next| if next.1.beats(best.1) { next } else { best });
            best.map(|(entry, ..)| entry.id.clone())
        })
        .collect()
}

/// Changes whenever a run may have changed: sizes and times of its files, and whether it is locked.
fn stamp(folder: &Path) -> String {
    let log = format!("{}-wal", layout::JOURNAL);
    let provisional = format!("{}/{}", layout::FINAL, layout::PROVISIONAL);
    let names = [layout::JOURNAL, &log, layout::RESULT, &provisional];
    let mut stamp = String::new();
    for name in names {
        match files::stamp(folder, name) {
            Some((size, seconds, nanoseconds, file)) => {
                stamp.push_str(&format!("{size}.{seconds}.{nanoseconds}.{file} "));
            }
            None => stamp.push_str("- "),
        }
    }
    stamp.push(if run_view::is_held(folder) { 'h' } else { '-' });
    stamp
}

/// When something was last written, in seconds: the newest runs are read first.
fn written(folder: &Path) -> i64 {
    folder.join(layout::JOURNAL).metadata().map_or(0, |meta| meta.mtime())
}

#[cfg(test)]
mod tests;
