mod classes;
mod constant;

use std::sync::Arc;

use mle_star_domain::measure::interval::Grouped;

use super::known::ONE_CLASS;
use super::*;
use crate::intervals::{Folds, IntervalFor};
use crate::names::Metric;
use crate::score::Unscorable;

fn labels(table: &str, metric: Metric) -> Labels {
    let columns = Columns::new(Some("id".to_owned()), "y");
    Labels::read(table.as_bytes(), &columns, metric).unwrap()
}

fn header(names: &str) -> Vec<String> {
    names.split(',').map(str::to_owned).collect()
}

fn scored(labels: &Labels, columns: &str, file: &str, others: Others) -> Result<(f64, u64), String> {
    let header = header(columns);
    let layout = Layout { header: &header, id_column: header.contains(&"id".to_owned()).then_some("id") };
    let measured = labels.evaluate(file.as_bytes(), &layout, others, 50);
    if let Ok(measured) = &measured {
        let alone = labels.score(file.as_bytes(), &layout, others).unwrap();
        assert!((alone - measured.score).abs() < 1e-12, "{file}");
    }
    measured.map(|measured| (measured.score, measured.rows)).map_err(|why: Unscorable| why.to_string())
}

#[test]
fn labels_are_read_or_it_is_said_why_not() {
    let check = |table: &str, id: Option<&str>, metric, expected: Result<usize, &str>| {
        let columns = Columns { id: id.map(str::to_owned), target: "y".to_owned(), ..Columns::default() };
        let found = Labels::read(table.as_bytes(), &columns, metric).map(|labels| labels.rows());
        let found = found.map_err(|why| why.to_string());
        assert_eq!(found.as_ref().map_err(String::as_str), expected.as_ref().map_err(|why| *why), "{table}");
    };
    check("id,y\n1,a\n2,b\n3,\n4,NaN\n", Some("id"), Metric::Accuracy, Ok(2));
    check("y\n1.5\n2\n\"\"\n3\n", None, Metric::Rmse, Ok(3));
    check("y\n1.5\ninf\n-Infinity\n3\n", None, Metric::Rmse, Ok(2));
    let same = "IDs must be unique, but rows 1 and 3 have the same one";
    check("id,y\n1,a\n2,b\n1.0,a\n", Some("id"), Metric::Accuracy, Err(same));
    check("id,y\n1,a\n,b\n", Some("id"), Metric::Accuracy, Err("row 2 has no ID"));
    check("id,y\n1,1\n2,1.0\n", Some("id"), Metric::Accuracy, Err(ONE_CLASS));
    let text = "row 1 has the label `a`, which is not a finite number";
    check("id,y\n1,a\n", Some("id"), Metric::Mae, Err(text));
    check("id,y\n1,\n", Some("id"), Metric::Mae, Err("no row has a label in column `y`"));
    let lacks = "the file lacks these columns: `y`; it has these: `id`, `z`";
    check("id,z\n1,2\n", Some("id"), Metric::Mae, Err(lacks));
    check("id,y\n1\n", Some("id"), Metric::Mae, Err("row 1 has 1 fields, but the header has 2"));
    check("", Some("id"), Metric::Mae, Err("the file is empty"));
}

#[test]
fn predictions_are_scored_by_id() {
    let check = |metric, table: &str, columns: &str, file: &str, expected: f64| {
        let found = scored(&labels(table, metric), columns, file, Others::Reject);
        let (score, _) = found.unwrap_or_else(|why| panic!("{why}: {file}"));
        assert!((score - expected).abs() < 1e-12, "{metric}: {score} instead of {expected}, {file}");
    };
    let numbers = "id,y\n1,1\n2,2\n3,3\n";
    check(Metric::Mae, numbers, "id,y", "y,extra,id\n2,x,3\n2,x,2.0\n1,x,1\n", 1.0 / 3.0);
    let binary = "id,y\na,0\nb,1\nc,1\nd,0\n";
    check(Metric::Accuracy, binary, "id,y", "id,y\na,0.0\nb,1\nc,1.0\nd,1\n", 0.75);
    check(Metric::RocAuc, binary, "id,y", "id,y\na,.1\nb,.9\nc,.2\nd,.2\n", 0.875);
    check(Metric::RocAuc, binary, "id,0", "id,0\na,.9\nb,.1\nc,.8\nd,.8\n", 0.875);
    check(Metric::Accuracy, binary, "id,0,1", "id,0,1\na,.9,.1\nb,.1,.9\nc,.8,.2\nd,.7,.3\n", 0.75);
    check(Metric::Brier, binary, "id,y", "id,y\na,0\nb,1\nc,.5\nd,0\n", 0.0625);
    let three = "id,y\na,x\nb,y\nc,z\nd,z\n";
    let file = "id,p_z,p_y,p_x\na,0,0,1\nb,0,1,0\nc,1,0,0\nd,.5,.25,.25\n";
    check(Metric::LogLoss, three, "id,p_z,p_y,p_x", file, 2.0_f64.ln() / 4.0);
    check(Metric::Accuracy, three, "id,y,other", "id,y,other\na,x,9\nb,y,9\nc,z,9\nd,w,9\n", 0.75);
    check(Metric::Accuracy, "id,y\n1,True\n2,False\n", "id,y", "id,y\n1,true\n2,FALSE\n", 1.0);
    // A class that no label has takes its place between the others.
    check(Metric::QuadraticKappa, "id,y\n1,1\n2,3\n", "id,y", "id,y\n1,1\n2,2\n", 2.0 / 3.0);
}

#[test]
fn the_score_of_several_targets_is_their_mean() {
    let columns = Columns {
        id: Some("id".to_owned()),
        target: "y".to_owned(),
        further: vec!["z".to_owned()],
        ..Columns::default()
    };
    let check =
        |metric, table: &str, columns_of_file: &str, file: &str, expected: Result<(f64, u64), &str>| {
            let labels = Labels::read(table.as_bytes(), &columns, metric).unwrap();
            let found = scored(&labels, columns_of_file, file, Others::Reject);
            assert_eq!(found, expected.map_err(str::to_owned), "{file}");
            let [one, two] = labels.halves();
            assert_eq!(one.rows() + two.rows(), labels.rows());
            assert_eq!((one.rows(), two.rows()), (one.further[0].rows(), two.further[0].rows()));
        };
    let numbers = "id,y,z\n1,1,10\n2,2,20\n3,,30\n4,4,\n";
    check(Metric::Mae, numbers, "id,z,y", "id,z,y\n1,12,1\n2,20,1\n", Ok((0.75, 2)));
    let classes = "id,y,z\n1,0,no\n2,1,yes\n3,1,no\n4,0,yes\n";
    check(Metric::RocAuc, classes, "id,y,z", "id,y,z\n1,.1,.1\n2,.9,.3\n3,.8,.2\n4,.2,.2\n", Ok((0.9375, 4)));
    let lacks = "the sample submission has no column for the target `z`";
    check(Metric::Mae, numbers, "id,y", "id,y\n1,1\n", Err(lacks));
    let wrong = "the row with ID `1` has `x` in column `z`, which is not a finite number (target `z`)";
    check(Metric::Mae, numbers, "id,y,z", "id,y,z\n1,1,x\n", Err(wrong));
}

#[test]
fn unusable_predictions_are_explained() {
    let check = |metric, columns: &str, file: &str, others, expected: &str| {
        let table = "id,y\na,0\nb,1\nc,1\n";
        assert_eq!(scored(&labels(table, metric), columns, file, others), Err(expected.to_owned()), "{file}");
    };
    use Metric::{Accuracy, LogLoss, Mae, RocAuc};
    use Others::{Ignore, Reject};
    let lacks = "the file lacks these columns: `y`; it has these: `id`, `z`";
    check(Accuracy, "id,y", "id,z\na,1\n", Reject, lacks);
    check(Accuracy, "id,y", "id,y\na,1\na,1\n", Reject, "the ID `a` occurs more than once");
    let unknown = "2 rows have an ID that is not expected, for example `x`, `y`";
    check(Accuracy, "id,y", "id,y\na,1\nx,1\ny,1\n", Reject, unknown);
    check(Accuracy, "id,y", "id,y\na,1\nx,1\n", Ignore, "2 of 3 rows that need a prediction have none");
    let none = "no row has the ID of a labelled row; the IDs in the file are `x`";
    check(Accuracy, "id,y", "id,y\nx,1\n", Ignore, none);
    let fraction = "the row with ID `a` has `0.7` in column `y`, which is no label; accuracy needs labels, not probabilities";
    check(Accuracy, "id,y", "id,y\na,0.7\n", Reject, fraction);
    let infinite = "the row with ID `b` has `inf` in column `y`, which is not a finite number";
    check(Mae, "id,y", "id,y\na,1\nb,inf\n", Reject, infinite);
    check(
        LogLoss,
        "id,y",
        "id,y\na,2\nb,0\n",
        Reject,
        "log loss needs probabilities from 0 to 1, and one is 2",
    );
    check(RocAuc, "id,y", "id,y\nb,.2\nc,.3\n", Reject, "ROC-AUC is undefined: all rows are of one class");
    let columns = "the columns `p`, `q`, `r` cannot be matched to the classes `0`, `1`";
    check(RocAuc, "id,p,q,r", "id,p,q,r\na,1,2,3\n", Reject, columns);
    check(
        Mae,
        "id,p,q",
        "id,p,q\na,1,2\n",
        Reject,
        "MAE needs one column of predictions, but there are `p`, `q`",
    );
    let long = format!("id,y\na,{}\n", "1".repeat(17 << 20));
    check(Mae, "id,y", &long, Reject, "a row is longer than 16 MiB");
}

#[test]
fn rows_of_a_cluster_have_the_same_weights_and_stay_in_one_half() {
    let rows: String = (0..400).map(|n| format!("{n},{},g{}\n", n % 7, n / 20)).collect();
    let table = format!("id,y,group\n{rows}");
    // The error of a row is that of its group.
    let predicted: String = (0..400).map(|n| format!("{n},{}\n", n % 7 + n / 20 % 2)).collect();
    let file = format!("id,y\n{predicted}");
    let header = ["id".to_owned(), "y".to_owned()];
    let layout = Layout { header: &header, id_column: Some("id") };
    let measured = |cluster: Option<&str>| {
        let (id, cluster) = (Some("id".to_owned()), cluster.map(str::to_owned));
        let columns = Columns { id, target: "y".to_owned(), cluster, ..Columns::default() };
        let labels = Labels::read(table.as_bytes(), &columns, Metric::Mae).unwrap();
        let [half, _] = labels.halves();
        (labels.evaluate(file.as_bytes(), &layout, Others::Reject, 200).unwrap(), half.rows())
    };
    let ((alone, _), (together, half)) = (measured(None), measured(Some("group")));
    assert_eq!((alone.score, alone.rows_digest), (together.score, together.rows_digest));
    // 20 groups instead of 400 rows: the error is larger by the root of 20.
    let ratio = together.standard_error.unwrap() / alone.standard_error.unwrap();
    assert!((3.0..7.0).contains(&ratio), "{ratio}");
    assert_eq!(half, 200);
    assert_eq!((alone.clusters, together.clusters), (None, None));
}

#[test]
fn row_weights_are_part_of_every_score() {
    let read = |table: &str, metric| {
        let columns =
            Columns { weight: Some("w".to_owned()), ..Columns::new(Some("id".to_owned()), "y".to_owned()) };
        Labels::read(table.as_bytes(), &columns, metric).map_err(|why| why.to_string())
    };
    let check = |metric, table: &str, file: &str, expected: f64| {
        let labels = read(table, metric).unwrap();
        let (score, _) = scored(&labels, "id,y", file, Others::Reject).unwrap();
        assert!((score - expected).abs() < 1e-12, "{metric}: {score} instead of {expected}");
    };
    check(Metric::Mae, "id,y,w\n1,1,1\n2,2,3\n", "id,y\n1,2\n2,4\n", 1.75);
    // Only some of the rows are predicted.
    check(Metric::Mae, "id,y,w\n3,9,100\n1,1,1\n2,2,3\n", "id,y\n1,2\n2,4\n", 1.75);
    check(Metric::Accuracy, "id,y,w\n1,a,0.5\n2,b,1.5\n3,b,0\n", "id,y\n1,a\n2,a\n3,b\n", 0.25);
    // The unit of weights does not matter.
    for unit in ["0.001", "1", "1e300"] {
        let table = format!("id,y,w\n1,1,{unit}\n2,2,{unit}\n3,3,{unit}\n");
        check(Metric::R2, &table, "id,y\n1,1\n2,2\n3,2\n", 0.5);
    }
    let refused = |table: &str, expected: &str| assert_eq!(read(table, Metric::Mae).unwrap_err(), expected);
    refused("id,y,w\n1,1,1\n2,2,\n", "row 2 has no weight in column `w`");
    refused(
        "id,y,w\n1,1,-1\n",
        "row 1 has the weight `-1` in column `w`, which is no finite number of at least 0",
    );
    refused("id,y,w\n1,1,0\n", "no row has a weight above 0 in column `w`");
    // A row without a label needs none.
    assert_eq!(read("id,y,w\n1,1,1\n2,,\n", Metric::Mae).unwrap().rows(), 1);
}

#[test]
fn words_for_missing_values_can_be_labels() {
    let check = |values: &[&str], table: &str, file: &str, expected: Result<(f64, u64), &str>| {
        let words = values.iter().map(|word| (*word).to_owned()).collect();
        let columns = Columns { words, ..Columns::new(Some("id".to_owned()), "y") };
        let labels = Labels::read(table.as_bytes(), &columns, Metric::Accuracy).unwrap();
        let found = scored(&labels, "id,y", file, Others::Reject);
        assert_eq!(found, expected.map_err(str::to_owned), "{values:?}");
    };
    let table = "id,y\n1,None\n2,Insomnia\n3,Sleep Apnea\n4,NA\n";
    check(&[], table, "id,y\n2,Insomnia\n3,Insomnia\n", Ok((0.5, 2)));
    check(&["None"], table, "id,y\n1,None\n2,Insomnia\n3,None\n", Ok((2.0 / 3.0, 3)));
    check(&["None", "NA"], table, "id,y\n1,NA\n2,Insomnia\n3,None\n4,NA\n", Ok((0.5, 4)));
    let gap = "the row with ID `1` has `null` in column `y`, which is no label";
    check(&["None"], table, "id,y\n1,null\n2,Insomnia\n3,None\n", Err(gap));
}

#[test]
fn the_positive_class_can_be_named() {
    let check = |metric, table: &str, positive: Option<&str>, column: &str, expected: Result<f64, &str>| {
        let positive = positive.map(str::to_owned);
        let columns = Columns { positive, ..Columns::new(Some("id".to_owned()), "y") };
        let file = format!("id,{column}\na,.1\nb,.9\nc,.8\nd,.2\n");
        let found = Labels::read(table.as_bytes(), &columns, metric).map_err(|why| why.to_string());
        let found = found.and_then(|labels| scored(&labels, &format!("id,{column}"), &file, Others::Reject));
        assert_eq!(found.map(|(score, _)| score), expected.map_err(str::to_owned), "{column}: {file}");
    };
    let table = "id,y\na,good\nb,bad\nc,bad\nd,good\n";
    check(Metric::RocAuc, table, None, "y", Ok(0.0));
    check(Metric::RocAuc, table, Some("bad"), "y", Ok(1.0));
    check(Metric::Gini, table, Some("bad"), "y", Ok(1.0));
    // A column may be named like a class, but the given class counts.
    check(Metric::RocAuc, table, None, "bad", Ok(1.0));
    check(Metric::RocAuc, table, Some("bad"), "good", Ok(1.0));
    let digits = "id,y\na,1\nb,0\nc,0.0\nd,1\n";
    check(Metric::RocAuc, digits, Some("0.0"), "y", Ok(1.0));
    check(Metric::Gini, digits, Some("0"), "y", Ok(1.0));
    let other = "no row has the positive class `ugly`; the classes are `bad`, `good`";
    check(Metric::RocAuc, table, Some("ugly"), "y", Err(other));
    let three = "normalized Gini needs numbers or two classes, but there are 3 labels such as `bad`";
    check(Metric::Gini, "id,y\na,good\nb,bad\nc,ugly\n", None, "y", Err(three));
}

#[test]
fn cells_with_several_labels_are_scored() {
    let check = |metric, table: &str, columns: &str, file: &str, expected: Result<f64, &str>| {
        let found = scored(&labels(table, metric), columns, file, Others::Reject);
        let found = found.map(|(score, _)| score);
        match (&found, expected) {
            (Ok(found), Ok(expected)) => assert!((found - expected).abs() < 1e-12, "{found}: {file}"),
            _ => assert_eq!(found, expected.map_err(str::to_owned), "{file}"),
        }
    };
    let trees = "id,y\n1,oak\n2,ash-2\n3,elm\n4,red oak\n";
    let guesses = "id,y\n1,oak elm\n2,elm ash-2 oak\n3,oak ash-2 beech elm\n4,ash-2 red oak\n";
    check(Metric::MapAt(3), trees, "id,y", guesses, Ok((1.0 + 0.5 + 0.0 + 0.5) / 4.0));
    check(Metric::TopAccuracy(2), trees, "id,y", guesses, Ok(0.75));
    let none = "the row with ID `2` has `` in column `y`, which is no guess";
    check(Metric::MapAt(3), trees, "id,y", "id,y\n1,oak\n2,\n3,elm\n4,elm\n", Err(none));
    let other =
        "the predicted labels are `x`, `y`, `z`, but the classes are `ash-2`, `elm`, `oak`, `red oak`";
    check(Metric::MapAt(3), trees, "id,y", "id,y\n1,x y\n2,y\n3,z\n4,x\n", Err(other));

    let tags = "id,y\n1,hot wet\n2,dry\n3,wet old\n";
    let sets = "id,y\n1,wet hot\n2,dry old\n3,\n";
    check(Metric::SampleF1, tags, "id,y", sets, Ok((1.0 + 2.0 / 3.0) / 3.0));
    check(Metric::SetMicroF1, tags, "id,y", sets, Ok(6.0 / 9.0));
    check(Metric::SetMacroF1, tags, "id,y", sets, Ok((1.0 + 1.0 + 2.0 / 3.0) / 4.0));
    let commas = "id,y\n1,\"sci fi,war\"\n2,war\n";
    check(Metric::SampleF1, commas, "id,y", "id,y\n1,\"war, sci fi\"\n2,sci fi\n", Ok(0.5));

    let numbers = "id,y\n1,10\n2,20\n";
    let level = Metric::parse("interval score 0.9").unwrap();
    check(level, numbers, "id,upper,lower", "id,upper,lower\n1,12,8\n2,19,18\n", Ok((4.0 + 21.0) / 2.0));
    let one = "interval score 0.9 needs two columns, with the lower and the upper bound, but there are `y`";
    check(level, numbers, "id,y", "id,y\n1,1\n2,2\n", Err(one));
}

/// Rows whose error is their fold or group plus one, or plus two.
#[test]
fn periods_and_groups_are_scored_apart() {
    let rows = || (0..40).map(|row| (row, row / 10 + 1 + row % 2));
    let table =
        format!("id,y,g\n{}", rows().map(|(row, _)| format!("{row},0,{}\n", row / 10)).collect::<String>());
    let predicted = format!("id,y\n{}", rows().map(|(row, at)| format!("{row},{at}\n")).collect::<String>());
    let folds =
        format!("id,fold\n{}", rows().map(|(row, _)| format!("{row},{}\n", row / 10)).collect::<String>());
    let folds = Arc::new(Folds::read(folds.as_bytes()).unwrap());
    let header = ["id".to_owned(), "y".to_owned()];
    let layout = Layout { header: &header, id_column: Some("id") };
    let columns = Columns { cluster: Some("g".to_owned()), ..Columns::new(Some("id".to_owned()), "y") };
    let labels = Labels::read(table.as_bytes(), &columns, Metric::Mae).unwrap();
    let measure = |labels: &Labels, predicted: &str| {
        labels.evaluate(predicted.as_bytes(), &layout, Others::Reject, 200).unwrap()
    };
    let by_time = labels.clone().in_periods(folds);
    let all = measure(&by_time, &predicted);
    let scores: Vec<(u32, u64, f64)> =
        all.periods.iter().map(|one| (one.fold, one.rows, one.score)).collect();
    assert_eq!(scores, [(0, 10, 1.5), (1, 10, 2.5), (2, 10, 3.5), (3, 10, 4.5)]);
    let [low, high] = all.interval.unwrap();
    assert!(low < 1.0 && high > 8.0 && all.no_interval.is_none(), "{low} {high}");
    let two: String = predicted.lines().take(21).map(|line| format!("{line}\n")).collect();
    let two = measure(&by_time, &two);
    assert_eq!(two.interval, None);
    assert!(two.no_interval.unwrap().contains("only 2 periods"));

    let groups =
        |sizes: &[u64]| IntervalFor::Groups { groups: Some(Grouped::of(sizes.iter().copied())), rows: None };
    let width = |interval_for| {
        let measured = measure(&labels.clone().with_intervals_for(interval_for), &predicted);
        let [low, high] = measured.interval.unwrap();
        (high - low, measured.spread.unwrap())
    };
    let ((few, spread), (many, _)) = (width(groups(&[100])), width(groups(&[10; 40])));
    // The groups' scores have a variance of 5 / 3, and that within them is 0.25.
    assert!((spread.between - 5.0 / 3.0).abs() < 0.2 && (0.0..0.7).contains(&spread.within), "{spread:?}");
    assert!(few > 1.5 * many && many > 2.0, "{few} {many}");
}

/// Two periods in each of which the order is right, while the levels differ.
#[test]
fn the_score_of_periods_is_their_mean() {
    let folds = Folds::read("id,fold\na,0\nb,0\nc,0\nd,0\ne,1\nf,1\ng,1\nh,2\n".as_bytes()).unwrap();
    let table = "id,y\na,0\nb,1\nc,0\nd,1\ne,0\nf,1\ng,1\nh,1\n";
    let pooled = labels(table, Metric::RocAuc).in_periods(Arc::new(folds));
    let mean = pooled.clone().averaging_periods();
    let check = |labels: &Labels, rows: &str, expected: f64| {
        let (score, _) = scored(labels, "id,y", &format!("id,y\n{rows}"), Others::Reject).unwrap();
        assert!((score - expected).abs() < 1e-12, "{rows}: {score} instead of {expected}");
    };
    let first = "a,0.1\nb,0.2\nc,0.1\nd,0.2\n";
    let both = format!("{first}e,0.8\nf,0.9\ng,0.9\n");
    // Two of the three with a score of 0.8 or less are worse than the four positive rows of 0.2.
    check(&pooled, &both, 10.0 / 12.0);
    check(&mean, &both, 1.0);
    // The period of one class has no score.
    check(&mean, &format!("{both}h,0.3\n"), 1.0);
    // Rows of half a period: then the score is of all rows together.
    check(&mean, &format!("{first}e,0.8\n"), 4.0 / 6.0);
}

#[test]
fn rows_of_both_files_are_compared() {
    let labels = labels("id,y\na,1\nb,2\nc,3\nd,4\ne,5\n", Metric::Mae);
    let header = ["id".to_owned(), "y".to_owned()];
    let layout = Layout { header: &header, id_column: Some("id") };
    let check = |files: [&str; 2], fewest, expected: (usize, Option<f64>)| {
        let files = files.map(|rows| format!("id,y\n{rows}"));
        let compare = |one: &String, other: &String| {
            labels.difference([one.as_bytes(), other.as_bytes()], &layout, fewest, 100).unwrap()
        };
        let (rows, difference) = compare(&files[0], &files[1]);
        assert_eq!((rows, difference.map(|difference| difference.by)), expected, "{files:?}");
        let (_, back) = compare(&files[1], &files[0]);
        assert_eq!(back.map(|difference| -difference.by), expected.1, "{files:?}");
    };
    // The rows that only one has do not count, however wrong they are.
    check(["a,1\nb,2\nc,3\nd,900\n", "c,4\nb,3\na,2\ne,5\n"], 3, (3, Some(-1.0)));
    check(["a,1\nb,2\nc,5\n", "a,1\nb,2\nc,5\n"], 3, (3, Some(0.0)));
    check(["a,1\nb,2\nc,3\n", "b,3\nc,4\nd,4\n"], 3, (2, None));
    check(["a,1\nb,2\n", "c,3\nd,4\n"], 0, (0, None));
}
