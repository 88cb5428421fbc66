//! Columns that scripts compute from others, and summaries of tables with several rows for a key.

use std::fmt::Write as _;

use mle_star_domain::role::AgentType;
use mle_star_needs::needs;
use serde_json::json;

use super::ask::Asked;
use super::folders::{Folder, PLAIN, check, check_with};
use super::joins::SHOP;
use super::roles::FLIGHTS;

const WORD: [&str; 5] = ["A", "B", "C", "D", "E"];

/// A code with slashes, single letters, a letter with a number, a number that names a shop, two dates and two places.
const COMPOSED: Folder = Folder {
    name: "composed",
    features: "id,cabin,serial,seat,shop,opened,closed,from_lat,from_lon,to_lat,to_lon",
    cells: |row, [a, b]| {
        let letter = |at: usize| char::from(b'A' + u8::try_from(row * (at + 3) / 2 % 7).unwrap());
        let (cabin, seat) = match row % 11 {
            3 => (String::new(), String::new()),
            _ => (
                format!("{}/{}/{}", WORD[row % 5], row * 7 % 90, WORD[row % 2]),
                format!("{}{row}", WORD[row % 3]),
            ),
        };
        let serial: String =
            (0..8).map(letter).chain([char::from(b'A' + u8::try_from(row % 26).unwrap())]).collect();
        let (opened, closed) = (row % 28 + 1, row * 5 % 28 + 1);
        format!(
            "{row},{cabin},{serial}{:03},{seat},{},2024-01-{opened:02},2024-02-{closed:02},{:.4},{:.4},{:.4},{:.4}",
            row,
            row % 30 * 131 + 7,
            40.0 + a,
            -73.0 - b,
            41.0 - b,
            179.0 * a,
        )
    },
    ..PLAIN
};

/// What the computed columns have to be, as Python.
const COMPUTED: &str = r#"
from math import acos, cos, radians, sin
for table in (train, test):
    for _, row in table.iterrows():
        if isinstance(row["cabin"], str):
            deck, number, side = row["cabin"].split("/")
            assert (row["cabin_1"], row["cabin_2"], row["cabin_3"]) == (deck, float(number), side)
            assert (row["seat_1"], row["seat_2"]) == (row["seat"][0], float(row["seat"][1:]))
        else:
            assert all(pd.isna(row[name]) for name in ("cabin_1", "cabin_2", "cabin_3", "seat_1", "seat_2"))
        for position, letter in enumerate(row["serial"], 1):
            if f"serial_{position}" in table:
                assert row[f"serial_{position}"] == ord(letter)
        assert float(row["shop_name"]) == row["shop"]
        days = pd.Timestamp(row["closed"]) - pd.Timestamp(row["opened"])
        assert row["opened_to_closed"] == days.days
        one, other = radians(row["from_lat"]), radians(row["to_lat"])
        turn = radians(row["to_lon"] - row["from_lon"])
        apart = 6371 * acos(sin(one) * sin(other) + cos(one) * cos(other) * cos(turn))
        assert abs(row["way_km"] - apart) < 1e-6 * apart, (row["way_km"], apart)
        assert row["way_north"] * (row["to_lat"] - row["from_lat"]) > 0
assert table["shop_name"].dtype != float and "serial_9" in table and "serial_12" in table
assert {"cabin_2", "seat_2", "serial_1", "opened_to_closed", "way_km"} <= set(NUMERIC)
assert {"cabin_1", "cabin_3", "seat_1"} <= set(CATEGORICAL) and "shop_name" in MANY_LEVELS
"#;

#[test]
fn columns_are_computed_from_codes_numbers_dates_and_places() {
    needs!(Libraries);
    check_with(&[(COMPOSED, COMPUTED)]);
    check(&[Folder { families: &["CatBoost", "Extra trees", "Linear model", "Neural network"], ..COMPOSED }]);
}

#[test]
fn numbers_with_a_unit_are_numbers() {
    needs!(Libraries);
    let folder = Folder {
        name: "units",
        features: "id,way,price,term,left",
        cells: |row, [a, _]| {
            let unit = ["km", "miles"][row % 2];
            let term = if row % 31 == 3 { "n/a".to_owned() } else { format!("{} months", row % 7 * 6) };
            let left = if row % 5 == 2 { String::new() } else { format!("{}%", row % 40) };
            format!(
                "{row},{} {unit},\"${},{:03}.5\",{term},{left}",
                row as f64 + 0.5,
                row % 9 + 1,
                (a * 999.0).round()
            )
        },
        families: &["LightGBM"],
        ..PLAIN
    };
    let compared = r#"
for table in (train, test):
    assert (table["way_number"] == table["id"] + 0.5).all()
    assert (table["way_unit"] == np.where(table["id"] % 2 == 0, " km", " miles")).all()
    assert (table["price_number"] == table["price"].str.replace("[$,]", "", regex=True).astype(float)).all()
    known = table["term"].notna()
    assert (table["term_number"][known] == table["id"][known] % 7 * 6).all()
    given = table["left"].notna()
    assert (table["left_number"].notna() == given).all()
    assert (table["left_number"][given] == table["id"][given] % 40).all()
assert {"way_number", "price_number", "term_number", "left_number"} <= set(NUMERIC)
"#;
    check_with(&[(folder, compared)]);
}

#[test]
fn what_is_computed_from_a_dropped_column_is_dropped_too() {
    let agents = COMPOSED.agents();
    let asked = Asked { agents: &agents, place: "phase1/candidate-0/init" };
    let suspicious =
        json!({ "model_name": "LightGBM", "suspicious_columns": ["cabin", "shop", "opened", "to_lon"] });
    let script = asked.code(AgentType::Init, None, suspicious);
    for gone in ["cabin_1", "shop_name", "opened_to_closed", "kilometres"] {
        assert!(!script.contains(gone), "{gone}: {script}");
    }
    assert!(script.contains("\"seat_1\""), "{script}");
}

#[test]
fn features_are_told_in_one_line() {
    let check =
        |folder: &Folder, expected: Option<&str>| assert_eq!(folder.agents().features().as_deref(), expected);
    check(&PLAIN, None);
    check(&RATINGS, Some("features: user as a category, too; factors of user_name and film"));
    check(&CLIENTS, Some("features: further.csv by client"));
    check(
        &SHOP,
        Some(
            "features: cities.csv by city (with lands.csv by land_id); \
             orders.csv by client (with items.csv by id (with products.csv by product))",
        ),
    );
    check(
        &FLIGHTS,
        Some(
            "features: airports.csv by origin; airports.csv by dest; the way from origin_lat to dest_lat; \
             what origin and dest differ in",
        ),
    );
    check(
        &COMPOSED,
        Some(
            "features: the parts of cabin; the parts of serial; the parts of seat; shop as a category, too; \
             the days from opened to closed; the way from from_lat to to_lat",
        ),
    );
}

const CLIENTS: Folder = Folder {
    name: "clients",
    features: "id,client,a,b",
    cells: |row, [a, b]| format!("{row},{},{a:.3},{b:.3}", row % 120),
    families: &["LightGBM"],
    further: &[("further", purchases)],
    ..PLAIN
};

/// Categories whose shares would have equal names.
fn visits() -> String {
    (0..300).fold("client,a,a_b,further_a_c\n".to_owned(), |text, row| {
        text + &format!("{},{},{},{row}\n", row % 97, ["b_c", "d", "c"][row % 3], ["c", "e"][row / 3 % 2])
    })
}

#[test]
fn shares_of_equal_names_are_one_column() {
    needs!(Libraries);
    let folder = Folder { name: "equal names", further: &[("further", visits)], ..CLIENTS };
    check_with(&[(folder, "assert train.columns.is_unique and 'further_a_b_c' in train")]);
}

/// Purchases of clients: few kinds, an amount and a day; clients without any, and rows of clients that nobody knows.
fn purchases() -> String {
    (0..700).fold("client,kind,amount,day\n".to_owned(), |mut text, row| {
        let (client, amount) = (row * row % 97, row * 31 % 83);
        let day = format!("2024-{:02}-{:02}", row * 7 % 12 + 1, row * 11 % 28 + 1);
        writeln!(text, "{client},{},{amount}.5,{day}", ["buy", "send back", ""][row * row % 3]).unwrap();
        text
    })
}

#[test]
fn a_table_with_several_rows_for_a_key_is_summarised() {
    needs!(Libraries);
    let compared = r#"
rows = pd.read_csv("./input/further.csv")
rows["day"] = (pd.to_datetime(rows["day"]) - pd.to_datetime(rows["day"]).max()).dt.days
for table in (train, test):
    for _, row in table.iterrows():
        own = rows[rows["client"] == row["client"]]
        if own.empty:
            assert pd.isna(row["further_rows"])
            continue
        assert row["further_rows"] == len(own)
        for kind in ("buy", "send back"):
            assert abs(row[f"further_kind_{kind}"] - (own["kind"] == kind).mean()) < 1e-9
        assert row["further_day_max"] == own["day"].max() and row["further_day_min"] == own["day"].min()
        assert abs(row["further_amount_mean"] - own["amount"].mean()) < 1e-9
        latest = own[own["day"] == own["day"].max()]
        assert row["further_amount_last"] in set(latest["amount"])
        if len(own) > 1:
            assert abs(row["further_amount_std"] - own["amount"].std()) < 1e-9
assert train["further_rows"].notna().sum() > 20
"#;
    check_with(&[(CLIENTS, compared)]);
}

/// Ratings of thirty films by forty users, each named by a number with gaps, in a text column and in one of numbers.
const RATINGS: Folder = Folder {
    name: "ratings",
    metric: "RMSE",
    features: "id,user,film,a",
    cells: |row, [a, _]| {
        let (user, film) = user_and_film(row);
        format!("{row},{},f{film},{a:.3}", user * 37 + 1)
    },
    labels: |row, [_, b]| {
        let (user, film) = user_and_film(row);
        // Both have a kind, and users like films of their own kind.
        let liked = if user % 2 == film % 2 { 1.0 } else { -1.0 };
        format!("{:.3}", 3.0 + 2.0 * liked + 0.1 * b)
    },
    wanted: ("y", "3"),
    families: &["LightGBM", "CatBoost", "Linear model", "Extra trees"],
    rows: 600,
    ..PLAIN
};

/// Another pair in each of 1,200 rows.
fn user_and_film(row: usize) -> (usize, usize) {
    let pair = row * 7 % 1_200;
    (pair / 30, pair % 30)
}

#[test]
fn factors_know_which_categories_go_together() {
    needs!(Libraries);
    let compared = r#"
fit, rest = FOLDS[0]
x = features_lightgbm(train)
of_fit, find = pair_factors(x.iloc[fit], y[fit])
of_rest = find(x.iloc[rest])
assert of_fit.shape == (len(fit), 2) and of_rest.shape == (len(rest), 2)
error = lambda rows, found: np.sqrt(np.square(y[rows] - found).mean())
# The means know nothing, shrunken factors much. The fitting rows are not predicted from their own target.
assert error(rest, of_rest[:, 0]) > 1.9 and error(rest, of_rest[:, 1]) < 1.2, error(rest, of_rest[:, 1])
assert 0.5 < error(fit, of_fit[:, 1]) < 1.2, error(fit, of_fit[:, 1])
# No prediction depends on the target of its own row.
changed = y[fit].copy()
changed[5] += 100.0
again, _ = pair_factors(x.iloc[fit], changed)
assert np.allclose(again[5], of_fit[5]) and not np.allclose(again, of_fit)
# A new user has the mean of the film.
new = x.iloc[rest].assign(user_name="new")
of_new = find(new)
assert np.isfinite(of_new).all() and np.allclose(of_new[:, 0], of_new[:, 1])
"#;
    check_with(&[(RATINGS, compared)]);
    check(&[RATINGS]);
}
