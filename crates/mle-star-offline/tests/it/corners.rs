//! Tables at the edge of what models, folds and studies take, whose scripts a real Python runs.

use mle_star_domain::protocol::{Split, SplitKind};
use mle_star_domain::role::AgentType;
use mle_star_needs::needs;
use mle_star_offline::OfflineAgents;
use serde_json::{Value, json};

use super::ask::{Asked, code_of, ensembles, merged};
use super::folders::{Folder, PLAIN, TWO_NUMBERS};
use super::python::{Batch, Done, assert_faultless, fault, initial, interpreter, with_few_trees};
use super::tasks::{agents_for, by};

/// A number to predict from two others, and weights.
const WEIGHTED: Folder = Folder {
    metric: "RMSE",
    features: "id,a,b,w",
    cells: |row, [a, b]| format!("{row},{a:.3},{b:.3},{}", 1 + row % 3),
    labels: |_, [a, b]| format!("{:.3}", a + b),
    wanted: ("y", "0.5"),
    ..PLAIN
};

fn agents(folder: &Folder, weight: Option<&str>, split: Option<&Split>) -> OfflineAgents {
    let dir = tempfile::tempdir().unwrap();
    folder.write(dir.path());
    let (mut task, profile) = folder.read(dir.path());
    task.roles.weight = weight.map(str::to_owned);
    agents_for(&task, &profile, 30_000, split)
}

fn study(agents: &OfflineAgents, path: usize, told: Value) -> String {
    let ask = Asked { agents, place: &format!("phase2/path-{path}/t0") };
    let inputs = json!({ "solution_script": initial(agents, "LightGBM"), "previous_ablations": [] });
    code_of(&ask.ask_telling(AgentType::Ablation, None, inputs, told))
}

#[test]
fn scripts_run_on_few_groups_constant_targets_weights_and_dates_alone() {
    needs!(Libraries);
    let mut batch = Batch::new();
    let mut add = |label: &str, script: &str, folder: &Folder| {
        batch.add_alone(label.to_owned(), &with_few_trees(script), |input| {
            folder.write(input);
            let folds: String = (0..folder.rows).map(|row| format!("{row},{}\n", row % 3)).collect();
            std::fs::write(input.join("folds.csv"), format!("id,fold\n{folds}")).unwrap();
        });
    };
    let two = Folder { features: WEIGHTED.features, cells: WEIGHTED.cells, ..TWO_NUMBERS };
    let weighted = agents(&two, Some("w"), None);
    let ask = Asked { agents: &weighted, place: "phase2/path-0/t0" };
    let script = merged(&ask, ["LightGBM", "Linear model"]);
    for (plan, text) in ensembles(&ask, &[&script, &initial(&weighted, "LightGBM")]) {
        add(&plan, &text, &two);
    }
    let groups = Folder {
        features: "id,a,site,town",
        cells: |row, [a, _]| format!("{row},{a:.3},s{},town {}", row % 2, row % 20),
        ..PLAIN
    };
    let split = Split { given: true, ..by(SplitKind::Groups, "site") };
    add("two groups", &initial(&agents(&groups, None, Some(&split)), "LightGBM"), &groups);
    let constant =
        Folder { labels: |row, [a, _]| format!("{a:.3},{}", 7 + usize::from(row == 5)), ..TWO_NUMBERS };
    add("constant", &initial(&agents(&constant, None, None), "CatBoost"), &constant);
    let class = Folder { labels: |row, _| ["x", "y"][usize::from(row % 3 == 0)].to_owned(), ..PLAIN };
    let class = Folder { wanted: ("y", "x"), ..class };
    let own = agents(&class, None, None).with_folds_file(0.0).with_folds(3);
    add("a class in one fold", &initial(&own, "LightGBM"), &class);
    let sampled = Folder { rows: 1_500, ..WEIGHTED };
    let told = json!({ "current": { "seconds": 1_000.0 }, "study_limit": 10.0 });
    add("weights of a sample", &study(&agents(&sampled, Some("w"), None), 1, told), &sampled);
    let days = Folder {
        features: "id,day",
        cells: |row, _| format!("{row},2024-{:02}-{:02}", 1 + row / 28 % 12, 1 + row % 28),
        ..WEIGHTED
    };
    add("days alone", &study(&agents(&days, None, None), 0, json!({})), &days);
    let faults = |done: &Done| if done.stderr.is_empty() { String::new() } else { fault(done) };
    assert_faultless(batch.run(&interpreter()).iter().map(faults));
}
