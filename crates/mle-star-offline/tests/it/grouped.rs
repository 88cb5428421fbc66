//! Tasks whose test rows belong to other groups than the training rows.

use std::path::Path;

use mle_star_domain::metric::Direction::{Maximize, Minimize};
use mle_star_domain::role::{AgentType, Variant};
use mle_star_domain::score::parse_score;
use mle_star_needs::needs;
use mle_star_offline::OfflineAgents;
use mle_star_tables::profile::{self, ColumnKind, GroupColumn, Profile};
use serde_json::json;

use super::ask::{Asked, ensembles, merged, refinements, with_data};
use super::python::{Batch, Done, FAMILIES, assert_faultless, fault, faults, initial, interpreter};
use super::tasks::{ROWS, Random, Shape, agents, column, shape, task, write_tables};

const BY_GROUP: &str = "GroupKFold(n_splits=5).split(train, groups=train[GROUP])";

fn grouped(shape: Shape) -> Shape {
    Shape { grouped: true, ..shape }
}

/// The first script for a task with these columns, given as name, kind, groups and order.
fn script_with(shape: &Shape, columns: &[(&str, ColumnKind, usize, bool)]) -> String {
    let mut profile = super::tasks::profile(shape);
    for (name, kind, groups, ordered) in columns {
        for table in [Some(&mut profile.train), profile.test.as_mut()].into_iter().flatten() {
            table.columns.push(column(name, *kind, *groups));
        }
        profile.groups.push(GroupColumn { column: (*name).to_owned(), groups: *groups, ordered: *ordered });
    }
    let agents = OfflineAgents::new(&task(shape), &profile, shape.subsample, None).unwrap();
    initial(&agents, "LightGBM")
}

#[test]
fn a_fold_may_lack_a_class_where_folds_are_the_users_or_rows_are_drawn() {
    let spreads = |agents: &OfflineAgents| initial(agents, "LightGBM").contains("def spread(");
    let of_sample = |rows: u32| agents(&Shape { subsample: rows, ..shape("accuracy", Maximize, 2) });
    let plain = of_sample(30_000).with_folds_file(0.0);
    assert!(!spreads(&plain) && spreads(&plain.with_folds(4)));
    assert!(!spreads(&of_sample(60)) && spreads(&of_sample(30)));
}

#[test]
fn the_group_is_chosen_by_values_and_names() {
    use ColumnKind::{Category, Integer};
    let shape = Shape { rich: false, ..shape("RMSE", Minimize, 0) };
    let check = |columns: &[(&str, ColumnKind, usize, bool)], chosen: Option<&str>, features: &[&str]| {
        let script = script_with(&shape, columns);
        let line = chosen.map(|name| format!("\nGROUP = \"{name}\"\n"));
        assert_eq!(script.contains(BY_GROUP), chosen.is_some(), "{columns:?}\n{script}");
        assert_eq!(
            line.is_some_and(|line| script.contains(&line)),
            chosen.is_some(),
            "{columns:?}\n{script}"
        );
        for (name, ..) in columns.iter().filter(|(name, ..)| Some(*name) != chosen) {
            assert_eq!(script.contains(&format!("\"{name}\"")), features.contains(name), "{name}\n{script}");
        }
    };
    check(&[], None, &[]);
    check(&[("patient", Integer, 20, true)], Some("patient"), &[]);
    check(&[("code", Category, 20, false)], Some("code"), &[]);
    check(&[("height", Integer, 20, false)], Some("height"), &[]);
    // Later numbers are later times, unless the name says otherwise.
    check(&[("height", Integer, 20, true)], None, &["height"]);
    check(&[("week", Integer, 20, true)], None, &["week"]);
    check(&[("time_id", Integer, 20, true)], None, &["time_id"]);
    check(&[("time_id", Integer, 20, false)], Some("time_id"), &[]);
    // The column with the fewest groups wins; columns that only name groups are not features.
    check(&[("visit_id", Integer, 60, false), ("clinic", Category, 6, false)], Some("clinic"), &[]);
    check(&[("height", Integer, 5, false), ("clinic", Category, 6, false)], Some("clinic"), &["height"]);
    // Never the id or the target.
    check(&[("id", Integer, 20, false)], None, &["id"]);
    check(&[("target", Integer, 20, false)], None, &["target"]);
}

#[test]
fn the_example_has_no_groups() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/flight-delays/data");
    assert_eq!(profile::read(&data).unwrap().groups, []);
}

#[test]
fn folds_follow_classes_and_the_number_of_groups() {
    let check = |shape: &Shape, largest: usize, groups: usize, expected: &str| {
        let mut profile = super::tasks::profile(shape);
        let target = profile.train.columns.last_mut().unwrap();
        if let Some(first) = target.top_values.first_mut() {
            first.1 = largest;
        }
        super::tasks::count_rarest(target);
        profile.groups[0].groups = groups;
        let agents = OfflineAgents::new(&task(shape), &profile, shape.subsample, None).unwrap();
        let script = initial(&agents, "LightGBM");
        assert!(script.contains(expected), "{expected}\n{script}");
        assert_eq!(script.matches("KFold(n_splits=").count(), 2, "{script}");
    };
    let numbers = grouped(shape("RMSE", Minimize, 0));
    check(&numbers, 0, 20, BY_GROUP);
    check(&numbers, 0, 4, "FOLDS = list(GroupKFold(n_splits=4)");
    check(&numbers, 0, 4000, BY_GROUP);
    let classes = grouped(shape("accuracy", Maximize, 2));
    check(&classes, ROWS / 2, 20, BY_GROUP);
    check(&classes, 400, 20, "StratifiedGroupKFold(n_splits=5, shuffle=True, random_state=SEED)");
    check(&classes, 400, 5, BY_GROUP);
}

#[test]
fn a_lone_group_column_stays_a_feature() {
    let shape = grouped(shape("RMSE", Minimize, 0));
    let mut profile = super::tasks::profile(&shape);
    let kept = ["id", "patient_id", "target"];
    profile.train.columns.retain(|column| kept.contains(&column.name.as_str()));
    let agents = OfflineAgents::new(&task(&shape), &profile, 30_000, None).unwrap();
    let script = initial(&agents, "LightGBM");
    assert!(script.contains(BY_GROUP) && script.contains("NUMERIC = [\"patient_id\"]"), "{script}");
}

/// The text of the section under this heading.
pub(super) fn section<'a>(script: &'a str, heading: &str) -> &'a str {
    let start = script.find(&format!("# === {heading} ===")).unwrap_or_else(|| panic!("{heading}\n{script}"));
    script[start..].split("\n\n\n# === ").next().unwrap()
}

#[test]
fn every_script_has_the_same_folds() {
    let check = |shape: &Shape| {
        let agents = agents(shape);
        let ask = Asked { agents: &agents, place: "phase2/path-0/t0" };
        let script = with_data(&ask, &merged(&ask, ["LightGBM", "Linear model"]));
        let solo = initial(&agents, "CatBoost");
        let folds = section(&script, "Folds");
        assert!(folds.contains("groups=train[GROUP]"), "{folds}");
        let study = json!({ "solution_script": script, "previous_ablations": [] });
        let mut scripts = vec![solo.clone(), ask.code(AgentType::Ablation, None, study)];
        scripts.extend(refinements(&ask, &script).into_iter().map(|(_, text)| text));
        scripts.extend(ensembles(&ask, &[&script, &solo]).into_iter().map(|(_, text)| text));
        for text in scripts {
            assert_eq!(section(&text, "Folds"), folds);
            // Nothing splits by rows, and the group is not a feature.
            assert!(!text.contains(" KFold") && !text.contains("train_test_split"), "{text}");
            assert_eq!(text.matches("\"patient_id\"").count(), 1, "{text}");
        }
    };
    for (metric, direction, classes) in [("accuracy", Maximize, 3), ("MAE", Minimize, 0), ("F1", Maximize, 2)]
    {
        check(&grouped(shape(metric, direction, classes)));
        check(&grouped(Shape { auxiliary: true, ..shape(metric, direction, classes) }));
    }
}

#[test]
fn whole_groups_are_drawn_and_the_draw_can_be_taken_out() {
    let check = |subsample: u32, whole: bool| {
        let shape = grouped(Shape { subsample, ..shape("RMSE", Minimize, 0) });
        let agents = agents(&shape);
        let ask = Asked { agents: &agents, place: "final/test" };
        let script = initial(&agents, "LightGBM");
        assert_eq!(script.contains("train[GROUP].isin(drawn)"), whole, "{script}");
        let extract = json!({ "final_solution": script });
        let block = ask.code(AgentType::Test, Some(Variant::SubsamplingExtract), extract);
        assert_eq!(script.matches(&block).count(), 1, "{block}");
        let remove = json!({ "code_block_with_subsampling": block });
        let instead = ask.code(AgentType::Test, Some(Variant::SubsamplingRemove), remove);
        let full = script.replacen(&block, &instead, 1);
        assert!(!full.contains("drawn") && !full.contains(".sample("), "{full}");
        ruff_python_parser::parse_module(&full).unwrap();
    };
    check(100, true);
    check(60, false);
}

/// Appended to a script: checks that no group is divided by subsampling or folds.
const WHOLE_GROUPS: &str = "
parts = [(set(train[GROUP].iloc[fit]), set(train[GROUP].iloc[valid])) for fit, valid in FOLDS]
assert all(fit and valid and not fit & valid for fit, valid in parts), parts
assert sum(len(valid) for _, valid in parts) == train[GROUP].nunique()
assert len(train) in (60, 100, 240) and (len(train) == 60 or train.groupby(GROUP).size().eq(4).all())
";

#[test]
fn scripts_with_groups_run() {
    needs!(Campaign("offline"), Libraries);
    let python = interpreter();
    let mut batch = Batch::new();
    let shapes = [("RMSE", Minimize, 0), ("macro F1", Maximize, 3), ("ROC-AUC", Maximize, 2)];
    for (position, (metric, direction, classes)) in shapes.into_iter().enumerate() {
        // Whole groups are drawn, rows of all groups, and none.
        let shape =
            grouped(Shape { subsample: [100, 60, 30_000][position], ..shape(metric, direction, classes) });
        let agents = agents(&shape);
        for family in FAMILIES {
            let script = format!("{}{}", initial(&agents, family), WHOLE_GROUPS);
            batch.add(&shape, format!("{family} {shape:?}"), &script);
        }
        let asked = Asked { agents: &agents, place: "phase2/path-0/t0" };
        let script = merged(&asked, ["LightGBM", "Linear model"]);
        let encodings = ["Strategy: target encoding", "Strategy: stacking"];
        for (label, changed) in refinements(&asked, &script) {
            if encodings.iter().any(|wanted| label.starts_with(wanted)) {
                batch.add(&shape, format!("{label} {shape:?}"), &changed);
            }
        }
        let (label, ensemble) = ensembles(&asked, &[&script, &initial(&agents, "CatBoost")]).remove(0);
        batch.add(&shape, format!("{label} {shape:?}"), &ensemble);
    }
    assert!(batch.len() >= 33, "{}", batch.len());
    assert_faultless(batch.run(&python).iter().map(faults));
}

/// Rows of a group in the tables of [`write_fingerprints`].
const GROUP_ROWS: usize = 12;
/// Number of training groups; there are twice as many test groups to reduce noise.
const GROUPS: usize = 120;

/// Writes tables in which three columns identify the group and the target mostly depends on the group. Returns the
/// targets of the test rows.
fn write_fingerprints(folder: &Path, classes: bool) -> Vec<f64> {
    let mut random = Random(11);
    let mut tables = ["id,patient,a,b,c,dose,target\n".to_owned(), "id,patient,a,b,c,dose\n".to_owned()];
    let mut sample = "id,target\n".to_owned();
    let mut truth = Vec::new();
    for group in 0..GROUPS * 3 {
        let fingerprint = [(); 3].map(|()| random.next() * 100.0);
        // Training and test groups have the same distribution of levels.
        let level = (group * 37 % (GROUPS * 3)) as f64 / 60.0 - 3.0;
        for row in 0..GROUP_ROWS {
            let print = fingerprint.map(|part| format!("{:.2}", part + random.next()));
            let dose = random.next();
            let value = level + 2.0 * dose + 0.5 * random.next();
            let target = if classes { f64::from(value > 2.5) } else { value };
            // Every third patient is a training group.
            let cells = format!("{},{group},{},{dose:.3}", group * GROUP_ROWS + row, print.join(","));
            if group % 3 > 0 {
                tables[1].push_str(&format!("{cells}\n"));
                sample.push_str(&format!("{},0\n", group * GROUP_ROWS + row));
                truth.push(target);
            } else {
                tables[0].push_str(&format!("{cells},{target}\n"));
            }
        }
    }
    write_tables(folder, [&tables[0], &tables[1], &sample]);
    truth
}

/// The submission's error: root mean square, or for classes the share of pairs in the wrong order.
pub(super) fn error(done: &Done, truth: &[f64], classes: bool) -> f64 {
    let submission = std::fs::read_to_string(done.folder.join("final/submission.csv")).unwrap_or_default();
    let predicted: Vec<f64> =
        submission.lines().skip(1).map(|line| line.split(',').nth(1).unwrap().parse().unwrap()).collect();
    assert_eq!(predicted.len(), truth.len(), "{}", fault(done));
    let rows = || predicted.iter().zip(truth);
    if !classes {
        let squares: f64 = rows().map(|(predicted, truth)| (predicted - truth).powi(2)).sum();
        return (squares / truth.len() as f64).sqrt();
    }
    let of = |class: f64| rows().filter(move |(_, truth)| **truth == class).map(|(predicted, _)| *predicted);
    let wrong = of(1.0).flat_map(|one| of(0.0).map(move |zero| f64::from(one <= zero))).sum::<f64>();
    wrong / (of(1.0).count() * of(0.0).count()) as f64
}

#[test]
fn validation_by_groups_foretells_the_score_on_other_groups() {
    needs!(Campaign("offline"), Libraries);
    let python = interpreter();
    let check = |shape: &Shape, family: &str| {
        let (metric, classes) = (shape.metric, shape.classes > 0);
        let data = tempfile::tempdir().unwrap();
        let truth = write_fingerprints(data.path(), classes);
        let by_groups = profile::read(data.path()).unwrap();
        let by_rows = Profile { groups: Vec::new(), ..by_groups.clone() };
        let mut batch = Batch::new();
        for profile in [by_groups, by_rows] {
            let agents = OfflineAgents::new(&task(shape), &profile, 30_000, None).unwrap();
            let script = initial(&agents, family);
            batch.add_with(shape, family.to_owned(), &script, |input| {
                drop(write_fingerprints(input, classes));
            });
        }
        let done = batch.run(&python);
        let [grouped, random] = [&done[0], &done[1]].map(|done| {
            let validated = parse_score(&done.stdout).unwrap_or_else(|| panic!("{}", fault(done)));
            let validated = if classes { 1.0 - validated } else { validated };
            (validated, error(done, &truth, classes))
        });
        println!("{family} {metric}, validated and true: by groups {grouped:?}, by rows {random:?}");
        assert!((grouped.0 / grouped.1 - 1.0).abs() < 0.2, "{family} {grouped:?}");
        assert!(random.0 / random.1 < 0.5, "{family} {random:?}");
    };
    for family in ["Large LightGBM", "Random forest"] {
        check(&shape("RMSE", Minimize, 0), family);
        check(&shape("ROC-AUC", Maximize, 2), family);
    }
}
