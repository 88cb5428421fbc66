//! The list of runs, grouped by task: filtered, sorted and cut into pages by the query of its address, with rows that
//! update while runs go on.

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use mle_star_domain::metric::Score;
use mle_star_report::run_view::RunSummary;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::folder::folder_of;
use super::live::Source;
use super::response::render;
use crate::listing::{Entry, best, entries, scale};

/// The runs on a page.
const PAGE_SIZE: usize = 100;

/// The query of the list; every field is optional.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ListQuery {
    /// Text in the run's name, its task, its metric or its state.
    text: String,
    /// A column; with `-` before it, descending.
    sort: String,
    /// The page, from 1.
    page: String,
}

/// A sortable column: its name in the address, and its heading.
const COLUMNS: [(&str, &str); 7] = [
    ("run", "Run"),
    ("state", "State"),
    ("best", "Score"),
    ("progress", "Progress"),
    ("cost", "Cost"),
    ("begun", "Begun"),
    ("time", "Time"),
];

/// The rows of a runs directory.
pub struct Runs {
    runs_dir: PathBuf,
    /// The runs as last read.
    entries: Mutex<Vec<Entry>>,
}

/// The runs of one task, or a part of them, on a page.
#[derive(Debug)]
pub struct Group<'a> {
    /// The task; empty for runs that cannot be read.
    pub task: &'a str,
    /// How many runs of the task match, on all pages.
    pub all: usize,
    /// Those on this page.
    pub runs: Vec<&'a Entry>,
}

/// One page of the list.
#[derive(Debug)]
pub struct Page<'a> {
    /// Its number, from 1.
    pub number: usize,
    /// The number of pages; at least 1.
    pub pages: usize,
    /// Its groups.
    pub groups: Vec<Group<'a>>,
}

impl Runs {
    /// The list of this runs directory.
    pub fn of(runs_dir: &Path) -> Self {
        Self { runs_dir: runs_dir.to_owned(), entries: Mutex::default() }
    }

    /// The runs as last read.
    pub fn entries(&self) -> Vec<Entry> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Source for Runs {
    fn stamp(&self) -> String {
        let mut entries = entries(&self.runs_dir);
        // A link that leads out of the runs directory is no run.
        entries.retain(|entry| folder_of(&self.runs_dir, &entry.id).is_some());
        let read = format!("{entries:?}");
        *self.entries.lock().unwrap_or_else(PoisonError::into_inner) = entries;
        blake3::hash(read.as_bytes()).to_hex().to_string()
    }

    fn sections(&self) -> Vec<(String, String)> {
        let entries = self.entries();
        let best = best(&entries);
        let html = |entry| {
            render("ui/row.html", &values(entry, &best)).unwrap_or_else(|refused| refused.trouble.message)
        };
        entries.iter().map(|entry| (row_id(entry), html(entry))).collect()
    }
}

/// The ID of a run's row in the page.
pub fn row_id(entry: &Entry) -> String {
    format!("run-{}", entry.id)
}

/// What a row shows.
fn values(entry: &Entry, best: &BTreeSet<String>) -> Value {
    let row = match &entry.run {
        Ok(row) => row,
        Err(why) => {
            let note = format!("cannot be read: {why}");
            return json!({"id": entry.id, "row_id": row_id(entry), "note": note});
        }
    };
    json!({
        "id": entry.id, "row_id": row_id(entry), "note": "", "run": row, "is_best": best.contains(&entry.id),
        "validated": row.validated(), "stage": row.stage(), "cost": row.cost(), "begun": local_time(&row.created_at),
    })
}

/// Ascending by this column; runs that were not read are equal.
fn compare(one: &Entry, other: &Entry, column: &str) -> Ordering {
    let (Ok(a), Ok(b)) = (&one.run, &other.run) else { return Ordering::Equal };
    // An unknown cost is the largest.
    let cost = |of: &RunSummary| of.spent.cost_usd.unwrap_or(f64::INFINITY);
    match column {
        "state" => a.run.state.name().cmp(b.run.state.name()),
        "best" => scale(a).cmp(&scale(b)).then_with(|| best_first(a, b)),
        "progress" => a.done.percent.cmp(&b.done.percent),
        "cost" => cost(a).total_cmp(&cost(b)),
        "begun" => a.created_at.cmp(&b.created_at),
        "time" => a.spent.elapsed_seconds.total_cmp(&b.spent.elapsed_seconds),
        _ => Ordering::Equal,
    }
}

/// Better scores first, the expected ones before others, runs without a score last. Only for runs with equal scales.
fn best_first(a: &RunSummary, b: &RunSummary) -> Ordering {
    let best = |summary: &RunSummary| Score::new(summary.score()?, summary.run.direction);
    let order = b.expected.is_some().cmp(&a.expected.is_some());
    order.then_with(|| match (best(a), best(b)) {
        (Some(a), Some(b)) if a.beats(b) => Ordering::Less,
        (Some(a), Some(b)) if b.beats(a) => Ordering::Greater,
        (a, b) => b.is_some().cmp(&a.is_some()),
    })
}

/// A moment in this machine's time, to the minute.
fn local_time(created_at: &str) -> String {
    let moment = created_at.parse::<jiff::Timestamp>();
    moment.map_or_else(
        |_| created_at.to_owned(),
        |moment| moment.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string(),
    )
}

impl ListQuery {
    /// Whether the entry matches.
    pub fn takes(&self, entry: &Entry) -> bool {
        let text = self.text.trim().to_lowercase();
        let of_run = entry.run.iter().flat_map(|run| {
            let RunSummary { task, run, .. } = run;
            [task.as_str(), run.metric.as_str(), run.state.name()]
        });
        std::iter::once(entry.id.as_str()).chain(of_run).any(|field| field.to_lowercase().contains(&text))
    }

    /// The column and whether it ascends: the newest run first, unless a known column is asked for.
    fn sorted_by(&self) -> (&str, bool) {
        let name = self.sort.trim_start_matches('-');
        let is_known = COLUMNS.iter().any(|(column, _)| *column == name);
        if is_known { (name, !self.sort.starts_with('-')) } else { ("begun", false) }
    }

    /// Sorts entries as asked. Runs of which only the name is known come last, unless that is what counts.
    pub fn sort(&self, entries: &mut [Entry]) {
        let (column, is_up) = self.sorted_by();
        entries.sort_by(|a, b| {
            let (known, order) = match column {
                "run" => (Ordering::Equal, Ordering::Equal),
                _ => (a.run.is_err().cmp(&b.run.is_err()), compare(a, b, column)),
            };
            let order = order.then_with(|| a.id.cmp(&b.id));
            known.then(if is_up { order } else { order.reverse() })
        });
    }

    /// The query page of sorted entries. A group stands where its first run would stand.
    pub fn page<'a>(&self, entries: &'a [Entry]) -> Page<'a> {
        let mut groups: Vec<Group<'a>> = Vec::new();
        let mut known: HashMap<&str, usize> = HashMap::new();
        for entry in entries {
            let task = entry.run.as_ref().map_or("", |run| run.task.as_str());
            let at = *known.entry(task).or_insert_with(|| {
                groups.push(Group { task, all: 0, runs: Vec::new() });
                groups.len() - 1
            });
            groups[at].all += 1;
            groups[at].runs.push(entry);
        }
        let pages = entries.len().div_ceil(PAGE_SIZE).max(1);
        let number = self.page.parse().unwrap_or(1).clamp(1, pages);
        let (mut skipped, mut left) = ((number - 1) * PAGE_SIZE, PAGE_SIZE);
        for group in &mut groups {
            let from = skipped.min(group.runs.len());
            skipped -= from;
            group.runs = group.runs.iter().skip(from).take(left).copied().collect();
            left -= group.runs.len();
        }
        groups.retain(|group| !group.runs.is_empty());
        Page { number, pages, groups }
    }

    /// The headings, each with the query that sorts by it and the current order.
    pub fn columns(&self) -> Vec<Value> {
        let (column, is_up) = self.sorted_by();
        let heading = |(name, title): &(&str, &str)| {
            let (sort, aria) = match (*name == column, is_up) {
                (true, true) => (format!("-{name}"), "ascending"),
                (true, false) => ((*name).to_owned(), "descending"),
                (false, _) => ((*name).to_owned(), "none"),
            };
            json!({"name": name, "title": title, "sort": sort, "aria": aria})
        };
        COLUMNS.iter().map(heading).collect()
    }
}

#[cfg(test)]
mod tests {
    use mle_star::event::{Done, ProgressMeasure};
    use mle_star_domain::metric::Direction;
    use mle_star_domain::trust::{ExpectedScore, ScoreSource};
    use mle_star_report::run_view::{Identity, Spent, State, Submissions};

    use super::*;

    fn entry(id: &str, task: &str, state: State, best: Option<f64>) -> Entry {
        let run = RunSummary {
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
            done: Done { percent: 0, of: ProgressMeasure::Steps },
            used: None,
            data: "d".to_owned(),
            expected: None,
            validated: None,
            held_out: None,
            held_out_interval: None,
            damage: None,
        };
        Entry { id: id.to_owned(), run: Ok(run) }
    }

    #[test]
    fn rows_are_filtered_and_sorted_as_asked() {
        let entries = [
            entry("c", "houses", State::Finished, Some(2.0)),
            entry("bb", "houses", State::Running, Some(1.0)),
            entry("aaa", "Flights", State::Unfinished, None),
            Entry { id: "broken".to_owned(), run: Err("no journal".to_owned()) },
        ];
        let check = |text: &str, sort: &str, expected: &[&str]| {
            let [text, sort] = [text, sort].map(str::to_owned);
            let query = ListQuery { text, sort, ..ListQuery::default() };
            let mut kept: Vec<Entry> = entries.iter().filter(|entry| query.takes(entry)).cloned().collect();
            query.sort(&mut kept);
            assert_eq!(kept.iter().map(|entry| entry.id.as_str()).collect::<Vec<_>>(), expected, "{query:?}");
        };
        check("", "", &["aaa", "bb", "c", "broken"]);
        check("", "begun", &["c", "bb", "aaa", "broken"]);
        check("flig", "", &["aaa"]);
        check("running", "", &["bb"]);
        check("RMSE", "", &["aaa", "bb", "c"]);
        check("nothing", "", &[]);
        check("", "run", &["aaa", "bb", "broken", "c"]);
        check("", "-run", &["c", "broken", "bb", "aaa"]);
        check("houses", "best", &["bb", "c"]);
        check("houses", "sideways", &["bb", "c"]);
    }
    #[test]
    fn runs_are_grouped_by_task_and_the_best_of_each_is_marked() {
        let mut other = entry("ddd", "houses", State::Finished, Some(0.5));
        other.run.as_mut().unwrap().data = "other".to_owned();
        let mut entries = vec![
            entry("a", "houses", State::Finished, Some(2.0)),
            entry("bb", "flights", State::Running, Some(3.0)),
            entry("ccc", "houses", State::Finished, Some(1.0)),
            other,
        ];
        assert_eq!(best(&entries).into_iter().collect::<Vec<_>>(), ["ccc"], "one run alone is not the best");
        // Validated scores do not compare with expected ones.
        let (from, constant) = (ScoreSource::Both, None);
        for (at, score, ids) in [(0, 2.1, vec![]), (2, 2.2, vec!["a"])] {
            let expected = Some(ExpectedScore { score, interval: None, from, constant });
            entries[at].run.as_mut().unwrap().expected = expected;
            assert_eq!(best(&entries).into_iter().collect::<Vec<_>>(), ids);
        }
        ListQuery::default().sort(&mut entries);
        let page = ListQuery::default().page(&entries);
        let groups = page.groups.iter().map(|group| {
            let ids: Vec<&str> = group.runs.iter().map(|entry| entry.id.as_str()).collect();
            (group.task, ids.join(","), group.all)
        });
        let expected = [("houses", "ddd,ccc,a".to_owned(), 3), ("flights", "bb".to_owned(), 1)];
        assert_eq!(groups.collect::<Vec<_>>(), expected);
    }
}
