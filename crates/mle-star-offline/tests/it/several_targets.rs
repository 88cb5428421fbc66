//! Scripts for data folders with several targets.

use mle_star_domain::role::AgentType;
use mle_star_needs::needs;
use mle_star_offline::OfflineAgents;
use mle_star_tables::profile;
use serde_json::json;

use super::ask::{Asked, ensembles, merged, refinements};
use super::folders::{Folder, THREE_LABELS, TWO_NUMBERS, check};
use super::python::{Batch, Done, assert_faultless, initial, interpreter, with_few_trees};

#[test]
fn one_script_predicts_several_targets() {
    needs!(Campaign("offline"), Libraries);
    check(&[
        TWO_NUMBERS,
        THREE_LABELS,
        Folder {
            name: "gaps, categories and an order of their own",
            metric: "RMSE",
            features: "id,town,day",
            cells: |row, _| format!("{row},town {},2024-01-{:02}", row % 40, 1 + row % 28),
            targets: "y,other,z",
            labels: |row, [a, b]| {
                format!("{},7,{b:.3}", if row % 9 == 0 { String::new() } else { format!("{a:.3}") })
            },
            wanted: ("z,y", "0.5,0.5"),
            ..TWO_NUMBERS
        },
        Folder {
            name: "two answers",
            metric: "F1",
            targets: "old,tall",
            labels: |_, [a, b]| format!("{},{}", if a > 0.5 { "yes" } else { "no" }, u8::from(b > 0.5)),
            wanted: ("old,tall", "no,0"),
            ..TWO_NUMBERS
        },
    ]);
}

#[test]
fn scripts_for_several_targets_can_be_changed_and_combined() {
    needs!(Campaign("offline"), Libraries);
    let mut batch = Batch::new();
    let mut of = Vec::new();
    let folders = [TWO_NUMBERS, THREE_LABELS];
    for folder in &folders {
        let agents = folder.agents();
        let asked = Asked { agents: &agents, place: "phase2/path-0/t0" };
        let families = [folder.families[0], folder.families[1]];
        let script = merged(&asked, families);
        let changed = refinements(&asked, &script);
        let combined = ensembles(&asked, &[&script, &initial(&agents, families[0])]);
        assert!(changed.len() > 8 && !combined.is_empty(), "{} {}", changed.len(), combined.len());
        let inputs = json!({ "solution_script": script, "previous_ablations": [] });
        let ablation = asked.code(AgentType::Ablation, None, inputs);
        let all = [("merged".to_owned(), script), ("ablation".to_owned(), ablation)];
        for (label, script) in all.into_iter().chain(changed).chain(combined) {
            batch.add_alone(format!("{} {label}", folder.name), &with_few_trees(&script), |input| {
                folder.write(input);
            });
            of.push(folder);
        }
    }
    let check = |(folder, done): (&&Folder, &Done)| {
        let studied = done.label.ends_with("ablation") && done.stdout.matches("Without ").count() >= 3;
        if studied && done.stderr.is_empty() { String::new() } else { folder.faults(done) }
    };
    assert_faultless(of.iter().zip(&batch.run(&interpreter())).map(check));
}

#[test]
fn what_several_targets_cannot_be_is_named() {
    let refused = |folder: Folder| {
        let dir = tempfile::tempdir().unwrap();
        folder.write(dir.path());
        let profile = profile::read(dir.path()).unwrap();
        OfflineAgents::new(&folder.task(dir.path()), &profile, 30_000, None).unwrap_err().message
    };
    let three =
        Folder { labels: |row, _| format!("{},{}", row % 3, row % 2), metric: "accuracy", ..TWO_NUMBERS };
    assert_eq!(refused(three), "there are 2 targets, and `energy` has more than two classes");
    let unknown = Folder { wanted: ("energy,gap,odd", "1,1,1"), ..TWO_NUMBERS };
    assert!(refused(unknown).contains("the column `odd`, which no table has"));
}
