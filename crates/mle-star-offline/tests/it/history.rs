//! Tasks whose test rows are later rows of the same series.

use std::collections::BTreeSet;
use std::path::Path;

use mle_star_domain::metric::Direction::{Maximize, Minimize};
use mle_star_domain::protocol::SplitKind;
use mle_star_domain::role::{AgentType, Variant};
use mle_star_domain::task::Task;
use mle_star_leakage::{Facts, check};
use mle_star_needs::needs;
use mle_star_offline::OfflineAgents;
use serde_json::json;

use super::ask::{Asked, ensembles, merged, refinements};
use super::python::{
    Batch, Done, assert_faultless, fault, initial, interpreter, is_recomputed, with_few_trees,
};
use super::tasks::{NEW_ROWS, Random, Shape, agents_for, by, profile_of, shape, task, write_tables};

/// Stores of the tables of [`write`].
const STORES: usize = 8;
/// Days of the training table.
const DAYS: usize = 60;

/// How a table writes its rows.
#[derive(Clone, Copy)]
struct Rows {
    name: &'static str,
    /// The text of a day, counted from 0.
    day: fn(usize) -> String,
    /// Whether the table has this row of a store and a day, and how often.
    times: fn(usize, usize) -> usize,
    /// The name of a store in the training table (`true`) or the test table.
    store: fn(usize, bool) -> String,
    /// The target of a store on a day, from a number that rises.
    target: fn(usize, usize, f64) -> String,
}

const DATED: Rows = Rows {
    name: "dates",
    day: |day| format!("2024-{:02}-{:02}", 1 + day / 28, 1 + day % 28),
    times: |_, _| 1,
    store: |store, _| format!("s{store}"),
    target: |_, _, value| format!("{value:.3}"),
};

/// Classes that last for days.
const LABELLED: Rows = Rows {
    name: "classes",
    target: |store, day, value| {
        usize::from((store + day / 9) % 3 == 0 || value * 10.0 % 7.0 < 1.0).to_string()
    },
    ..DATED
};

/// Three of them.
const THREE: Rows = Rows {
    name: "three classes",
    target: |store, day, value| ((store + day / 9 + usize::from(value * 10.0 % 7.0 < 1.0)) % 3).to_string(),
    ..DATED
};

const ODD: [Rows; 5] = [
    Rows { name: "numbers", day: |day| day.to_string(), store: |store, _| (store * 3).to_string(), ..DATED },
    Rows { name: "irregular times", day: |day| format!("{:.1}", (day * day) as f64 / 7.0), ..DATED },
    Rows {
        name: "rows twice, and rows that are lacking",
        times: |store, day| match (store + 3 * day) % 11 {
            0 => 0,
            1 if day % 9 == 1 => 2,
            _ => 1,
        },
        ..DATED
    },
    Rows {
        name: "new stores",
        store: |store, training| format!("s{}", if store < 3 && !training { store + 50 } else { store }),
        ..DATED
    },
    Rows {
        name: "no time in some rows",
        day: |day| if day == 7 { String::new() } else { (DATED.day)(day) },
        ..DATED
    },
];

/// Writes the days of stores. The test table has the days after those of the training table.
fn write(folder: &Path, rows: Rows) {
    let mut random = Random(11);
    let mut tables = ["id,day,store,offer,target\n".to_owned(), "id,day,store,offer\n".to_owned()];
    let mut sample = "id,target\n".to_owned();
    let mut id = 0;
    for day in 0..DAYS + NEW_ROWS / STORES {
        for store in 0..STORES {
            for _ in 0..(if day < DAYS { (rows.times)(store, day) } else { 1 }) {
                let (offer, noise) = (random.next(), random.next());
                let target = 20.0 + (store * 5) as f64 + (day * store) as f64 / 10.0 + 3.0 * offer + noise;
                let cells =
                    format!("{id},{},{},{offer:.3}", (rows.day)(day), (rows.store)(store, day < DAYS));
                if day < DAYS {
                    tables[0].push_str(&format!("{cells},{}\n", (rows.target)(store, day, target)));
                } else {
                    tables[1].push_str(&format!("{cells}\n"));
                    sample.push_str(&format!("{id},0\n"));
                }
                id += 1;
            }
        }
    }
    write_tables(folder, [&tables[0], &tables[1], &sample]);
}

/// The agents for these tables, with this split.
fn agents(shape: &Shape, rows: Rows, kind: SplitKind) -> OfflineAgents {
    let data = tempfile::tempdir().unwrap();
    write(data.path(), rows);
    let task = Task { data_dir: data.path().to_owned(), ..task(shape) };
    let profile = profile_of(&task, data.path());
    agents_for(&task, &profile, shape.subsample, Some(&by(kind, "day")))
}

fn of_days(metric: &'static str) -> Shape {
    Shape { time: Some("day"), rich: false, ..shape(metric, Minimize, 0) }
}

fn of_classes(classes: usize) -> Shape {
    // Log loss of three classes needs a submission of several columns.
    let (metric, direction) = if classes > 2 { ("accuracy", Maximize) } else { ("log loss", Minimize) };
    Shape { time: Some("day"), rich: false, ..shape(metric, direction, classes) }
}

/// Every script that the agents write from these models.
fn scripts(agents: &OfflineAgents, families: [&str; 2]) -> Vec<(String, String)> {
    let ask = Asked { agents, place: "phase2/path-0/t0" };
    let blend = merged(&ask, families);
    let solo = initial(agents, families[0]);
    let mut scripts = refinements(&ask, &blend);
    scripts.extend(ensembles(&ask, &[&blend, &solo]));
    let ablation = |previous: &str| {
        let inputs = json!({ "solution_script": blend, "previous_ablations": [previous] });
        ("ablation".to_owned(), ask.code(AgentType::Ablation, None, inputs))
    };
    let parts = [format!("Features: {}", families[0]), format!("Model: {}", families[0])];
    scripts.extend([ablation(""), ablation(&parts.join(" "))]);
    scripts.extend([("blend".to_owned(), blend.clone()), ("solo".to_owned(), solo)]);
    scripts
}

#[test]
fn scripts_with_a_history_pass_the_rules_against_leakage() {
    let facts = Facts { targets: vec!["target".to_owned()], ids: vec!["id".to_owned()], ..Facts::default() };
    let distances = ["distance from the last value", "distance from the recent mean"];
    let others = ["no earlier targets", "more windows of earlier targets", "time beside earlier targets"];
    for (shape, rows) in [(of_classes(2), LABELLED), (of_classes(3), THREE), (of_days("RMSLE"), DATED)] {
        let of_sample = agents(&Shape { subsample: 100, ..shape }, rows, SplitKind::Time);
        let solo = initial(&of_sample, "LightGBM with windows");
        assert!(solo.contains("left_out"), "{solo}");
        assert!(check(&solo, &facts).unwrap().is_empty(), "{:#?}", check(&solo, &facts));
        let agents = agents(&shape, rows, SplitKind::Time);
        let mut strategies = BTreeSet::new();
        for (label, script) in scripts(&agents, ["LightGBM with windows", "CatBoost with forecasts"]) {
            let findings = check(&script, &facts).unwrap();
            assert!(findings.is_empty(), "{label}\n{findings:#?}\n{script}");
            assert!(label == "ablation" || script.contains("with_windows("), "{label}\n{script}");
            let from = Asked { agents: &agents, place: "phase2/path-0/t0" };
            let found = from.json(AgentType::Leakage, None, json!({ "code": script }));
            assert_eq!(found["answers"][0]["leakage_status"], "No Data Leakage", "{label}");
            strategies.insert(label);
        }
        let offered = |name: &str| strategies.contains(&format!("Strategy: {name}"));
        assert!(others.iter().all(|name| offered(name)), "{strategies:?}");
        assert!(distances.iter().all(|name| offered(name) == (shape.classes == 0)), "{strategies:?}");
    }
}

/// Appended to a script: compares a column with plain loops, and checks that no row depends on later targets.
const CHECKS: &str = r#"

def columns_of(targets, fit_rows, rows):
    empty = pd.DataFrame(index=fit_rows), pd.DataFrame(index=rows)
    return with_windows(*empty, targets[fit_rows], fit_rows, rows, [0.25, 1.0, 4.0])


def are_latest(mean, last, row, start, fit_rows):
    """Whether one is the mean of the latest targets of the row's series before the start and one is the latest of them.

    Both are NaN if there are none.
    """
    same = fit_rows[(CODES[fit_rows] == CODES[row]) & (CLOCK[fit_rows] < start)]
    if len(same) == 0:
        return np.isnan(mean) and np.isnan(last)
    latest = y[same[np.argsort(-CLOCK[same], kind="stable")]]
    means = np.cumsum(latest) / np.arange(1, len(latest) + 1)
    at_the_end = y[same[CLOCK[same] == CLOCK[same].max()]]
    return last in at_the_end and np.abs(means - mean).min() < 1e-6


found = 0
for fit_rows, rows in [*FOLDS, (ORDER, len(train) + np.arange(len(test)))]:
    frames = columns_of(y, fit_rows, rows)
    first = CLOCK[rows].min()
    assert not (CLOCK[fit_rows] >= first).any()
    for numbers, frame in zip((fit_rows, rows), frames):
        assert list(frame.index) == list(numbers)
        starts = CLOCK[numbers] - frame["recent_distance"].to_numpy()
        has_time = np.isfinite(CLOCK[numbers])
        assert (np.isfinite(starts) == has_time).all() and frame[~has_time].isna().all(axis=None)
        assert (starts[has_time] <= np.minimum(CLOCK[numbers], first + 1e-6)[has_time]).all()
        for position in np.flatnonzero(has_time)[::3]:
            mean, last = frame[["recent_4", "recent_last"]].iloc[position]
            assert are_latest(mean, last, numbers[position], starts[position], fit_rows), (position, mean, last)
            found += np.isfinite(mean)
    # A row stays the same if targets from the beginning of its period on change.
    starts = CLOCK[fit_rows] - frames[0]["recent_distance"].to_numpy()
    for moment in np.unique(starts[np.isfinite(starts)]):
        changed = y.copy()
        changed[fit_rows] += np.where(CLOCK[fit_rows] >= moment, 1000.0, 0.0)
        again = columns_of(changed, fit_rows, rows)
        before = starts <= moment
        pd.testing.assert_frame_equal(again[0][before], frames[0][before], atol=1e-6)
        assert before.any() and not np.allclose(again[1]["recent_1"], frames[1]["recent_1"])
    # Other targets than those of the fitted rows have no part in anything.
    changed = np.full(len(y), np.nan)
    changed[fit_rows] = y[fit_rows]
    for again, frame in zip(columns_of(changed, fit_rows, rows), frames):
        pd.testing.assert_frame_equal(again, frame)
assert found > 20, found
"#;

#[test]
fn a_history_ends_before_the_period_of_its_row() {
    needs!(Libraries);
    let mut batch = Batch::new();
    for rows in [DATED].into_iter().chain(ODD) {
        let shape = of_days("MAE");
        let agents = agents(&shape, rows, SplitKind::Time);
        for family in ["LightGBM with windows", "CatBoost with windows"] {
            let script = with_few_trees(&initial(&agents, family));
            let label = format!("{family}, {}", rows.name);
            batch.add_with(&shape, label, &format!("{script}{CHECKS}"), |input| write(input, rows));
        }
    }
    let shape = of_classes(2);
    let script =
        with_few_trees(&initial(&agents(&shape, LABELLED, SplitKind::Time), "LightGBM with windows"));
    let script = format!("{script}\ny = y.astype(float)\n{CHECKS}");
    batch.add_with(&shape, "classes".to_owned(), &script, |input| write(input, LABELLED));
    let shape = of_classes(3);
    let script = with_few_trees(&initial(&agents(&shape, THREE, SplitKind::Time), "LightGBM with windows"));
    batch.add_with(&shape, "three classes".to_owned(), &format!("{script}{OF_CLASSES}"), |input| {
        write(input, THREE);
    });
    assert_faultless(batch.run(&interpreter()).iter().map(faults));
}

/// Appended to a script of classes: compares the columns with plain loops.
const OF_CLASSES: &str = r#"
found = 0
for fit_rows, rows in [*FOLDS, (ORDER, len(train) + np.arange(len(test)))]:
    empty = pd.DataFrame(index=fit_rows), pd.DataFrame(index=rows)
    for numbers, frame in zip((fit_rows, rows), with_windows(*empty, y[fit_rows].astype(float), fit_rows, rows, [0.25, 1.0, 4.0])):
        starts = CLOCK[numbers] - frame["recent_distance"].to_numpy()
        assert (starts <= CLOCK[rows].min() + 1e-6).all()
        for start, row, (_, columns) in zip(starts, numbers, frame.iterrows()):
            known = fit_rows[(CODES[fit_rows] == CODES[row]) & (CLOCK[fit_rows] < start)]
            shares = columns[[f"recent_4_{label}" for label in range(3)]].to_numpy()
            lasts = columns[[f"recent_last_{label}" for label in range(3)]].to_numpy()
            if len(known) == 0:
                assert np.isnan(shares).all() and np.isnan(lasts).all()
                continue
            latest = y[known[np.argsort(-CLOCK[known], kind="stable")]]
            assert lasts.argmax() == latest[0] and lasts.sum() == 1
            means = np.array([(latest == label).cumsum() for label in range(3)]) / np.arange(1, len(latest) + 1)
            assert np.abs(means - shares[:, None]).max(axis=0).min() < 1e-6
            found += 1
assert found > 20, found
"#;

/// Appended to a script that reads a sample: compares a column with the whole training table.
const OF_SAMPLE: &str = r#"
whole = pd.read_csv("./input/train.csv")
days = (pd.to_datetime(whole[TIME], utc=True) - pd.Timestamp("2000-01-01", tz="UTC")).dt.days
stores = pd.concat([train["store"], test["store"]]).to_numpy()
for fit_rows, rows in [*FOLDS, (ORDER, len(train) + np.arange(len(test)))]:
    empty = pd.DataFrame(index=fit_rows), pd.DataFrame(index=rows)
    for numbers, frame in zip((fit_rows, rows), with_windows(*empty, to_model_scale(y[fit_rows]), fit_rows, rows, [0.25, 1.0, 4.0])):
        starts = CLOCK[numbers] - frame["recent_distance"].to_numpy()
        assert (starts <= CLOCK[rows].min() + 1e-6).all()
        for start, row, value in zip(starts, numbers, frame["recent_4"]):
            latest = whole[TARGET][(whole["store"] == stores[row]) & (days < start)].to_numpy()[::-1]
            means = to_model_scale(latest).cumsum() / np.arange(1, len(latest) + 1)
            assert np.abs(means - value).min() < 1e-6 if len(latest) else np.isnan(value)
"#;

#[test]
fn a_sample_has_the_history_of_all_rows() {
    needs!(Libraries);
    let mut batch = Batch::new();
    let shape = Shape { subsample: 100, ..of_days("MAE") };
    let agents = agents(&shape, DATED, SplitKind::Time);
    let ask = Asked { agents: &agents, place: "finalization/test" };
    let script = with_few_trees(&initial(&agents, "LightGBM with windows"));
    let inputs = json!({ "final_solution": script });
    let block = ask.code(AgentType::Test, Some(Variant::SubsamplingExtract), inputs);
    let inputs = json!({ "code_block_with_subsampling": block });
    let instead = ask.code(AgentType::Test, Some(Variant::SubsamplingRemove), inputs);
    let whole = script.replacen(&block, &instead, 1);
    for (shape, label, script, rows) in [
        (shape, "sample", &script, 100),
        (Shape { subsample: 30_000, ..shape }, "whole", &whole, DAYS * STORES),
    ] {
        let script = format!("{script}\nassert len(train) == {rows}\n{OF_SAMPLE}");
        batch.add_with(&shape, label.to_owned(), &script, |input| write(input, DATED));
    }
    assert_faultless(batch.run(&interpreter()).iter().map(faults));
}

#[test]
fn scripts_with_a_history_run() {
    needs!(Libraries);
    let mut batch = Batch::new();
    let numbered = Rows { name: "numbered days", day: |day| day.to_string(), ..DATED };
    for (shape, families, rows) in [
        (of_days("RMSLE"), ["LightGBM with windows", "CatBoost with forecasts"], DATED),
        (of_days("MAE"), ["Linear model of distances", "Extra trees of distances"], DATED),
        (of_days("MAE"), ["LightGBM", "Mean of seasons and distances"], numbered),
        (of_days("RMSE"), ["Seasons and levels", "LightGBM with windows"], ODD[1]),
        (of_classes(2), ["LightGBM with windows", "Linear model"], LABELLED),
        (of_classes(3), ["CatBoost with windows", "Linear model"], THREE),
        (Shape { subsample: 100, ..of_classes(2) }, ["CatBoost with windows", "XGBoost"], LABELLED),
        (Shape { subsample: 100, ..of_days("MAE") }, ["Seasons and levels", "LightGBM of ratios"], DATED),
    ] {
        let agents = agents(&shape, rows, SplitKind::Time);
        for (label, script) in scripts(&agents, families) {
            batch.add_with(&shape, label, &with_few_trees(&script), |input| write(input, rows));
        }
    }
    assert_faultless(batch.run(&interpreter()).iter().map(|done| match done.label.as_str() {
        "ablation" if done.stderr.is_empty() && done.stdout.contains("Without ") => String::new(),
        "ablation" => fault(done),
        _ => faults(done),
    }));
}

fn faults(done: &Done) -> String {
    if done.stderr.is_empty() && is_recomputed(done) { String::new() } else { fault(done) }
}
