//! How scripts read cells: dates, categories, words among numbers.

use mle_star_needs::needs;

use super::folders::{Folder, PLAIN, TRAIN_ROWS, check_with};

#[test]
fn hours_of_dates_are_features() {
    needs!(Libraries);
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
    needs!(Libraries);
    let folder = Folder {
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
    let alike = r#"
old, new = (set(features_lightgbm(table)["kind"]) for table in (train, test))
assert {"1", "2", "3"} <= old and {"1", "2", "3"} <= new, (old, new)
"#;
    check_with(&[(folder, alike)]);
}

#[test]
fn words_and_blanks_among_numbers_are_missing_values() {
    needs!(Libraries);
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
