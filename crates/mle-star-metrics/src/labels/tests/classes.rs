use super::*;

/// Labels with the same class as others, as in `read_among`.
#[test]
fn rows_of_one_class_are_scored_among_the_classes_of_others() {
    let training = labels("id,y\n1,no\n2,yes\n", Metric::LogLoss);
    let columns = Columns { positive: Some("yes".to_owned()), ..Columns::new(Some("id".to_owned()), "y") };
    let read =
        |table: &str, metric| Labels::read_among(table.as_bytes(), &columns, metric, &training).unwrap();
    let scored = |metric| scored(&read("id,y\n7,no\n", metric), "id,y", "id,y\n7,0.25\n", Others::Reject);
    let expected = -(0.75_f64).ln();
    assert!((scored(Metric::LogLoss).unwrap().0 - expected).abs() < 1e-12);
    assert!(scored(Metric::RocAuc).is_err());
    let same = Labels::read_among(
        "id,y\n7,no\n".as_bytes(),
        &columns,
        Metric::LogLoss,
        &read("id,y\n7,no\n", Metric::LogLoss),
    );
    assert!(same.is_ok());
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
