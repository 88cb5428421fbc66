//! The list of runs: filtered and sorted by the query of its address, with rows that update while runs go on.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use mle_star_domain::metric::Score;
use mle_star_report::figures::{duration, number};
use mle_star_report::run_view::{self, Summary};
use mle_star_run::runs;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::answer::render;
use super::completion::{Completion, completion};
use super::folder::{folder_of, stamp};
use super::live::Source;

/// The query of the list; every field is optional.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Wanted {
    /// Text in the run's or the task's name.
    text: String,
    /// A state's name; empty for any.
    state: String,
    /// A column.
    sort: String,
    /// `up` or `down`.
    order: String,
}

/// A sortable column: its name in the address, its heading, and its default order.
const COLUMNS: [(&str, &str, &str); 8] = [
    ("run", "Run", "up"),
    ("task", "Task", "up"),
    ("state", "State", "up"),
    ("best", "Best score", "up"),
    ("progress", "Progress", "down"),
    ("cost", "Cost", "down"),
    ("begun", "Begun", "down"),
    ("time", "Time", "down"),
];

/// The rows of a runs directory.
pub struct Runs {
    runs_dir: PathBuf,
    /// The runs read so far, by folder, with the stamp of each.
    known: Mutex<HashMap<PathBuf, (String, Entry)>>,
}

/// A run, or a folder that cannot be read as one.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The run ID.
    pub id: String,
    read: Result<(Summary, Completion), String>,
}

impl Runs {
    /// The list of this runs directory.
    pub fn of(runs_dir: PathBuf) -> Self {
        Self { runs_dir, known: Mutex::default() }
    }

    fn folders(&self) -> Vec<PathBuf> {
        let is_inside = |folder: &PathBuf| {
            let name = folder.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| folder_of(&self.runs_dir, name).is_some())
        };
        runs::all(&self.runs_dir).into_iter().filter(is_inside).collect()
    }

    /// Reads the runs that have changed since the last time. The lock is not held meanwhile.
    fn read(&self) -> Vec<Entry> {
        let mut known = self.known().clone();
        let read = |folder: PathBuf| {
            let stamp = stamp(&folder);
            let before = known.remove(&folder).filter(|(of, _)| *of == stamp);
            let entry = before.map_or_else(|| Entry::read(&folder), |(_, entry)| entry);
            (folder, (stamp, entry))
        };
        let now: HashMap<PathBuf, (String, Entry)> = self.folders().into_iter().map(read).collect();
        let entries = now.values().map(|(_, entry)| entry.clone()).collect();
        *self.known() = now;
        entries
    }

    /// The runs as last read.
    pub fn entries(&self) -> Vec<Entry> {
        self.known().values().map(|(_, entry)| entry.clone()).collect()
    }

    /// Hold this lock only briefly, because pages wait for it.
    fn known(&self) -> MutexGuard<'_, HashMap<PathBuf, (String, Entry)>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Source for Runs {
    fn stamp(&self) -> String {
        self.folders().iter().map(|folder| format!("{} {}\n", folder.display(), stamp(folder))).collect()
    }

    fn sections(&self) -> Vec<(String, String)> {
        let row = |entry: &Entry| {
            let html = render("ui/row.html", &entry.values());
            (entry.row_id(), html.unwrap_or_else(|refused| refused.trouble.message))
        };
        self.read().iter().map(row).collect()
    }
}

impl Entry {
    fn read(folder: &Path) -> Self {
        let id = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let read = run_view::read(folder).map_err(|error| error.to_string()).map(|view| {
            let completion = completion(&view);
            (view.summary, completion)
        });
        Self { id, read }
    }

    /// The ID of its row in the page.
    pub fn row_id(&self) -> String {
        format!("run-{}", self.id)
    }

    fn summary(&self) -> Option<&Summary> {
        self.read.as_ref().ok().map(|(summary, _)| summary)
    }

    fn values(&self) -> serde_json::Value {
        let (summary, completion) = match &self.read {
            Ok(read) => read,
            Err(why) => return json!({"id": self.id, "row_id": self.row_id(), "note": why}),
        };
        json!({
            "id": self.id, "row_id": self.row_id(), "note": "", "task": summary.task, "state": summary.run.state.name(),
            "best": summary.best_score.map(number), "metric": summary.run.metric, "direction": summary.run.direction,
            "progress": completion, "cost": summary.cost().unwrap_or_else(|| "none".to_owned()),
            "created_at": summary.created_at, "begun": begun(&summary.created_at),
            "time": duration(summary.spent.elapsed_seconds),
        })
    }

    /// Ascending by this column.
    fn compare(&self, other: &Self, column: &str) -> Ordering {
        let (Ok((a, a_completion)), Ok((b, b_completion))) = (&self.read, &other.read) else {
            return other.read.is_ok().cmp(&self.read.is_ok());
        };
        match column {
            "task" => a.task.cmp(&b.task),
            "state" => a.run.state.name().cmp(b.run.state.name()),
            "best" => scale(a).cmp(&scale(b)).then_with(|| best_first(a, b)),
            "progress" => a_completion.percent.cmp(&b_completion.percent),
            "cost" => cost_of(a).total_cmp(&cost_of(b)),
            "begun" => a.created_at.cmp(&b.created_at),
            "time" => a.spent.elapsed_seconds.total_cmp(&b.spent.elapsed_seconds),
            _ => Ordering::Equal,
        }
    }
}

/// Runs with equal scales have comparable scores.
fn scale(summary: &Summary) -> (&str, &str, &str) {
    (&summary.task, &summary.run.metric, summary.run.direction.name())
}

/// Better scores first, runs without a score last. Only for runs with equal scales.
fn best_first(a: &Summary, b: &Summary) -> Ordering {
    let best = |summary: &Summary| Score::new(summary.best_score?, summary.run.direction);
    match (best(a), best(b)) {
        (Some(a), Some(b)) if a.beats(b) => Ordering::Less,
        (Some(a), Some(b)) if b.beats(a) => Ordering::Greater,
        (a, b) => b.is_some().cmp(&a.is_some()),
    }
}

/// The cost of a run, for sorting: an unknown one is the largest.
fn cost_of(summary: &Summary) -> f64 {
    summary.spent.cost_usd.unwrap_or(f64::INFINITY)
}

/// A moment in this machine's time, to the minute.
fn begun(created_at: &str) -> String {
    let moment = created_at.parse::<jiff::Timestamp>();
    moment.map_or_else(
        |_| created_at.to_owned(),
        |moment| moment.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string(),
    )
}

impl Wanted {
    /// Whether the entry matches.
    pub fn takes(&self, entry: &Entry) -> bool {
        let text = self.text.trim().to_lowercase();
        let task = entry.summary().map(|summary| summary.task.to_lowercase()).unwrap_or_default();
        let has_text = entry.id.to_lowercase().contains(&text) || task.contains(&text);
        let state = entry.summary().map(|summary| summary.run.state.name());
        has_text && (self.state.is_empty() || state == Some(self.state.as_str()))
    }

    /// The newest run first, unless a known column is asked for.
    fn sorted_by(&self) -> (&str, bool) {
        match COLUMNS.iter().find(|(name, ..)| *name == self.sort) {
            Some((name, _, first)) => {
                let order = if ["up", "down"].contains(&self.order.as_str()) { &self.order } else { *first };
                (name, order == "up")
            }
            None => ("begun", false),
        }
    }

    /// Sorts entries as asked.
    pub fn sort(&self, entries: &mut [Entry]) {
        let (column, is_up) = self.sorted_by();
        entries.sort_by(|a, b| {
            let order = if column == "run" { Ordering::Equal } else { a.compare(b, column) };
            let order = order.then_with(|| a.id.cmp(&b.id));
            if is_up { order } else { order.reverse() }
        });
    }

    /// The headings, each with the order that its link requests and the current one.
    pub fn columns(&self) -> Vec<serde_json::Value> {
        let (column, is_up) = self.sorted_by();
        let heading = |(name, title, first): &(&str, &str, &str)| {
            let is_sorted = *name == column;
            let next = match (is_sorted, is_up) {
                (true, true) => "down",
                (true, false) => "up",
                (false, _) => first,
            };
            let aria = match (is_sorted, is_up) {
                (true, true) => "ascending",
                (true, false) => "descending",
                (false, _) => "none",
            };
            json!({"name": name, "title": title, "next": next, "aria": aria})
        };
        COLUMNS.iter().map(heading).collect()
    }
}

#[cfg(test)]
mod tests {
    use mle_star_domain::metric::Direction;
    use mle_star_report::run_view::{Identity, Spent, State, Submissions};

    use super::*;

    fn entry(id: &str, task: &str, state: State, best: Option<f64>) -> Entry {
        let summary = Summary {
            run: Identity {
                run_id: id.to_owned(),
                state,
                metric: "RMSE".to_owned(),
                direction: Direction::Minimize,
            },
            task: task.to_owned(),
            phase: None,
            best_score: best,
            created_at: format!("2025-01-0{}T00:00:00Z", id.len()),
            spent: Spent { elapsed_seconds: 1.0, cost_usd: None, estimated_usd: 0.0 },
            tokens: 0,
            interrupted_calls: 0,
            answer: Submissions::default(),
            failed_paths: Vec::new(),
        };
        Entry { id: id.to_owned(), read: Ok((summary, Completion { percent: 0, words: String::new() })) }
    }

    #[test]
    fn rows_are_filtered_and_sorted_as_asked() {
        let entries = [
            entry("c", "houses", State::Finished, Some(2.0)),
            entry("bb", "houses", State::Running, Some(1.0)),
            entry("aaa", "Flights", State::Unfinished, None),
            Entry { id: "broken".to_owned(), read: Err("no journal".to_owned()) },
        ];
        let check = |text: &str, state: &str, sort: &str, order: &str, expected: &[&str]| {
            let [text, state, sort, order] = [text, state, sort, order].map(str::to_owned);
            let wanted = Wanted { text, state, sort, order };
            let mut kept: Vec<Entry> = entries.iter().filter(|entry| wanted.takes(entry)).cloned().collect();
            wanted.sort(&mut kept);
            assert_eq!(
                kept.iter().map(|entry| entry.id.as_str()).collect::<Vec<_>>(),
                expected,
                "{wanted:?}"
            );
        };
        check("", "", "", "", &["broken", "aaa", "bb", "c"]);
        check("flig", "", "", "", &["aaa"]);
        check("", "running", "", "", &["bb"]);
        check("nothing", "", "", "", &[]);
        check("", "", "run", "", &["aaa", "bb", "broken", "c"]);
        check("", "", "run", "down", &["c", "broken", "bb", "aaa"]);
        check("houses", "", "best", "", &["bb", "c"]);
        check("houses", "", "best", "sideways", &["bb", "c"]);
    }
    #[test]
    fn scores_of_other_scales_have_an_order_all_the_same() {
        let on = |id: &str, metric: &str, direction: Direction, best: f64| {
            let mut entry = entry(id, "houses", State::Finished, Some(best));
            let summary = entry.read.as_mut().map(|(summary, _)| summary).unwrap();
            (summary.run.metric, summary.run.direction) = (metric.to_owned(), direction);
            entry
        };
        // Enough runs for the sort to detect an inconsistent order.
        let entries: Vec<Entry> = (0..60_u32)
            .map(|i| {
                let (metric, direction) =
                    [("RMSE", Direction::Minimize), ("R2", Direction::Maximize), ("R2", Direction::Minimize)]
                        [i as usize % 3];
                on(
                    &format!("{i:02}"),
                    metric,
                    direction,
                    [0.0, -0.0, 1.0, f64::MAX, -f64::MAX][i as usize * 7 % 5],
                )
            })
            .collect();
        for (a, b) in entries.iter().flat_map(|a| entries.iter().map(move |b| (a, b))) {
            let order = a.compare(b, "best");
            assert_eq!(order, b.compare(a, "best").reverse());
            for c in entries.iter().filter(|c| b.compare(c, "best") == order) {
                assert_eq!(a.compare(c, "best"), order, "{} {} {}", a.id, b.id, c.id);
            }
        }
        let best = |metric: &str, direction: Direction| {
            on("a", metric, direction, 2.0).compare(&on("b", metric, direction, 1.0), "best")
        };
        assert_eq!(
            (best("R2", Direction::Maximize), best("R2", Direction::Minimize)),
            (Ordering::Less, Ordering::Greater)
        );
    }
}
