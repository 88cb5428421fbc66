//! The data: columns with and without histograms.

use mle_star::testing::{World, frozen};
use mle_star_domain::layout;
use mle_star_domain::task::ColumnRole;
use serde_json::{Value, json};

use super::world::made;
use super::{html, markup, part};

fn role(column: &str, role: &str) -> ColumnRole {
    let [column, role] = [column, role].map(str::to_owned);
    ColumnRole { column, role, kind: "integer".to_owned(), why: "<why>".to_owned() }
}

#[tokio::test]
async fn columns_are_drawn_where_the_facts_have_histograms() {
    let mut inputs = frozen();
    inputs.task.columns = vec![role("y", "target"), role("a", "feature"), role("<b>", "feature")];
    let made = made(&World::new(), &inputs).await;
    let old = part(&made.view, "data");
    assert_eq!((old["columns"].as_array().unwrap().len(), &old["drawn"]), (3, &json!([])), "{old}");
    let facts = json!({"train": {}, "histograms": [
        {"column": "a", "typical": "1", "values": [], "ends": [-0.5, 1.5], "labels": ["0", "1"],
         "parts": [{"name": "train", "rows": [30, 10], "missing": 0.2}, {"name": "test", "rows": [1, 1], "missing": 0.0}]},
        {"column": "<b>", "typical": "<x>", "values": ["<x>", ""], "ends": [], "labels": [],
         "parts": [{"name": "train", "rows": [4, 16], "missing": 0.0}]},
    ]});
    std::fs::write(made.folder.path().join(layout::FACTS), facts.to_string()).unwrap();
    let told = part(&made.view, "data");
    let drawn = told["drawn"].as_array().unwrap();
    let of = |at: usize, path: &str| drawn[at].pointer(path).unwrap_or(&Value::Null).clone();
    // Shares of the rows of each table: three of four and one of two, of which the first is the highest.
    assert_eq!(of(0, "/histogram/parts/0/shares"), json!([0.75, 0.25]));
    assert_eq!(of(0, "/histogram/parts/0/heights"), json!([1.0, 0.25 / 0.75]));
    assert_eq!(of(0, "/histogram/parts/1/outline"), json!("M0 1V0.333H0.500V0.333H1.000V1"));
    // Rarer values together have no bar.
    assert_eq!(of(1, "/histogram/parts/0/heights"), json!([1.0, 1.0]));
    let page = html::render(&made.view, html::Extent::Full).unwrap();
    let words = [
        "feature, integer; 20 % missing in train</p>",
        "values of a, from 0 to 1",
        "<bdi>&lt;x&gt;</bdi>",
        "others",
    ];
    words.iter().for_each(|words| assert!(page.contains(words), "{words}: {page}"));
    markup::check(&page);
}
