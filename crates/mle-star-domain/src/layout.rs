//! File names in a run folder, `RUNS_DIR/RUN_ID/`. Every part of the program that reads or writes there uses these.

/// The journal: SQLite.
pub const JOURNAL: &str = "journal.db";
/// The lock of the process that works on the run.
pub const LOCK: &str = "journal.lock";
/// The owner of [`LOCK`], on a file system without locks.
pub const LOCK_OWNER: &str = "journal.lock.held";
/// The frozen task.
pub const TASK: &str = "task.json";
/// The frozen configuration.
pub const CONFIG: &str = "config.json";
/// The configuration with raised limits, before they are in the journal.
pub const STAGED_CONFIG: &str = "config.part";
/// The runners that the run used last.
pub const RUNNERS: &str = "runners.json";
/// The Python file that computes the metric.
pub const METRIC_FILE: &str = "metric.py";
/// The frozen prompt templates, a folder.
pub const PROMPTS: &str = "prompts";
/// The models that the user provided.
pub const MODELS: &str = "models.json";
/// The data in a few lines, as agents see it.
pub const DATA_SUMMARY: &str = "data.md";
/// Notes of the user that were left for the agents, a folder.
pub const NOTES: &str = "notes";
/// Every script that ran, a folder.
pub const SOLUTIONS: &str = "solutions";
/// Predictions for validation rows that scripts wrote, a folder.
pub const VALIDATION: &str = "validation";
/// Submissions that scripts wrote, a folder.
pub const SUBMISSIONS: &str = "submissions";
/// Output of scripts, events and the program's log, a folder.
pub const LOGS: &str = "logs";
/// Events as JSON lines, in [`LOGS`].
pub const EVENTS: &str = "events.jsonl";
/// The program's log, in [`LOGS`].
pub const LOG: &str = "mle-star.log";
/// The output of a process that the web page or a tool started, in [`LOGS`].
pub const STARTED_LOG: &str = "started.log";
/// Working directories of scripts and agents, a folder; empty when the run is over.
pub const WORK: &str = "work";
/// Working directories of agents, a folder in [`WORK`]; calls that are answered through files, a folder.
pub const AGENTS: &str = "agents";
/// The data as plain tables, if the user's are not, a folder.
pub const DATA: &str = "data";
/// What the data plane found in the data.
pub const FACTS: &str = "facts.json";
/// How [`DATA`] was made from the user's data.
pub const INTAKE: &str = "intake.json";
/// The labels of the test rows, if the program took these from a single table.
pub const TEST_LABELS: &str = "test_labels.csv";
/// A link to the data, so that `final/solution.py` runs from the run folder.
pub const INPUT: &str = "input";
/// The result, a folder.
pub const FINAL: &str = "final";
/// The submission, in [`FINAL`] and in a task's output folder.
pub const SUBMISSION: &str = "submission.csv";
/// The final script, in [`FINAL`].
pub const SOLUTION: &str = "solution.py";
/// Exact versions of the libraries, in [`FINAL`].
pub const REQUIREMENTS: &str = "requirements.txt";
/// The fitted model, a folder in [`FINAL`].
pub const MODEL: &str = "model";
/// The digests of the files in [`MODEL`], and what they were made with; in [`FINAL`].
pub const MODEL_RECORD: &str = "model.json";
/// The script that predicts with [`MODEL`], in [`FINAL`].
pub const PREDICT: &str = "predict.py";
/// The step that produced the files in [`FINAL`] of an unfinished run, in [`FINAL`].
pub const PROVISIONAL: &str = "provisional.json";
/// The `FinalResult`, written last.
pub const RESULT: &str = "result.json";
/// The run in short, for lists of runs.
pub const SUMMARY: &str = "summary.json";
/// The report, one self-contained page.
pub const REPORT: &str = "report.html";
/// What belongs to held-out rows, a folder that scripts cannot read.
pub const HOLDOUT: &str = "holdout";
/// The folds in the data that scripts see, with a copy in [`FINAL`]: the row ID and `fold`.
pub const FOLDS: &str = "folds.csv";
/// Seasonal naive forecasts of the validated rows.
pub const SEASONAL_NAIVE: &str = "seasonal_naive.csv";
/// The original data with [`FOLDS`], a folder.
pub const ALL_ROWS: &str = "all_rows";
/// The labels of the held-out rows, in [`HOLDOUT`].
pub const LABELS: &str = "labels.csv";
/// Where the predictions of the final solution are right and where they are wrong, in [`HOLDOUT`], since it has labels.
pub const DIAGNOSTICS: &str = "diagnostics.json";
/// How the predictions of the kept model depend on columns, in [`HOLDOUT`].
pub const DEPENDENCE: &str = "dependence.json";
/// The tables that are compared before the search, a folder in [`HOLDOUT`].
pub const COMPARED: &str = "compared";
/// Submissions with predictions for held-out rows, a folder in [`HOLDOUT`].
pub const PREDICTIONS: &str = "predictions";
/// The predictions behind a script's score, in the script's [`FINAL`].
pub const VALIDATION_PREDICTIONS: &str = "validation_predictions.csv";
/// What the variants of an ablation study predict for validation rows, in its [`FINAL`], the unchanged solution first.
pub const VARIANTS: [&str; 7] = [
    "variant_0.csv",
    "variant_1.csv",
    "variant_2.csv",
    "variant_3.csv",
    "variant_4.csv",
    "variant_5.csv",
    "variant_6.csv",
];
/// The folder of the data plane, among the working folders.
pub const PLANE: &str = "plane";
/// The scores of the classes behind [`VALIDATION_PREDICTIONS`], if a script predicts labels. The first column names the
/// row, each further one is a class.
pub const VALIDATION_CLASS_SCORES: &str = "validation_class_scores.csv";
/// The scores of the classes behind [`SUBMISSION`], in the form of [`VALIDATION_CLASS_SCORES`].
pub const SUBMISSION_CLASS_SCORES: &str = "submission_class_scores.csv";
