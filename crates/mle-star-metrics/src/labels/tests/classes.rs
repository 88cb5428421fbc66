use super::*;

#[test]
fn labels_may_have_one_column_per_class() {
    let classes = header("b,a,c");
    let columns = Columns::new(Some("id".to_owned()), "");
    let read = |table: &str, metric| {
        Labels::read_per_class(table.as_bytes(), &columns, &classes, metric).map_err(|why| why.to_string())
    };
    let table = "id,Usage,b,a,c\n1,x,1,0,0\n2,x,0,1.0,0\n3,y,False,True,False\n4,y,,,\n";
    let long = labels("id,y\n1,b\n2,a\n3,a\n", Metric::Accuracy);
    assert_eq!(read(table, Metric::Accuracy).unwrap().keys(), long.keys());
    let file = "id,b,a,c\n1,.8,.1,.1\n2,.5,.25,.25\n3,.25,.5,.25\n";
    let check = |metric, expected: f64| {
        let (score, rows) = scored(&read(table, metric).unwrap(), "id,b,a,c", file, Others::Ignore).unwrap();
        assert!((score - expected).abs() < 1e-12 && rows == 3, "{metric}: {score} instead of {expected}");
    };
    check(Metric::Accuracy, 2.0 / 3.0);
    check(Metric::LogLoss, -(0.8_f64.ln() + 0.25_f64.ln() + 0.5_f64.ln()) / 3.0);
    // Of the classes that have rows, `b` is ranked without a mistake, and so is `a`.
    check(Metric::RocAuc, 1.0);
    let refused = |rows: &str, metric, expected: &str| {
        assert_eq!(read(&format!("id,b,a,c\n{rows}"), metric).unwrap_err(), expected, "{rows}");
    };
    let several = "row 2 has several classes, but the metric is about one for each row";
    refused("1,1,0,0\n2,0,1,1\n", Metric::RocAuc, several);
    refused("1,0,0,0\n", Metric::RocAuc, "row 1 has no class: none of its columns is 1");
    refused("1,.7,.2,.1\n", Metric::LogLoss, "row 1 has `.7`, where a column per class has 1 or 0");
    let ordered = "quadratic weighted kappa needs one column with classes in order, not one column per class";
    refused("1,1,0,0\n", Metric::QuadraticKappa, ordered);
    refused("1,1,0,0\n", Metric::Mae, "MAE needs numbers, not one column per class");
}
