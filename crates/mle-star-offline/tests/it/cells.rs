//! How scripts read cells: dates, categories, words among numbers.

use std::fs;
use std::path::Path;

use mle_star_needs::needs;
use mle_star_offline::OfflineAgents;
use mle_star_tables::profile;

use super::ask::{Asked, refinements};
use super::folders::{Folder, PLAIN, TRAIN_ROWS, check_with};
use super::python::{Batch, assert_faultless, initial, interpreter, with_few_trees};

#[test]
fn dates_are_read_in_their_order() {
    needs!(Campaign("offline"), Libraries);
    let folder = Folder {
        name: "dates in two orders",
        features: "id,at,due,a",
        cells: |row, [a, _]| {
            let (day, month) = (row % 28 + 1, row % 12 + 1);
            format!("{row},{day:02}/{month:02}/2024,{month:02}/{day:02}/2024,{a:.3}")
        },
        families: &["LightGBM"],
        ..PLAIN
    };
    let agents = folder.agents();
    let asked = Asked { agents: &agents, place: "phase2/path-0/t0" };
    let script = initial(&agents, "LightGBM");
    let mut changed = refinements(&asked, &script).into_iter();
    let calendar = changed.find(|(_, script)| script.contains("_weekend")).unwrap().1;
    let wrong = r#"
x, row = features_lightgbm(train), train["id"]
for column in ["at", "due"]:
    assert (x[column + "_month"] == row % 12 + 1).all(), column
    assert (x.get(column + "_day", row % 28 + 1) == row % 28 + 1).all(), column
"#;
    let mut batch = Batch::new();
    for (label, script) in [("first", script), ("calendar", calendar)] {
        let script = with_few_trees(&format!("{script}\n{wrong}"));
        batch.add_alone(label.to_owned(), &script, |input| folder.write(input));
    }
    assert_faultless(batch.run(&interpreter()).iter().map(|done| folder.faults(done)));
}

#[test]
fn hours_of_dates_are_features() {
    needs!(Campaign("offline"), Libraries);
    let hours = Folder {
        name: "hours",
        features: "id,at,day,a",
        cells: |row, [a, _]| {
            format!("{row},2024-01-{:02} {:02}:30,2024-01-05,{a:.3}", row % 28 + 1, row % 24)
        },
        families: &["LightGBM"],
        ..PLAIN
    };
    let midnight = Folder {
        name: "midnight",
        features: "id,at,a",
        cells: |row, [a, _]| format!("{row},2024-01-{:02} 00:00:00,{a:.3}", row % 28 + 1),
        ..hours
    };
    check_with(&[
        (
            hours,
            "x = features_lightgbm(train)\nassert (x[\"at_hour\"] == train[\"id\"] % 24 + 0.5).all() and \"day_hour\" not in x",
        ),
        (midnight, "assert \"at_hour\" not in features_lightgbm(train)"),
    ]);
}

#[test]
fn a_category_is_spelled_alike_in_both_tables() {
    needs!(Campaign("offline"), Libraries);
    let in_test = Folder {
        name: "a word in the test table",
        features: "id,kind,a,b",
        cells: |row, [a, b]| {
            let kind = match row % 5 {
                0 if row < TRAIN_ROWS => "",
                0 => "unknown",
                1 => "1",
                2 => "2",
                _ => "3",
            };
            format!("{row},{kind},{a:.3},{b:.3}")
        },
        families: &["LightGBM"],
        ..PLAIN
    };
    let in_train = Folder {
        name: "a word in the training table",
        cells: |row, [a, b]| {
            let kind = match row % 5 {
                0 if row < TRAIN_ROWS => "x",
                0 => "",
                1 => "1",
                2 => "2",
                _ => "3",
            };
            format!("{row},{kind},{a:.3},{b:.3}")
        },
        ..in_test
    };
    let alike = r#"
old, new = (set(features_lightgbm(table)["kind"]) for table in (train, test))
assert {"1", "2", "3"} <= old and {"1", "2", "3"} <= new, (old, new)
"#;
    check_with(&[(in_test, alike), (in_train, alike)]);
}

#[test]
fn words_and_blanks_among_numbers_are_missing_values() {
    needs!(Campaign("offline"), Libraries);
    let folder = Folder {
        name: "words among numbers",
        features: "id,price,weight,code,b",
        cells: |row, [a, b]| {
            let price = if row % 40 == 7 { "n.d.".to_owned() } else { format!("{a:.5}") };
            let weight = if row % 30 == 3 { " ".to_owned() } else { format!("{b:.3}") };
            let code = if row % 40 == 9 { "?".to_owned() } else { (row % 4).to_string() };
            format!("{row},{price},{weight},{code},{b:.3}")
        },
        families: &["LightGBM"],
        ..PLAIN
    };
    let numbers = r#"
x = features_lightgbm(train)
assert NUMERIC == ["price", "weight", "b"] and CATEGORICAL == ["code"]
assert (x["price"].isna() == (train["id"] % 40 == 7)).all() and (x["weight"].isna() == (train["id"] % 30 == 3)).all()
assert set(x["code"]) == {"0", "1", "2", "3", "?"}
"#;
    check_with(&[
        (folder, numbers),
        (Folder { families: &["Linear model"], ..folder }, ""),
        (Folder { families: &["CatBoost"], ..folder }, ""),
    ]);
}

#[test]
fn words_among_the_numbers_of_another_table_are_missing_values() {
    needs!(Campaign("offline"), Libraries);
    let folder =
        Folder { features: "id,place,a", cells: |row, [a, _]| format!("{row},{},{a:.3}", row % 30), ..PLAIN };
    let place = |number: usize| match number {
        3 => format!("{number},n.d., "),
        _ => format!("{number},{number}.5,{}", number * 2),
    };
    let once: String = (0..30).map(|number| format!("{}\n", place(number))).collect();
    let mut batch = Batch::new();
    for (label, text) in [("once", once.clone()), ("twice", once.repeat(2))] {
        let write = |input: &Path| {
            folder.write(input);
            fs::write(input.join("places.csv"), format!("place,height,people\n{text}")).unwrap();
        };
        let dir = tempfile::tempdir().unwrap();
        write(dir.path());
        let profile = profile::read(dir.path()).unwrap();
        let agents = OfflineAgents::new(&folder.task(dir.path()), &profile, 30_000, None).unwrap();
        let script = with_few_trees(&initial(&agents, "LightGBM"));
        assert!(script.contains("\"places_height"), "{script}");
        let end = if label == "once" { "" } else { "_mean" };
        let gaps = format!(
            "for name in (\"height\", \"people\"):\n    gaps = features_lightgbm(train)[\"places_\" + name + \"{end}\"].isna()\n    assert (gaps == (train[\"place\"] == 3)).all()"
        );
        batch.add_alone(label.to_owned(), &format!("{script}\n{gaps}"), write);
    }
    assert_faultless(batch.run(&interpreter()).iter().map(|done| folder.faults(done)));
}
