//! Tasks whose test rows belong to other groups than the training rows.

use mle_star_domain::metric::Direction::{Maximize, Minimize};
use mle_star_domain::role::AgentType;
use mle_star_needs::needs;
use mle_star_tables::profile::{ColumnKind, GroupColumn};
use serde_json::json;

use super::ask::{Asked, ensembles, merged, refinements, with_data};
use super::python::{Batch, FAMILIES, assert_faultless, faults, initial, interpreter};
use super::tasks::{Shape, agents, agents_for, column, shape, task};

const BY_GROUP: &str = "GroupKFold(n_splits=5).split(train, groups=train[GROUP])";

fn grouped(shape: Shape) -> Shape {
    Shape { grouped: true, ..shape }
}

/// A column with its kind, its groups, whether it counts groups, and whether it names them.
type Grouped<'a> = (&'a str, ColumnKind, usize, bool, bool);

/// The first script for a task with these columns.
fn script_with(shape: &Shape, columns: &[Grouped<'_>]) -> String {
    let mut profile = super::tasks::profile(shape);
    for (name, kind, groups, counts_groups, is_name) in columns {
        for table in [Some(&mut profile.train), profile.test.as_mut()].into_iter().flatten() {
            table.columns.push(column(name, *kind, *groups));
        }
        let (column, groups) = ((*name).to_owned(), *groups);
        let (counts_groups, is_name) = (*counts_groups, *is_name);
        profile.groups.push(GroupColumn { column, groups, ordered: false, counts_groups, is_name });
    }
    let agents = agents_for(&task(shape), &profile, shape.subsample, None);
    initial(&agents, "LightGBM")
}

#[test]
fn the_group_with_the_fewest_values_is_chosen() {
    use ColumnKind::{Category, Integer};
    let shape = Shape { rich: false, ..shape("RMSE", Minimize, 0) };
    let check = |columns: &[Grouped<'_>], chosen: Option<&str>, features: &[&str]| {
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
    check(&[("patient", Integer, 20, true, true)], Some("patient"), &[]);
    check(&[("height", Integer, 20, true, false)], Some("height"), &[]);
    check(&[("week", Integer, 20, false, false)], None, &["week"]);
    // Columns that only name groups are not features.
    let clinic = ("clinic", Category, 6, true, true);
    check(&[("visit_id", Integer, 60, true, true), clinic], Some("clinic"), &[]);
    check(&[("height", Integer, 5, true, false), clinic], Some("clinic"), &["height"]);
    // Never the id or the target.
    check(&[("id", Integer, 20, true, true)], None, &["id"]);
    check(&[("target", Integer, 20, true, false)], None, &["target"]);
}

/// The text of the section under this heading.
pub(super) fn section<'a>(script: &'a str, heading: &str) -> &'a str {
    let start = script.find(&format!("# === {heading} ===")).unwrap_or_else(|| panic!("{heading}\n{script}"));
    script[start..].split("\n\n\n# === ").next().unwrap()
}

#[test]
fn every_script_has_the_same_folds() {
    let check = |shape: &Shape, never: &[&str]| {
        let agents = agents(shape);
        let ask = Asked { agents: &agents, place: "phase2/path-0/t0" };
        let script = with_data(&ask, &merged(&ask, ["LightGBM", "Linear model"]));
        let solo = initial(&agents, "CatBoost");
        let folds = section(&script, "Folds");
        let study = json!({ "solution_script": script, "previous_ablations": [] });
        let mut scripts = vec![solo.clone(), ask.code(AgentType::Ablation, None, study)];
        scripts.extend(refinements(&ask, &script).into_iter().map(|(_, text)| text));
        scripts.extend(ensembles(&ask, &[&script, &solo]).into_iter().map(|(_, text)| text));
        for text in scripts {
            assert_eq!(section(&text, "Folds"), folds);
            // The group is not a feature.
            assert_eq!(text.matches("\"patient_id\"").count(), usize::from(shape.grouped), "{text}");
            assert!(!never.iter().any(|word| text.contains(word)), "{text}");
        }
    };
    for (metric, direction, classes) in [("accuracy", Maximize, 3), ("MAE", Minimize, 0), ("F1", Maximize, 2)]
    {
        let plain = Shape { auxiliary: true, ..shape(metric, direction, classes) };
        check(&grouped(plain), &[" KFold", "train_test_split"]);
        // Rows that are never validated have no part in what is tuned.
        let at_random =
            ["shuffle=True", "train_test_split", "metric(y, ", "len(train),", "zeros(len(train))"];
        check(&Shape { time: Some("day"), ..plain }, &at_random);
    }
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
    needs!(Libraries);
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
