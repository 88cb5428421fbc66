//! Tasks whose test rows are later than the training rows.

use std::collections::BTreeSet;
use std::path::Path;

use mle_star_domain::metric::Direction::{Maximize, Minimize};
use mle_star_domain::protocol::SplitKind;
use mle_star_domain::role::AgentType;
use mle_star_domain::score::parse_score;
use mle_star_needs::needs;
use mle_star_offline::OfflineAgents;
use mle_star_tables::profile::{Column, ColumnKind};
use serde_json::json;

use super::ask::{Asked, ensembles, merged, refinements};
use super::python::{Batch, FAMILIES, assert_faultless, fault, faults, initial, interpreter};
use super::tasks::{Shape, agents, agents_for, by, column, profile_of, shape, task, write_tables};

fn timed(column: &'static str, shape: Shape) -> Shape {
    Shape { time: Some(column), rich: column == "day", ..shape }
}

/// The dates of a script are those of the program: a month and a year are no day, and the year may be first in any column.
#[test]
fn dates_are_read_like_the_program_reads_them() {
    needs!(Libraries);
    let shape = shape("RMSE", Minimize, 0);
    let mut profile = super::tasks::profile(&shape);
    profile.train.columns.push(Column { day_first: true, ..column("moment", ColumnKind::Date, 50) });
    let agents = agents_for(&task(&shape), &profile, 30_000, None);
    let script = initial(&agents, "LightGBM");
    let at = script.find("def moments_of(").unwrap();
    let function = script[at..].split("\n\n").next().unwrap();
    let checked = format!(
        "import pandas as pd\n\n\n{function}\n\n\n\
         texts = pd.Series(['Jan-24', 'Dec-11', 'Jan-85', '2024-01-02', ' 2024/01/02 03:00', '01.02.2024', None, 'no'])\n\
         print(moments_of(texts, day_first=True).dt.strftime('%Y-%m-%d').tolist())\n"
    );
    let mut batch = Batch::new();
    batch.add_alone("dates".to_owned(), &checked, |_| ());
    let done = batch.run(&interpreter()).remove(0);
    let expected =
        "['2024-01-01', '2011-12-01', '1985-01-01', '2024-01-02', '2024-01-02', '2024-02-01', nan, nan]";
    assert_eq!((done.stdout.trim(), done.stderr.as_str()), (expected, ""));
}

/// Language models are told the folds that the templates use, so that scores can be compared.
#[test]
fn prompts_name_the_folds_of_the_template() {
    let script = initial(&agents(&timed("size", shape("RMSE", Minimize, 0))), "LightGBM");
    assert!(script.contains("for share in (0.55, 0.7, 0.85)"), "{script}");
    let words = by(SplitKind::Time, "size").folds(42);
    let expected =
        "three folds: train on the first 55, 70 and 85 % of the rows, validate each time on the next 15 %";
    assert!(words.contains(expected), "{words}");
}

/// Appended to a script: checks that fitting rows are earlier, and that tuning uses other validated rows alone.
const IN_TIME: &str = "
assert len(FOLDS) == 3 and len(TUNING) == 3
for fit, valid in FOLDS:
    assert times.iloc[fit].max() < times.iloc[valid].min()
assert (np.concatenate([valid for _, valid in FOLDS]) == VALIDATED).all() and len(VALIDATED) < 0.6 * len(train)
for fit, valid in TUNING:
    assert not np.intersect1d(fit, valid).size and len(fit) + len(valid) == len(TRUTH) == len(oof)
assert sorted(ORDER) == list(range(len(train)))
";

#[test]
fn scripts_in_time_run() {
    needs!(Libraries);
    let python = interpreter();
    let mut batch = Batch::new();
    let metrics = [
        ("RMSE", Minimize, 0),
        ("macro F1", Maximize, 3),
        ("ROC-AUC", Maximize, 2),
        ("log loss", Minimize, 3),
        ("quadratic weighted kappa", Maximize, 4),
        ("RMSLE", Minimize, 0),
        ("F1", Maximize, 2),
        ("MAE", Minimize, 0),
        ("log loss", Minimize, 2),
    ];
    let (mut strategies, mut plans) = (BTreeSet::new(), BTreeSet::new());
    for (position, (metric, direction, classes)) in metrics.into_iter().enumerate() {
        let plain = Shape {
            per_class: metric == "log loss" && classes > 2,
            text_labels: position % 3 == 1,
            incomplete: position % 4 == 3,
            subsample: if position % 3 == 2 { 100 } else { 30_000 },
            ..shape(metric, direction, classes)
        };
        let shape = timed(if position % 5 == 4 { "size" } else { "day" }, plain);
        let agents = agents(&shape);
        let family = |step: usize| FAMILIES[(position + step) % FAMILIES.len()];
        for family in [family(0), family(5)] {
            let script = format!("{}{IN_TIME}", initial(&agents, family));
            batch.add(&shape, format!("{family} {shape:?}"), &script);
        }
        let asked = Asked { agents: &agents, place: "phase2/path-0/t0" };
        let script = merged(&asked, [family(0), family(4)]);
        for (label, changed) in refinements(&asked, &script) {
            if strategies.insert((label.clone(), classes > 0)) {
                batch.add(&shape, format!("{label} {shape:?}"), &changed);
            }
        }
        for (label, ensemble) in ensembles(&asked, &[&script, &initial(&agents, family(2))]) {
            if plans.insert((label.clone(), classes > 0)) {
                batch.add(&shape, format!("{label} {shape:?}"), &ensemble);
            }
        }
        let study = json!({ "solution_script": script, "previous_ablations": [] });
        batch.add(&shape, "ablation".to_owned(), &asked.code(AgentType::Ablation, None, study));
    }
    assert!(strategies.len() >= 27 && plans.len() >= 6, "{} {}", strategies.len(), plans.len());
    let check = |done: &super::python::Done| match done.label.as_str() {
        "ablation" if done.stderr.is_empty() && done.stdout.contains("Without ") => String::new(),
        "ablation" => fault(done),
        _ => faults(done),
    };
    assert_faultless(batch.run(&python).iter().map(check));
}

/// Few or unequal times: every table of `(rows, time)` gives at least one cut, and no time is on both sides.
#[test]
fn few_times_give_fewer_cuts() {
    needs!(Libraries);
    let python = interpreter();
    let shape = Shape { rich: false, ..timed("time", shape("F1", Maximize, 2)) };
    let mut batch = Batch::new();
    let mut check = |times: &[(usize, &str)], cuts: usize| {
        let mut train = "id,size,time,target\n".to_owned();
        let rows = times.iter().flat_map(|(rows, time)| std::iter::repeat_n(time, *rows));
        for (row, time) in rows.enumerate() {
            train.push_str(&format!("{row},{},{time},{}\n", row * 7 % 10, row * 7 % 10 / 5));
        }
        let write = |folder: &Path| {
            std::fs::write(folder.join("train.csv"), &train).unwrap();
            std::fs::write(folder.join("test.csv"), "id,size,time\n900,3,9\n901,8,9\n").unwrap();
            std::fs::write(folder.join("sample_submission.csv"), "id,target\n900,0\n901,0\n").unwrap();
        };
        let agents = agents_in_time(&shape, write);
        // Those without a time are never validated.
        let asserted = format!(
            "\nassert len(FOLDS) == {cuts}, len(FOLDS)\nassert times.iloc[VALIDATED].notna().all()\n\
             assert all(times.iloc[fit].dropna().max() < times.iloc[valid].min() for fit, valid in FOLDS)\n\
             assert len(TUNING) > 1 and all(len(fit) and len(valid) for fit, valid in TUNING)\n"
        );
        let script = format!("{}{asserted}", initial(&agents, "Linear model"));
        batch.add_with(&shape, format!("{times:?}"), &script, write);
    };
    check(&[(40, "1"), (40, "2")], 1);
    check(&[(70, "1"), (10, "2")], 1);
    check(&[(10, "1"), (70, "2")], 1);
    check(&[(30, "1"), (30, "2"), (20, "3")], 2);
    check(&[(20, "4"), (20, "3"), (20, "2"), (20, "1")], 2);
    check(&[(8, "1"), (8, "2"), (8, "3"), (8, "4"), (8, "5"), (8, "6"), (8, "7"), (8, "8")], 3);
    check(&[(8, ""), (30, "1"), (30, "2"), (8, "")], 1);
    let check = |done: &super::python::Done| {
        let fine = done.stderr.is_empty() && parse_score(&done.stdout).is_some();
        if fine { String::new() } else { fault(done) }
    };
    assert_faultless(batch.run(&python).iter().map(check));
}

/// The agents of a task whose tables `write` writes, with later rows by `time` in the test table.
fn agents_in_time(shape: &Shape, write: impl Fn(&Path)) -> OfflineAgents {
    let data = tempfile::tempdir().unwrap();
    write(data.path());
    let split = by(SplitKind::Time, "time");
    let profile = profile_of(&task(shape), data.path());
    agents_for(&task(shape), &profile, 30_000, Some(&split))
}

/// Parts of a year are read as their first days.
#[test]
fn scripts_make_dates_of_parts_of_years() {
    needs!(Libraries);
    let python = interpreter();
    let shape = Shape { rich: false, ..timed("time", shape("RMSE", Minimize, 0)) };
    let mut batch = Batch::new();
    let mut check = |name: fn(usize) -> String, first: &str, last: &str| {
        let row = |row: usize| format!("{row},{},\"{}\"", row * 7 % 10, name(row / 4));
        let train = (0..80).fold("id,size,time,target\n".to_owned(), |all, at| {
            format!("{all}{},{}\n", row(at), at * 7 % 10)
        });
        let test = (80..90).fold("id,size,time\n".to_owned(), |all, at| format!("{all}{}\n", row(at)));
        let sample = (80..90).fold("id,target\n".to_owned(), |all, at| format!("{all}{at},0\n"));
        let write = |folder: &Path| write_tables(folder, [&train, &test, &sample]);
        let agents = agents_in_time(&shape, write);
        let asserted = format!(
            "\nassert len(FOLDS) == 3, len(FOLDS)\nassert str(times.min())[:10] == \"{first}\", times.min()\n\
             assert str(times.max())[:10] == \"{last}\", times.max()\nassert DATES == [TIME], DATES\n"
        );
        batch.add_alone(name(0), &format!("{}{asserted}", initial(&agents, "LightGBM")), write);
    };
    check(|at| format!("2021-W{:02}", at + 30), "2021-07-26", "2021-12-06");
    check(|at| format!("W{} {}", at % 53 + 1, 2020 + at / 53), "2019-12-30", "2020-05-11");
    check(|at| format!("2021-W{:02}-{}", at / 7 + 1, at % 7 + 1), "2021-01-04", "2021-01-23");
    check(|at| format!("Q{} {}", at % 4 + 1, 2000 + at / 4), "2000-01-01", "2004-10-01");
    check(|at| format!("{}H{}", 2000 + at / 2, at % 2 + 1), "2000-01-01", "2009-07-01");
    check(|at| format!("{:02}/{}", at % 12 + 1, 2000 + at / 12), "2000-01-01", "2001-08-01");
    check(|at| format!("2021-{}", at + 300), "2021-10-27", "2021-11-15");
    check(|at| format!("{}/{:02}", 1990 + at, (91 + at) % 100), "1990-01-01", "2009-01-01");
    check(|at| format!("Monday, {:02} November 2021", at + 1), "2021-11-01", "2021-11-20");
    let check = |done: &super::python::Done| {
        let fine = done.stderr.is_empty() && parse_score(&done.stdout).is_some();
        if fine { String::new() } else { fault(done) }
    };
    assert_faultless(batch.run(&python).iter().map(check));
}
