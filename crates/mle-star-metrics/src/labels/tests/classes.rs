use super::*;

#[test]
fn rows_of_one_class_are_scored_among_the_classes_of_others() {
    let training = labels("id,y\n1,no\n2,yes\n", Metric::LogLoss);
    let columns = Columns { positive: Some("yes".to_owned()), ..Columns::new(Some("id".to_owned()), "y") };
    let read = |table: &str, metric| {
        Labels::read_among(table.as_bytes(), &columns, metric, Some(&training)).unwrap()
    };
    let scored = |metric| scored(&read("id,y\n7,no\n", metric), "id,y", "id,y\n7,0.25\n", Others::Reject);
    let expected = -(0.75_f64).ln();
    assert!((scored(Metric::LogLoss).unwrap().0 - expected).abs() < 1e-12);
    assert!(scored(Metric::RocAuc).is_err());
}

#[test]
fn answers_with_a_column_per_class_have_weights_and_a_positive_class() {
    let check = |columns: [&str; 2], metric, expected: f64| {
        let [one, two] = columns;
        let names = header(&format!("id,{one},{two}"));
        let table = format!("id,w,{one},{two}\n1,3,1,0\n2,1,0,1\n3,1,0,1\n");
        let of = Columns {
            positive: Some("bad".to_owned()),
            weight: Some("w".to_owned()),
            ..Columns::new(Some("id".to_owned()), "")
        };
        let labels = Labels::read_per_class(table.as_bytes(), &of, &names[1..], metric).unwrap();
        let file = format!("id,{one},{two}\n1,.7,.3\n2,.2,.8\n3,.8,.2\n");
        let (score, _) = scored(&labels, &format!("id,{one},{two}"), &file, Others::Reject).unwrap();
        assert!((score - expected).abs() < 1e-12, "{metric}: {score}");
    };
    for columns in [["bad", "good"], ["p_bad", "p_good"]] {
        // By average_precision_score([1, 0, 0], [.7, .2, .8], sample_weight=[3, 1, 1]) of scikit-learn.
        check(columns, Metric::AveragePrecision, 0.75);
        check(columns, Metric::Accuracy, 0.8);
    }
}

/// By f1_score of scikit-learn for labels, whatever their form.
#[test]
fn sets_agree_whatever_the_order_and_form_of_their_labels() {
    let check = |metric, truth: &str, predicted: &str, expected: f64| {
        let (score, _) = scored(&labels(truth, metric), "id,y", predicted, Others::Reject).unwrap();
        assert!((score - expected).abs() < 1e-12, "{metric}: {score}");
    };
    let numbers = "id,y\n1,007\n2,007 013\n3,013 1.0\n";
    for metric in [Metric::SampleF1, Metric::SetMicroF1, Metric::SetMacroF1] {
        check(metric, numbers, numbers, 1.0);
    }
    check(Metric::SampleF1, numbers, "id,y\n1,7\n2,13 7\n3,1 12\n", 2.5 / 3.0);
    // Both spellings are one set, which is known.
    let films = labels("id,y\n1,drama comedy\n2,war\n3,comedy drama\n", Metric::SampleF1);
    let header = header("id,y");
    let layout = Layout { header: &header, id_column: Some("id") };
    let file = "id,y\n1,comedy drama\n2,war\n3,drama comedy\n";
    let predicted = films.predicted(file.as_bytes(), &layout, Others::Reject).unwrap();
    assert_eq!(predicted[0].labels(), Some(2));
    assert_eq!(predicted[0].errors(), [0.0, 0.0, 0.0]);
}

/// By roc_auc_score of scikit-learn for each column.
#[test]
fn a_mean_of_columns_is_about_both_columns_of_two_classes() {
    let table = labels("id,y\n1,a\n2,b\n3,b\n", Metric::ColumnRocAuc);
    let file = "id,a,b\n1,.1,.1\n2,.9,.8\n3,.5,.9\n";
    let (score, _) = scored(&table, "id,a,b", file, Others::Reject).unwrap();
    assert!((score - 0.5).abs() < 1e-12, "{score}");
}

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
    // The order of the columns in the submission does not matter, nor does that of its rows.
    let other = "c,a,id,b\n.25,.5,3,.25\n.1,.1,1,.8\n.25,.25,2,.5\n";
    let found = scored(&read(table, Metric::LogLoss).unwrap(), "id,c,a,b", other, Others::Ignore).unwrap();
    let first = scored(&read(table, Metric::LogLoss).unwrap(), "id,b,a,c", file, Others::Ignore).unwrap();
    assert!((found.0 - first.0).abs() < 1e-12);

    let refused = |rows: &str, metric, expected: &str| {
        assert_eq!(read(&format!("id,b,a,c\n{rows}"), metric).unwrap_err(), expected, "{rows}");
    };
    let several = "row 2 has several classes, but the metric is about one for each row";
    refused("1,1,0,0\n2,0,1,1\n", Metric::RocAuc, several);
    refused("1,0,0,0\n", Metric::RocAuc, "row 1 has no class: none of its columns is 1");
    refused("1,.7,.2,.1\n", Metric::LogLoss, "row 1 has `.7`, where a column per class has 1 or 0");
    refused("1,1,0,0\n1,0,1,0\n", Metric::LogLoss, "IDs must be unique, but rows 1 and 2 have the same one");
    refused("1,,,\n", Metric::LogLoss, "no row has labels in the columns `b`, `a`, `c`");
    let ordered = "quadratic weighted kappa needs one column with classes in order, not one column per class";
    refused("1,1,0,0\n", Metric::QuadraticKappa, ordered);
    refused("1,1,0,0\n", Metric::Mae, "MAE needs numbers, not one column per class");
}
