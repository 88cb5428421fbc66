//! The inputs of small runs.

use std::collections::BTreeMap;
use std::path::PathBuf;

use mle_star_domain::config::{Config, Context, LeakageCheck, LeakageGate, Probes};
use mle_star_domain::metric::Direction;
use mle_star_domain::protocol::{Holdout, Protocol, Split, SplitKind};
use mle_star_domain::task::{DataModality, Roles, Task, TaskType};

use crate::journal::{Frozen, Opening};
use crate::prompts::Prompts;

/// The evaluation of a run whose scores the program computes, without held-out rows.
pub fn protocol() -> Protocol {
    Protocol {
        split: Some(Split { kind: SplitKind::Stratified, column: None, ..Split::default() }),
        holdout: Holdout::Off { why: String::new() },
        is_papers: false,
        rows: 1000,
        verifies: true,
        unverified: None,
        formula: String::new(),
        by_order: false,
        class_scores: false,
        periods: None,
        has_folds_file: false,
        own_folds: None,
        like_rows: false,
        mean_over_periods: false,
        comparison: String::new(),
        baselines: Vec::new(),
        targets: Vec::new(),
    }
}

/// A task with tables and a maximized metric: the column `y` is predicted.
pub fn task() -> Task {
    Task {
        competition_id: "toy".to_owned(),
        task_type: TaskType::Tabular,
        data_modality: DataModality::Tabular,
        evaluation_metric: "accuracy".to_owned(),
        metric_direction: Direction::Maximize,
        description: "Predict y from x.".to_owned(),
        data_dir: PathBuf::from("/data"),
        output_dir: None,
        roles: Roles { target: Some("y".to_owned().into()), ..Roles::default() },
        folds: None,
        text_columns: Vec::new(),
        columns: Vec::new(),
        metric_file: None,
        reference_discussions: Vec::new(),
        baseline_solution: None,
    }
}

/// The inputs of a run with a maximized metric and small counts: M=2, T=1, K=2, L=2, R=2.
pub fn frozen() -> Frozen {
    let config = Config {
        num_retrieved_models: 2,
        outer_loop_steps: 1,
        inner_loop_steps: 2,
        num_parallel_solutions: 2,
        ensemble_rounds: 2,
        // The calls of the paper, which most traces follow.
        context: Context::Paper,
        leakage_check: LeakageCheck::Each,
        // Scripts of tests print scores that nothing computes.
        leakage_gate: LeakageGate::Off,
        probes: Probes::Off,
        ..Config::default()
    };
    let prompts = Prompts::new(Context::Paper, BTreeMap::new());
    Frozen {
        run_id: "toy-run".to_owned(),
        task: task(),
        config,
        prompts: prompts.map(|prompts| prompts.texts().clone()).unwrap_or_default(),
        retrieved_models: None,
        learned: Vec::new(),
        data_id: "data".to_owned(),
        protocol: None,
        data_summary: None,
        linked_tables: false,
        metric_source: None,
        opening: Opening::default(),
    }
}
