//! Tasks whose test rows are later than the training rows.

use std::collections::BTreeSet;
use std::path::Path;

use mle_star_domain::metric::Direction::{Maximize, Minimize};
use mle_star_domain::protocol::SplitKind;
use mle_star_domain::role::AgentType;
use mle_star_domain::score::parse_score;
use mle_star_needs::needs;
use mle_star_offline::OfflineAgents;
use mle_star_tables::profile::{self, Column, ColumnKind};
use serde_json::json;

use super::ask::{Asked, ensembles, merged, refinements, with_data};
use super::grouped::{error, section};
use super::python::{Batch, FAMILIES, assert_faultless, fault, faults, initial, interpreter, is_recomputed};
use super::tasks::{Random, Shape, agents, by, column, shape, task, write_tables};

fn timed(column: &'static str, shape: Shape) -> Shape {
    Shape { time: Some(column), rich: column == "day", ..shape }
}

#[test]
fn times_are_read_by_their_kind() {
    let check = |kind: ColumnKind, day_first: bool, expected: &str| {
        let shape = shape("RMSE", Minimize, 0);
        let mut profile = super::tasks::profile(&shape);
        profile.train.columns.push(Column { day_first, ..column("moment", kind, 50) });
        let split = by(SplitKind::Time, "moment");
        let agents = OfflineAgents::new(&task(&shape), &profile, 30_000, Some(&split)).unwrap();
        let script = initial(&agents, "LightGBM");
        assert!(script.contains("TIME = \"moment\"") && script.contains(expected), "{expected}\n{script}");
    };
    check(ColumnKind::Integer, false, "\ntimes = train[TIME]\n");
    check(ColumnKind::Float, false, "\ntimes = train[TIME]\n");
    check(ColumnKind::Category, false, "\ntimes = train[TIME]\n");
    let read = "times = pd.to_datetime(train[TIME], errors=\"coerce\", format=\"mixed\", utc=True";
    check(ColumnKind::Date, false, &format!("{read})\n"));
    check(ColumnKind::Date, true, "times = moments_of(train[TIME], day_first=True)\n");
}

/// The dates of a script are those of the program: a month and a year are no day, and the year may be first in any column.
#[test]
fn dates_are_read_like_the_program_reads_them() {
    needs!(Libraries);
    let shape = shape("RMSE", Minimize, 0);
    let mut profile = super::tasks::profile(&shape);
    profile.train.columns.push(Column { day_first: true, ..column("moment", ColumnKind::Date, 50) });
    let agents = OfflineAgents::new(&task(&shape), &profile, 30_000, None).unwrap();
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

#[test]
fn months_of_years_are_read_by_the_script_itself() {
    let shape = shape("RMSE", Minimize, 0);
    let check = |value: &str, own: bool| {
        let mut profile = super::tasks::profile(&shape);
        let top_values = vec![(value.to_owned(), 5)];
        profile.train.columns.push(Column { top_values, ..column("moment", ColumnKind::Date, 50) });
        let agents = OfflineAgents::new(&task(&shape), &profile, 30_000, None).unwrap();
        let script = initial(&agents, "LightGBM");
        assert_eq!(script.contains("moments_of(frame[column])"), own, "{value}");
        assert_eq!(script.contains("pd.to_datetime(frame[column], "), !own, "{value}");
    };
    check("Jan-24", true);
    check("2024-01-02", false);
    check("31-Jan-24", false);
}

/// Language models are told the folds that the templates use, so that scores can be compared.
#[test]
fn prompts_name_the_folds_of_the_template() {
    let words = by(SplitKind::Time, "moment").folds(42);
    let shape = shape("RMSE", Minimize, 0);
    let mut profile = super::tasks::profile(&shape);
    profile.train.columns.push(column("moment", ColumnKind::Integer, 50));
    let split = by(SplitKind::Time, "moment");
    let agents = OfflineAgents::new(&task(&shape), &profile, 30_000, Some(&split)).unwrap();
    let script = initial(&agents, "LightGBM");
    let (_, shares) = script.split_once("for share in (").unwrap();
    let (shares, _) = shares.split_once(')').unwrap();
    let shares: Vec<f64> = shares.split(", ").map(|share| share.parse().unwrap()).collect();
    let ends = shares[1..].iter().chain(&[1.0]);
    let parts: BTreeSet<String> =
        shares.iter().zip(ends).map(|(cut, end)| format!("{:.0}", 100.0 * (end - cut))).collect();
    assert_eq!(parts.len(), 1, "{shares:?}");
    let percent: Vec<String> = shares.iter().map(|share| format!("{:.0}", 100.0 * share)).collect();
    let (last, first) = percent.split_last().unwrap();
    let expected = format!(
        "three folds: train on the first {} and {last} % of the rows, validate each time on the next {} %",
        first.join(", "),
        parts.first().unwrap()
    );
    assert!(words.contains(&expected), "{expected}: {words}");
}

#[test]
fn folds_follow_the_kind_of_the_split() {
    let check = |kind: SplitKind, column: &str, expected: &str| {
        // The profile shows groups, which only count if the split asks for groups.
        let shape = Shape { grouped: true, ..shape("accuracy", Maximize, 2) };
        let profile = super::tasks::profile(&shape);
        let split = by(kind, column);
        let agents = OfflineAgents::new(&task(&shape), &profile, 30_000, Some(&split)).unwrap();
        let script = initial(&agents, "LightGBM");
        let folds = section(&script, "Folds");
        assert!(folds.contains(expected), "{expected}\n{folds}");
        assert_eq!(script.contains("GROUP"), kind == SplitKind::Groups, "{script}");
        assert_eq!(script.contains("TIME"), expected.contains("TIME"), "{script}");
    };
    check(SplitKind::Rows, "", "StratifiedKFold(");
    check(SplitKind::Stratified, "", "StratifiedKFold(");
    check(SplitKind::Groups, "patient_id", "GroupKFold(n_splits=5).split(train, groups=train[GROUP])");
    // A column that the profile does not name counts too.
    check(SplitKind::Groups, "place", "GroupKFold(n_splits=5).split(train, groups=train[GROUP])");
    check(SplitKind::Time, "age", "times = train[TIME]");
    check(SplitKind::Time, "absent", "StratifiedKFold(");
}

#[test]
fn every_script_validates_on_later_rows() {
    let check = |shape: &Shape| {
        let agents = agents(shape);
        let ask = Asked { agents: &agents, place: "phase2/path-0/t0" };
        let script = with_data(&ask, &merged(&ask, ["LightGBM", "Linear model"]));
        let solo = initial(&agents, "CatBoost");
        let folds = section(&script, "Folds");
        let study = json!({ "solution_script": script, "previous_ablations": [] });
        let mut scripts = vec![solo.clone(), ask.code(AgentType::Ablation, None, study)];
        scripts.extend(refinements(&ask, &script).into_iter().map(|(_, text)| text));
        scripts.extend(ensembles(&ask, &[&script, &solo]).into_iter().map(|(_, text)| text));
        for text in scripts {
            ruff_python_parser::parse_module(&text).unwrap();
            assert_eq!(section(&text, "Folds"), folds);
            // Nothing is drawn at random, and rows that are never validated have no part in what is tuned.
            for word in ["shuffle=True", "train_test_split", "metric(y, ", "len(train),", "zeros(len(train))"]
            {
                assert!(!text.contains(word), "{word}\n{text}");
            }
            assert_eq!(text.matches(" in FOLDS").count(), text.matches("def out_of_fold").count(), "{text}");
        }
    };
    for (metric, direction, classes) in [
        ("accuracy", Maximize, 3),
        ("MAE", Minimize, 0),
        ("F1", Maximize, 2),
        ("log loss", Minimize, 2),
        ("quadratic weighted kappa", Maximize, 4),
    ] {
        check(&timed("day", shape(metric, direction, classes)));
        check(&timed("size", Shape { auxiliary: true, ..shape(metric, direction, classes) }));
    }
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
    needs!(Campaign("offline"), Libraries);
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
    needs!(Campaign("offline"), Libraries);
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
    let profile = profile::read(data.path()).unwrap();
    OfflineAgents::new(&task(shape), &profile, 30_000, Some(&split)).unwrap()
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

/// Days of the training table of [`write_drift`]; the test table has the next ones.
const DAYS: usize = 200;
const NEW_DAYS: usize = 30;
/// Rows of a day.
const DAY_ROWS: usize = 12;

/// Writes tables in which the effects of two columns turn with time. Returns the targets of the test rows.
fn write_drift(folder: &Path, classes: bool) -> Vec<f64> {
    let mut random = Random(23);
    let mut tables = ["id,day,a,b,target\n".to_owned(), "id,day,a,b\n".to_owned()];
    let mut sample = "id,target\n".to_owned();
    let mut truth = Vec::new();
    for row in 0..(DAYS + NEW_DAYS) * DAY_ROWS {
        // The table is not in the order of time.
        let (day, training) = match row.checked_sub(DAYS * DAY_ROWS) {
            None => (row * 37 % DAYS, true),
            Some(rest) => (DAYS + rest % NEW_DAYS, false),
        };
        let [a, b] = [(); 2].map(|()| random.next() * 2.0 - 1.0);
        let angle = day as f64 / 20.0;
        let value = angle.cos() * a + angle.sin() * b + 0.1 * random.next();
        let target = if classes { f64::from(value > 0.0) } else { value };
        let cells = format!("{row},2024-{:02}-{:02},{a:.3},{b:.3}", 1 + day / 28, 1 + day % 28);
        if training {
            tables[0].push_str(&format!("{cells},{target}\n"));
        } else {
            tables[1].push_str(&format!("{cells}\n"));
            sample.push_str(&format!("{row},0\n"));
            truth.push(target);
        }
    }
    write_tables(folder, [&tables[0], &tables[1], &sample]);
    truth
}

#[test]
fn validation_in_time_foretells_the_score_on_later_rows() {
    needs!(Campaign("offline"), Libraries);
    let python = interpreter();
    let check = |shape: &Shape, family: &str| {
        let classes = shape.classes > 0;
        let data = tempfile::tempdir().unwrap();
        let truth = write_drift(data.path(), classes);
        let mut batch = Batch::new();
        for kind in [SplitKind::Time, SplitKind::Rows] {
            let profile = profile::read(data.path()).unwrap();
            let split = by(kind, "day");
            let agents = OfflineAgents::new(&task(shape), &profile, 30_000, Some(&split)).unwrap();
            let shape = Shape { time: (kind == SplitKind::Time).then_some("day"), ..*shape };
            let script = initial(&agents, family);
            batch.add_with(&shape, family.to_owned(), &script, |input| drop(write_drift(input, classes)));
        }
        let done = batch.run(&python);
        let [later, random] = [&done[0], &done[1]].map(|done| {
            assert!(is_recomputed(done), "{}", fault(done));
            let validated = parse_score(&done.stdout).unwrap();
            let validated = if classes { 1.0 - validated } else { validated };
            (validated, error(done, &truth, classes))
        });
        println!("{family} {}, validated and true: in time {later:?}, by rows {random:?}", shape.metric);
        assert!((later.0 / later.1 - 1.0).abs() < 0.35, "{family} {later:?}");
        assert!(random.0 / random.1 < 0.5, "{family} {random:?}");
        // A model of all rows is not worse than the mean of models of four fifths, which see the latest rows too.
        assert!(later.1 / random.1 < 1.1, "{family} {later:?} {random:?}");
    };
    check(&shape("RMSE", Minimize, 0), "Large LightGBM");
    check(&shape("ROC-AUC", Maximize, 2), "Large LightGBM");
}
