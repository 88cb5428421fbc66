//! Which columns matter in a small table, of which no rows are held out.

use std::process::Command;

use mle_star_needs::needs;
use serde_json::{Value, json};

use crate::runs::{SMALL, interpreter};
use crate::sealed::Sealed;

/// Writes the diabetes table of scikit-learn as a task, with a column of noise.
const WRITE: &str = "
import numpy as np
from sklearn.datasets import load_diabetes
table = load_diabetes(as_frame=True).frame
table.insert(0, 'id', np.arange(len(table)))
table.insert(1, 'noise', np.random.default_rng(0).normal(size=len(table)))
table[:360].to_csv('train.csv', index=False)
table[360:].drop(columns='target').to_csv('test.csv', index=False)
";

#[test]
fn a_small_table_tells_which_columns_matter() {
    needs!(Libraries);
    let sealed = Sealed::empty();
    sealed.write("data/description.md", b"Predict the target. The metric is RMSE.");
    let written = Command::new(interpreter()).args(["-c", WRITE]).current_dir(sealed.path("data")).output();
    let written = written.unwrap();
    assert!(written.status.success(), "{written:?}");
    let python = interpreter();
    let said = sealed
        .run(&format!("run data --run-id r --agents offline --set python={} {SMALL}", python.display()));
    assert_eq!(said.code, 0, "{said:?}");
    let text = sealed.read("runs/r/result.json");
    let result: Value = serde_json::from_str(&text).unwrap();
    let told = ["importance_why", "importance_on", "importance_rows"].map(|name| &result[name]);
    assert_eq!(told, [&Value::Null, &json!("last_fold"), &json!(72)]);
    let columns = result["importance"].as_array().unwrap();
    let place = |name: &str| columns.iter().position(|one| one["column"] == name).unwrap();
    let low = |at: usize| columns[at]["interval"][0].as_f64().unwrap();
    assert_eq!(columns.len(), 11);
    // The body mass index and a blood value matter most.
    assert!(place("bmi") < 3 && place("s5") < 3 && low(0) > 0.0, "{columns:?}");
    assert!(place("noise") > 2 && low(place("noise")) <= 0.0, "{columns:?}");

    // Rows that are predicted badly are shown with the strongest columns.
    let found: Value = serde_json::from_str(&sealed.read("runs/r/holdout/diagnostics.json")).unwrap();
    let cells = found["targets"][0]["worst"][0]["cells"].as_array().unwrap();
    let shown: Vec<&Value> = cells.iter().map(|cell| &cell[0]).collect();
    assert_eq!(shown, columns.iter().take(5).map(|one| &one["column"]).collect::<Vec<_>>());

    let about = "How much worse RMSE gets on 72 validation rows of the last fold when a column is permuted";
    for text in [sealed.run("show r").stdout, sealed.read("runs/r/report.html")] {
        assert!(text.contains(about), "{text}");
    }
    assert_eq!(sealed.run("resume r").code, 0);
    assert_eq!(sealed.read("runs/r/result.json"), text);
}
