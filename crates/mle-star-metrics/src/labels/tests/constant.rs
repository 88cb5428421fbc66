use super::*;

/// Scores of constants by hand, or by scikit-learn's definitions.
#[test]
fn a_score_stands_beside_that_of_the_best_constant() {
    let check = |metric: Metric, values: &[&str], columns: &str, row: &str, expected: Option<f64>| {
        let rows = |of: &dyn Fn(usize) -> String| -> String {
            (0..values.len()).map(|id| format!("{id},{}\n", of(id))).collect()
        };
        let labels = labels(&format!("id,y\n{}", rows(&|id| values[id].to_owned())), metric);
        let header = header(columns);
        let layout = Layout { header: &header, id_column: Some("id") };
        let file = format!("{columns}\n{}", rows(&|_| row.to_owned()));
        let found = labels.evaluate(file.as_bytes(), &layout, Others::Reject, 50).unwrap().constant;
        match (found, expected) {
            (Some(found), Some(expected)) => assert!((found - expected).abs() < 1e-9, "{metric}: {found}"),
            (found, expected) => assert_eq!(found, expected, "{metric}"),
        }
    };
    let numbers: Vec<&str> = ["1", "2", "3", "4", "100"].into_iter().cycle().take(40).collect();
    check(Metric::Rmse, &numbers, "id,y", "5", Some(1522.0_f64.sqrt()));
    check(Metric::R2, &numbers, "id,y", "5", Some(0.0));
    let classes: Vec<&str> = ["0", "0", "0", "1"].into_iter().cycle().take(40).collect();
    check(Metric::RocAuc, &classes, "id,y", "0.5", Some(0.5));
    let entropy = -(0.25_f64 * 0.25_f64.ln() + 0.75 * 0.75_f64.ln());
    check(Metric::LogLoss, &classes, "id,y", "0.5", Some(entropy));
    check(Metric::Accuracy, &classes, "id,y", "0", Some(0.75));
    check(Metric::F1, &classes, "id,y", "1", Some(0.4));
    let three: Vec<&str> = ["a", "a", "b", "c"].into_iter().cycle().take(40).collect();
    let entropy = -(0.5 * 0.5_f64.ln() + 0.5 * 0.25_f64.ln());
    check(Metric::LogLoss, &three, "id,a,b,c", "0.4,0.3,0.3", Some(entropy));
}
