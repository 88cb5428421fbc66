//! The roles of columns that the user named: weights, groups and columns that are no features.

use mle_star_domain::metric::Direction::Minimize;
use mle_star_domain::protocol::{Split, SplitKind};
use mle_star_domain::role::AgentType;
use mle_star_domain::task::{Task, TextColumn};
use mle_star_needs::needs;
use mle_star_offline::OfflineAgents;
use mle_star_tables::profile::Profile;
use serde_json::json;

use super::ask::{Asked, ensembles, merged, refinements};
use super::python::{Batch, Done, FAMILIES, assert_faultless, faults, initial, interpreter};
use super::tasks::{Shape, agents_for, by, profile, shape, task};

/// The agents for a shape whose task or split is changed.
fn agents(shape: &Shape, change: impl Fn(&mut Task), split: Option<&Split>) -> OfflineAgents {
    let mut task = task(shape);
    change(&mut task);
    agents_for(&task, &profile(shape), 30_000, split)
}

#[test]
fn ignored_columns_and_weights_are_no_features() {
    let metrics = [("RMSE", 0), ("MAE", 0), ("accuracy", 3), ("F1", 2), ("log loss", 3), ("ROC-AUC", 2)];
    for (metric, classes) in metrics {
        let shape = shape(metric, Minimize, classes);
        let named = |task: &mut Task| {
            task.roles.ignored = vec!["age".to_owned(), "note".to_owned()];
            task.roles.weight = Some("weight".to_owned());
        };
        let agents = agents(&shape, named, None);
        let ask = Asked { agents: &agents, place: "phase2/path-0/t0" };
        let script = merged(&ask, ["LightGBM", "Linear model"]);
        let study = json!({ "solution_script": script, "previous_ablations": [] });
        let mut scripts = vec![script.clone(), ask.code(AgentType::Ablation, None, study)];
        scripts.extend(refinements(&ask, &script).into_iter().map(|(_, text)| text));
        scripts.extend(ensembles(&ask, &[&script, &scripts[0]]).into_iter().map(|(_, text)| text));
        for text in scripts {
            ruff_python_parser::parse_module(&text).unwrap();
            assert!(!text.contains("\"age\"") && !text.contains("\"note\""), "{text}");
            assert_eq!(text.matches("\"weight\"").count(), text.matches("WEIGHT = \"weight\"").count());
            let fits = text.matches("model.fit(").count();
            assert_eq!(fits, text.matches("sample_weight=weight").count().min(fits), "{text}");
            let scored = ["metric(y, validated, WEIGHTS)", "metric(y, decide(values)[0], WEIGHTS)"];
            assert!(scored.iter().any(|call| text.contains(call)), "{text}");
        }
    }
}

#[test]
fn named_groups_and_times_decide_the_folds() {
    let shape = shape("RMSE", Minimize, 0);
    let check = |split: Split, says: &[&str], never: &[&str]| {
        let agents = agents(&shape, |_| (), Some(&Split { given: true, ..split }));
        let script = initial(&agents, "LightGBM");
        for text in says {
            assert!(script.contains(text), "{text}\n{script}");
        }
        for text in never {
            assert!(!script.contains(text), "{text}\n{script}");
        }
    };
    let by_groups = by(SplitKind::Groups, "place");
    check(
        by_groups,
        &["GroupKFold(", "# Whole groups are validated"],
        &["CATEGORICAL = [\"colour\", \"place\""],
    );
    let by_both = Split { groups: Some("place".to_owned()), ..by(SplitKind::Time, "day") };
    let first = "times.groupby(train[GROUP]).transform(\"min\").fillna(times)";
    check(by_both, &["TIME = \"day\"", "GROUP = \"place\"", first], &["MANY_LEVELS = [\"place\""]);
}

#[test]
fn words_that_are_values_are_read_as_such() {
    let shape = Shape { text_labels: true, auxiliary: true, ..shape("accuracy", Minimize, 3) };
    let words = |words: &[&str]| TextColumn {
        column: "target".to_owned(),
        words: words.iter().map(|word| (*word).to_owned()).collect(),
        why: String::new(),
    };
    let check = |column: TextColumn, is_read: bool| {
        let tables = Profile { text_columns: vec![column], ..profile(&shape) };
        let agents = agents_for(&task(&shape), &tables, 30_000, None);
        let script = initial(&agents, "LightGBM");
        ruff_python_parser::parse_module(&script).unwrap();
        assert_eq!(script.contains("VALUES = {\"target\": [\"None\", \"NA\"]}\n"), is_read, "{script}");
        // All tables, with the sample submission and the auxiliary one.
        let reads = script.matches("keep_default_na=False, na_values=MISSING").count();
        assert_eq!(reads, if is_read { 4 } else { 0 }, "{script}");
    };
    check(words(&["None", "NA"]), true);
    check(words(&[]), false);
}

#[test]
fn scripts_with_weights_run() {
    needs!(Libraries);
    let mut batch = Batch::new();
    let metrics =
        [("RMSE", 0), ("MAE", 0), ("Spearman correlation", 0), ("SMAPE", 0), ("F1", 2), ("log loss", 3)];
    for (metric, classes) in metrics {
        let shape = Shape { per_class: classes == 3, ..shape(metric, Minimize, classes) };
        let agents = agents(&shape, |task| task.roles.weight = Some("size".to_owned()), None);
        let ask = Asked { agents: &agents, place: "phase2/path-0/t0" };
        let script = merged(&ask, ["LightGBM", "Linear model"]);
        let first = FAMILIES.map(|family| (family.to_owned(), initial(&agents, family)));
        // Nothing else computes a weighted rank correlation.
        let weight = (metric != "Spearman correlation").then_some("size");
        for (label, text) in first.into_iter().chain(refinements(&ask, &script)) {
            batch.add_weighted(&shape, format!("{metric} {label}"), &text, weight);
        }
    }
    let runs = |done: &Done| done.stderr.is_empty() && done.label.starts_with("Spearman");
    let done = batch.run(&interpreter());
    assert_faultless(done.iter().map(|done| if runs(done) { String::new() } else { faults(done) }));
}
