//! Joins of further tables.

use mle_star_domain::metric::Direction::Maximize;
use mle_star_domain::role::AgentType;
use mle_star_needs::needs;
use mle_star_offline::OfflineAgents;
use serde_json::json;

use super::ask::{Asked, code_of, merged};
use super::folders::{Folder, PLAIN, check, check_with};
use super::tasks::{Shape, agents, agents_for, shape};

fn asked(agents: &OfflineAgents) -> Asked<'_> {
    Asked { agents, place: "phase1/data/data" }
}

#[test]
fn the_data_check_joins_what_a_script_leaves_out() {
    const USED: &str = "All the provided information is used.";
    let plain = shape("accuracy", Maximize, 2);
    let without = agents(&plain);
    let own = merged(&asked(&without), ["LightGBM", "CatBoost"]);
    let check = |auxiliary: bool, script: &str, joined: bool| {
        let agents = agents(&Shape { auxiliary, ..plain });
        let ask = asked(&agents);
        let reply = ask.ask(AgentType::Data, None, json!({ "initial_solution": script }));
        assert_eq!(reply == USED, !joined, "{reply}");
        if joined {
            assert_eq!(code_of(&reply), merged(&ask, ["LightGBM", "CatBoost"]).trim_end());
        }
    };
    check(true, &own, true);
    check(false, &own, false);
    check(true, "print('a script from elsewhere')", false);
}

/// Clients of a shop, whose orders have items, which are of products.
pub(super) const SHOP: Folder = Folder {
    name: "shop",
    features: "id,client,city,a,b",
    cells: |row, [a, b]| format!("{row},{},{},{a:.3},{b:.3}", row % 120, row % 7),
    families: &["LightGBM"],
    further: &[
        ("cities", || table("id,land_id,people", 7, |at| format!("{at},{},{at}00", at % 3))),
        ("items", || {
            table("order_id,product,pieces", 900, |at| {
                format!("{},{},{}", at * at % 311, at * 7 % 23, at % 4 + 1)
            })
        }),
        ("lands", || table("id,name,since", 3, |at| format!("{at},land {},19{at}0-01-02", at % 2))),
        ("orders", || {
            table("id,client,day", 300, |at| {
                format!("{at},{},2024-{:02}-{:02}", at * 3 % 97, at * 7 % 12 + 1, at * 11 % 28 + 1)
            })
        }),
        ("products", || {
            table("product,kind,price,from", 23, |at| {
                let price = if at == 5 { "free".to_owned() } else { format!("{at}.5") };
                format!("{at},{},{price},2023-01-{:02}", ["food", "toy"][at % 2], at + 1)
            })
        }),
    ],
    ..PLAIN
};

/// A table with these columns and as many rows.
pub(super) fn table(header: &str, rows: usize, row: impl Fn(usize) -> String) -> String {
    (0..rows).fold(format!("{header}\n"), |text, at| text + &row(at) + "\n")
}

#[test]
fn tables_are_joined_by_way_of_others() {
    needs!(Libraries);
    let compared = r#"
cities, lands = pd.read_csv("./input/cities.csv"), pd.read_csv("./input/lands.csv")
orders, items = pd.read_csv("./input/orders.csv"), pd.read_csv("./input/items.csv")
products = pd.read_csv("./input/products.csv")
products["price"] = pd.to_numeric(products["price"], errors="coerce")
near = lambda one, other: abs(one - other) < 1e-9 or pd.isna(one) and pd.isna(other)
for table in (train, test):
    for _, row in table.iterrows():
        city = cities[cities["id"] == row["city"]].iloc[0]
        land = lands[lands["id"] == city["land_id"]].iloc[0]
        assert (row["cities_people"], row["cities_lands_name"]) == (city["people"], land["name"])
        own = orders[orders["client"] == row["client"]]
        if own.empty:
            assert pd.isna(row["orders_rows"])
            continue
        sold = [items[items["order_id"] == order].merge(products, on="product") for order in own["id"]]
        each = lambda summary: pd.Series([summary(part) if len(part) else np.nan for part in sold]).mean()
        assert row["orders_rows"] == len(own)
        assert near(row["orders_items_pieces_sum_mean"], each(lambda part: part["pieces"].sum()))
        assert near(row["orders_items_products_price_max_mean"], each(lambda part: part["price"].max()))
        assert near(row["orders_items_products_kind_toy_mean"], each(lambda part: (part["kind"] == "toy").mean()))
        assert near(row["orders_items_rows_mean"], each(len))
        assert near(row["orders_items_product_nunique_mean"], each(lambda part: part["product"].nunique()))
        assert np.isfinite(row["orders_day_max"])
assert train["orders_items_products_price_max_mean"].notna().sum() > 20
# Names of other tables' rows are counted, and dates of products left out.
assert not any("from" in name or "orders_id" in name or "product_mean" in name for name in NUMERIC), NUMERIC
assert DATES == ["cities_lands_since"] and train.columns.is_unique
"#;
    check_with(&[(SHOP, compared)]);
    check(&[SHOP]);
}

#[test]
fn tables_of_very_many_rows_are_not_widened() {
    let dir = tempfile::tempdir().unwrap();
    SHOP.write(dir.path());
    let told = |rows: usize| {
        let (task, mut profile) = SHOP.read(dir.path());
        profile.auxiliary.iter_mut().find(|table| table.file.ends_with("items.csv")).unwrap().rows = rows;
        let agents = agents_for(&task, &profile, 30_000, None);
        agents.features().unwrap()
    };
    assert!(told(3_000_000).contains("products.csv"));
    assert!(!told(20_000_000).contains("products.csv"));
}

/// Clients whose purchases are known to the end of 2024. The folder has training rows of its first half and test rows of
/// its second one.
const DATED: Folder = Folder {
    name: "dated",
    features: "id,client,asked,a,b",
    cells: |row, [a, b]| {
        let month = if row < 90 { row % 5 + 2 } else { row % 3 + 10 };
        format!("{row},{},2024-{month:02}-{:02},{a:.3},{b:.3}", row % 40, row % 28 + 1)
    },
    families: &["LightGBM"],
    further: &[
        ("kinds", || table("kind,margin", 3, |at| format!("k{at},{at}.5"))),
        ("purchases", || {
            table("client,bought,kind,amount", 900, |at| {
                let day = format!("2024-{:02}-{:02}", at * 5 % 12 + 1, at * 11 % 28 + 1);
                let amount = if at % 13 == 2 { String::new() } else { format!("{}", at * 31 % 83) };
                let client = if at % 50 == 7 { String::new() } else { (at * at % 37).to_string() };
                format!("{client},{day},k{},{amount}", at % 3)
            })
        }),
    ],
    ..PLAIN
};

/// Python: compares a row with its earlier purchases. `numbers` are columns and their names in scripts.
const EARLIER: &str = r#"
near = lambda one, other: abs(one - other) < 1e-6 or pd.isna(one) and pd.isna(other)


def earlier(row, events, numbers):
    own = events[(events["client"] == row["client"]) & (events["bought"] < row["asked"])]
    if own.empty:
        assert pd.isna(row["purchases_rows"]) and pd.isna(row["purchases_amount_mean"])
        return own
    for column, name in numbers.items():
        for function in ("mean", "min", "max", "std"):
            assert near(row[f"{name}_{function}"], own[column].agg(function)), (name, function)
    days = (pd.to_datetime(own["bought"]) - pd.Timestamp(row["asked"])).dt.days
    assert (row["purchases_bought_min"], row["purchases_bought_max"]) == (days.min(), days.max())
    assert row["purchases_rows"] == len(own)
    return own
"#;

#[test]
fn later_rows_are_left_out_if_test_rows_have_fewer_of_them() {
    needs!(Libraries);
    let compared = r#"
events = pd.read_csv("./input/purchases.csv").merge(pd.read_csv("./input/kinds.csv"), on="kind")
low, high = ((pd.to_datetime(events["bought"]) - pd.Timestamp("2024-01-01")).dt.days).quantile([0.01, 0.99])
time = high - low
for table in (train, test):
    for _, row in table.iterrows():
        own = earlier(row, events, {"amount": "purchases_amount", "margin": "purchases_kinds_margin"})
        if own.empty:
            continue
        assert row["purchases_kind_nunique"] == own["kind"].nunique()
        assert near(row["purchases_kind_k1"], (own["kind"] == "k1").mean())
        days = (pd.to_datetime(own["bought"]) - pd.Timestamp(row["asked"])).dt.days
        assert near(row["purchases_bought_recent_3"], (days > -time / 3).mean())
        assert near(row["purchases_bought_recent_30"], (days > -time / 30).mean())
        latest = own[own["bought"] == own["bought"].max()]["amount"].dropna()
        assert latest.empty or row["purchases_amount_last"] in set(latest)
assert train["purchases_rows"].notna().sum() > 20 and len(train) == 90 and len(test) == 12
"#;
    check_with(&[(DATED, &format!("{EARLIER}{compared}"))]);
    check(&[DATED]);
    let told = DATED.agents().features().unwrap();
    assert_eq!(told, "features: purchases.csv by client before asked (with kinds.csv by kind)");
}

/// The same purchases, by way of the accounts of clients.
const ACCOUNTS: Folder = Folder {
    name: "accounts",
    further: &[
        ("accounts", || table("account,client,kind", 60, |at| format!("A{at},{},k{}", at % 37, at % 2))),
        ("purchases", || {
            table("account,bought,shop,amount", 900, |at| {
                let day = format!("2024-{:02}-{:02}", at * 5 % 12 + 1, at * 11 % 28 + 1);
                format!("A{},{day},{},{}", at * at % 61, at % 9, at * 31 % 83)
            })
        }),
        ("shops", || table("shop,size", 9, |at| format!("{at},{at}.5"))),
    ],
    ..DATED
};

#[test]
fn later_rows_are_left_out_by_way_of_another_table() {
    needs!(Libraries);
    let compared = r#"
events = pd.read_csv("./input/purchases.csv").merge(pd.read_csv("./input/accounts.csv"), on="account")
events = events.merge(pd.read_csv("./input/shops.csv"), on="shop")
for table in (train, test):
    for _, row in table.iterrows():
        own = earlier(row, events, {"amount": "purchases_amount", "size": "purchases_shops_size"})
        assert own.empty or row["purchases_account_nunique"] == own["account"].nunique()
assert train["purchases_rows"].notna().sum() > 20 and len(train) == 90 and len(test) == 12
assert train["accounts_rows"].max() == 2 and "accounts_purchases_rows_mean" not in train
"#;
    check_with(&[(ACCOUNTS, &format!("{EARLIER}{compared}"))]);
    check(&[ACCOUNTS]);
    let told = ACCOUNTS.agents().features().unwrap();
    assert_eq!(
        told,
        "features: accounts.csv by client; \
         purchases.csv by client before asked (with shops.csv by shop, accounts.csv by account)"
    );
}

/// Names with a word among many numbers, in a column that another table calls by another name.
const STORES: Folder = Folder {
    name: "stores",
    features: "id,store_id,a,b",
    cells: |row, [a, b]| format!("{row},{},{a:.3},{b:.3}", gift(row + 30)),
    further: &[("stores", || table("id,size", 41, |at| format!("{},{at}.5", gift(at))))],
    ..SHOP_ROWS
};

/// An ID with zeros before it, and another table whose numbers are called `id`.
const PADDED: Folder = Folder {
    name: "padded",
    features: "id,city_id,a,b",
    cells: |row, [a, b]| format!("{row:03},{},{a:.3},{b:.3}", row % 9),
    further: &[("cities", || table("id,people", 9, |at| format!("{at},{at}00")))],
    ..SHOP_ROWS
};

/// Two tables whose columns would have equal names.
const CLASH: Folder = Folder {
    name: "clash",
    further: &[
        ("shop", || table("client,b_c", 97, |at| format!("{at},{}", at * 7 % 13))),
        ("shop_b", || table("client,c", 97, |at| format!("{at},{}", at * 5 % 11))),
    ],
    ..SHOP_ROWS
};

const SHOP_ROWS: Folder = Folder {
    features: "id,client,a,b",
    cells: |row, [a, b]| format!("{row},{},{a:.3},{b:.3}", row % 120),
    families: &["LightGBM"],
    ..PLAIN
};

/// One of forty numbers, or a word.
fn gift(at: usize) -> String {
    if at % 41 == 40 { "gift".to_owned() } else { (at % 41 + 1).to_string() }
}

#[test]
fn odd_keys_join() {
    needs!(Libraries);
    check_with(&[
        (STORES, "assert train['stores_size'].notna().all() and 'store_id' not in NUMERIC"),
        (CLASH, "assert train.columns.is_unique and {'shop_b_c', 'shop_b_2_c'} <= set(train), list(train)"),
        (PADDED, "assert train['cities_people'].notna().all() and train['id'].str.len().eq(3).all()"),
    ]);
}

/// Purchases that end in June, and test rows of July to September.
const ENDED: Folder = Folder {
    name: "ended",
    cells: |row, [a, b]| {
        let month = if row < 90 { row % 5 + 2 } else { row % 3 + 7 };
        format!("{row},{},2024-{month:02}-{:02},{a:.3},{b:.3}", row % 40, row % 28 + 1)
    },
    further: &[("purchases", || {
        table("client,bought,amount", 900, |at| {
            format!("{},2024-{:02}-{:02},{}", at * at % 37, at * 5 % 6 + 1, at * 11 % 28 + 1, at * 31 % 83)
        })
    })],
    ..DATED
};

#[test]
fn training_rows_know_as_little_of_the_last_days_as_test_rows() {
    needs!(Libraries);
    let compared = r#"
events = pd.read_csv("./input/purchases.csv", parse_dates=["bought"])
end = events["bought"].max()
middle = sorted(pd.to_datetime(test["asked"]))[len(test) // 2]
assert (middle - end).days > 30
low, high = (events["bought"] - end).dt.days.quantile([0.01, 0.99])
for table in (train, test):
    for _, row in table.iterrows():
        asked = pd.Timestamp(row["asked"])
        known_at = asked if asked > end else asked - (middle - end)
        own = events[(events["client"] == row["client"]) & (events["bought"] < known_at)]
        if own.empty:
            assert pd.isna(row["purchases_rows"])
            continue
        assert row["purchases_rows"] == len(own)
        days = (own["bought"] - asked).dt.days
        assert (row["purchases_bought_min"], row["purchases_bought_max"]) == (days.min(), days.max())
        for part in (3, 10, 30):
            share = (days > -(high - low) / part).mean()
            assert abs(row[f"purchases_bought_recent_{part}"] - share) < 1e-9, (part, share)
assert train["purchases_rows"].notna().sum() > 20 and test["purchases_rows"].notna().sum() > 2
"#;
    check_with(&[(ENDED, compared)]);
}
