//! Forecasts of series: folds that are periods, one series without other columns, and forecasts that know no later value.

use std::path::Path;

use mle_star_domain::metric::Direction::{Maximize, Minimize};
use mle_star_domain::protocol::{Split, SplitKind};
use mle_star_domain::score::parse_score;
use mle_star_domain::task::Task;
use mle_star_needs::needs;
use mle_star_offline::OfflineAgents;
use serde_json::json;

use super::ask::{Asked, ensembles, merged, refinements};
use super::python::{Batch, assert_faultless, fault, initial, interpreter, with_few_trees};
use super::tasks::{Random, Shape, agents_for, by, profile_of, shape, task};

/// Tables of series.
#[derive(Clone, Copy)]
struct Series {
    name: &'static str,
    /// The text of a step's time.
    time: fn(usize) -> String,
    /// The training steps and those of the test table, and the steps between them that no table has.
    steps: [usize; 3],
    /// The number of series; 0 for a table whose time names rows.
    series: usize,
    /// Whether the training table has this step of a series.
    is_there: fn(usize, usize) -> bool,
    metric: &'static str,
    /// The gap in the unit of the file with the folds.
    gap: f64,
    /// How many steps earlier each series ends than the next one.
    ends: usize,
}

fn day(step: usize) -> String {
    let months = [31, 29, 31, 30, 31];
    let mut left = step;
    let month = months
        .iter()
        .position(|days| {
            if left < *days {
                true
            } else {
                left -= days;
                false
            }
        })
        .unwrap();
    format!("2024-{:02}-{:02}", month + 1, left + 1)
}

fn month(step: usize) -> String {
    format!("{}-{:02}-01", 2010 + step / 12, 1 + step % 12)
}

const DAYS: Series = Series {
    name: "days",
    time: day,
    steps: [100, 14, 0],
    series: 0,
    is_there: |_, _| true,
    metric: "RMSE",
    gap: 0.0,
    ends: 0,
};

const MONTHS: Series = Series { name: "months", time: month, steps: [72, 12, 0], metric: "SMAPE", ..DAYS };
const STORES: Series = Series { name: "stores", series: 4, metric: "RMSLE", ..DAYS };
const ENDS: Series = Series { name: "ends of their own", series: 4, ends: 9, ..DAYS };

const ALL: [Series; 8] = [
    DAYS,
    MONTHS,
    STORES,
    ENDS,
    Series {
        name: "half hours",
        time: |step| format!("2024-01-{:02} {:02}:{:02}:00", 1 + step / 48, step / 2 % 24, step % 2 * 30),
        steps: [480, 96, 0],
        ..DAYS
    },
    Series { name: "a gap of numbers", time: |step| step.to_string(), steps: [100, 14, 5], gap: 5.0, ..DAYS },
    Series {
        name: "holes, and a new store",
        series: 4,
        is_there: |step, store| store < 3 && (step + store) % 5 != 2,
        ..DAYS
    },
    Series { name: "ends and a gap", steps: [100, 14, 5], series: 3, gap: 5.0 * 86_400.0, ends: 6, ..DAYS },
];

impl Series {
    fn id(&self) -> &'static str {
        if self.series == 0 { "time" } else { "id" }
    }

    fn shape(&self) -> Shape {
        Shape { time: Some("time"), rich: false, ..shape(self.metric, Minimize, 0) }
    }

    /// The shape of the same table with classes.
    fn of_classes(&self) -> Shape {
        Shape { time: Some("time"), rich: false, ..shape(self.metric, Maximize, 2) }
    }

    /// Writes the tables, and the file with two folds as long as the test table, which are the last training steps.
    fn write(&self, folder: &Path) {
        let mut random = Random(5);
        let names = if self.series == 0 { "time" } else { "id,time,store" };
        let [mut train, mut test, mut sample, mut folds] =
            ["train", "test", "sample", "folds"].map(|_| String::new());
        let [fitted, new, between] = self.steps;
        let mut id = 0;
        for step in (0..fitted).chain(fitted + between..fitted + between + new) {
            for store in 0..self.series.max(1) {
                // A series that ends earlier begins earlier.
                let Some(own) = step.checked_sub(self.ends * store) else { continue };
                let (time, known) = ((self.time)(own), step < fitted);
                let value = 50.0 + step as f64 / 3.0 + (step % 7 * (store + 1)) as f64 + random.next();
                let value = if matches!(self.metric, "accuracy" | "ROC-AUC" | "F1") {
                    (step / 9 % 2) as f64
                } else {
                    value
                };
                let own = if self.series == 0 { time.clone() } else { id.to_string() };
                let cells = if self.series == 0 { time } else { format!("{id},{time},s{store}") };
                if !known {
                    test.push_str(&format!("{cells}\n"));
                    sample.push_str(&format!("{own},0\n"));
                } else if (self.is_there)(step, store) {
                    train.push_str(&format!("{cells},{value:.3}\n"));
                    if let Some(fold) = (step + 2 * new).checked_sub(fitted) {
                        folds.push_str(&format!("{own},{}\n", fold / new));
                    }
                }
                id += 1;
            }
        }
        let id = self.id();
        for (file, text) in [
            ("train.csv", format!("{names},target\n{train}")),
            ("test.csv", format!("{names}\n{test}")),
            ("sample_submission.csv", format!("{id},target\n{sample}")),
        ] {
            std::fs::write(folder.join(file), text).unwrap();
        }
        std::fs::write(folder.join("folds.csv"), format!("{id},fold\n{folds}")).unwrap();
    }

    fn agents(&self) -> OfflineAgents {
        self.agents_for(&self.shape(), 30_000)
    }

    /// Agents whose scripts of the search read at most so many rows.
    fn agents_for(&self, shape: &Shape, limit: u32) -> OfflineAgents {
        let data = tempfile::tempdir().unwrap();
        self.write(data.path());
        std::fs::remove_file(data.path().join("folds.csv")).unwrap();
        let mut task = Task { data_dir: data.path().to_owned(), ..task(shape) };
        task.roles.id = Some(self.id().to_owned());
        let profile = profile_of(&task, data.path());
        let series = if self.ends > 0 { vec!["store".to_owned()] } else { Vec::new() };
        let split = Split { series, ..by(SplitKind::Time, "time") };
        agents_for(&task, &profile, limit, Some(&split))
    }
}

/// Appended to a script: the folds are those of the file, and no forecast knows a value from its end on.
const CHECKS: &str = r#"
import json

gap, OWN = json.load(open("gap.json"))
file = pd.read_csv("input/folds.csv")
assert len(FOLDS) == 2 and len(VALIDATED) == len(file)
for number, (earlier, later) in enumerate(FOLDS):
    wanted = set(file[file.columns[0]][file["fold"] == number].astype(str))
    assert set(train[file.columns[0]].iloc[later].astype(str)) == wanted
    for code in np.unique(CODES[later]) if OWN else [None]:
        of_series = [rows[CODES[rows] == code] if OWN else rows for rows in (earlier, later)]
        first = STEPS[of_series[1]].min()
        assert STEPS[of_series[0]].max() == first - gap - 1, (number, code, first)

for earlier, later in [*FOLDS, (ORDER, len(train) + np.arange(len(test)))]:
    empty = pd.DataFrame(index=earlier), pd.DataFrame(index=later)
    found = with_forecasts(*empty, earlier, later)
    assert np.isfinite(found[1]["forecast"]).all()
    ends = [STEPS[rows] - frame["past_steps_ahead"].to_numpy().astype(int) for rows, frame in zip((earlier, later), found)]
    for rows, end in zip(later, ends[1]):
        assert end == STEPS[earlier[CODES[earlier] == CODES[rows]] if OWN else earlier].max() + 1
    assert (found[1]["past_steps_ahead"] >= gap).all() and (found[0]["past_steps_ahead"] >= gap).all()
    assert found[0]["past_steps_ahead"].max() <= found[1]["past_steps_ahead"].max()
    whole, known = PASTS, targets
    for end in np.unique(np.concatenate(ends))[::5]:
        targets = np.where(STEPS[labelled] < end, known, 1e6)
        PASTS = [pasts_of(codes, labelled) if OWN else [Past(codes, scale(targets)) for scale, _ in SCALES] for codes in GROUPS_OF_SERIES]
        again = with_forecasts(*empty, earlier, later)
        for one, other, before in zip(again, found, ends):
            same = before == end
            pd.testing.assert_frame_equal(
                one[same].drop(columns="forecast"), other[same].drop(columns="forecast"), atol=1e-6
            )
    PASTS, targets = whole, known
"#;

#[test]
fn forecasts_know_no_later_value() {
    needs!(Libraries);
    let mut batch = Batch::new();
    for series in ALL {
        let agents = series.agents().with_folds_file(series.gap);
        for model in ["Seasons and levels", "Linear model of distances", "LightGBM with forecasts"] {
            let script = with_few_trees(&initial(&agents, model));
            let script = format!("{script}{CHECKS}");
            let folder =
                batch.add_alone(format!("{model}, {}", series.name), &script, |input| series.write(input));
            let told = json!([series.steps[2], series.ends > 0]);
            std::fs::write(folder.join("gap.json"), told.to_string()).unwrap();
        }
    }
    let check = |done: &super::python::Done| {
        // Trees alone do not follow the trend.
        let most = if done.label.starts_with("LightGBM") { 100.0 } else { 25.0 };
        let fine = done.stderr.is_empty() && parse_score(&done.stdout).is_some_and(|score| score < most);
        if fine { String::new() } else { fault(done) }
    };
    assert_faultless(batch.run(&interpreter()).iter().map(check));
}

#[test]
fn classes_samples_and_blends_of_series_run() {
    needs!(Libraries);
    let mut batch = Batch::new();
    let mut add = |series: Series, label: String, script: &str| {
        let script = with_few_trees(script);
        batch.add_alone(format!("{label}, {}", series.name), &script, |input| series.write(input));
    };
    for (series, averages) in [
        ("accuracy", DAYS, false),
        ("accuracy", STORES, false),
        ("ROC-AUC", DAYS, true),
        ("F1", STORES, true),
    ]
    .map(|(metric, series, averages)| (Series { metric, ..series }, averages))
    {
        let agents = series.agents_for(&series.of_classes(), 30_000).with_folds_file(series.gap);
        let agents = if averages { agents.averaging_periods() } else { agents };
        let asked = Asked { agents: &agents, place: "phase1/merge" };
        add(series, "classes".to_owned(), &merged(&asked, ["LightGBM with windows", "CatBoost"]));
        add(series, "plain first".to_owned(), &merged(&asked, ["CatBoost", "LightGBM with windows"]));
    }
    for series in [DAYS, MONTHS, STORES, ENDS] {
        let sampled = series.agents_for(&series.shape(), 70).with_folds_file(series.gap);
        add(series, "sample".to_owned(), &initial(&sampled, "Mean of seasons and LightGBM"));
        let agents = series.agents().with_folds_file(series.gap);
        let asked = Asked { agents: &agents, place: "phase2/path-0/t0" };
        let blend = merged(&asked, ["LightGBM with dates", "Seasons and levels"]);
        for (label, script) in refinements(&asked, &blend) {
            add(series, label, &script);
        }
        let windows = initial(&agents, "LightGBM with windows");
        for (label, script) in ensembles(&asked, &[&blend, &windows]) {
            add(series, label, &script);
        }
        add(
            series,
            "windows first".to_owned(),
            &merged(&asked, ["LightGBM with windows", "Linear model of distances"]),
        );
    }
    let check = |done: &super::python::Done| {
        let fine = done.stderr.is_empty() && parse_score(&done.stdout).is_some();
        if fine { String::new() } else { fault(done) }
    };
    assert_faultless(batch.run(&interpreter()).iter().map(check));
}
