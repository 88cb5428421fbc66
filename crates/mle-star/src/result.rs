//! The contents of `result.json`, with the field names of the specification.

mod records;

pub(crate) use records::best_first;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::forked::ForkedFrom;
use crate::made_with::MadeWith;
use crate::scored::Scored;
use crate::solution::{Solution, SolutionPhase};
use crate::spending::Spending;
use crate::verdict::Lineage;
use mle_star_domain::answers::{CodeBlockCategory, Contamination, Retrieval, RetrievedModel};
use mle_star_domain::config::Config;
use mle_star_domain::effects::{Limit, Lookup};
use mle_star_domain::place::{Phase, Place, Step};
use mle_star_domain::question::{ColumnImportance, FileStem, ImportanceRows};
use mle_star_domain::task::Task;
use mle_star_domain::trust::{ExpectedScore, Trust};

/// The result of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FinalResult {
    /// The task.
    pub task: Task,
    /// The configuration.
    pub config: Config,
    /// The program's own solutions that cost little; empty if it made none.
    pub baseline: Vec<BaselineScore>,
    /// The one score to expect on the rows of the test table; `null` if nothing is known of it.
    pub expected: Option<ExpectedScore>,
    /// The result of Algorithm 1.
    pub phase1: Phase1Result,
    /// The results of Algorithm 2, one per path; empty if it never began.
    pub phase2_results: Vec<Phase2Result>,
    /// How each refinement path ended, in order.
    pub paths: Vec<PathRecord>,
    /// The result of Algorithm 3; `None` if it was skipped or failed.
    pub phase3: Option<Phase3Result>,
    /// The script that wrote the submission, or the best validation script if there is no submission.
    pub final_solution: SolutionScript,
    /// The absolute path of the submission; empty if there is none.
    pub submission_path: String,
    /// Why `submission.csv` was not written by `final/solution.py` in its run on the original data; `None` if it was.
    pub not_run: Option<String>,
    /// Why the best solution was not submitted but another one, with both validation scores, in one sentence; `null` if it was.
    pub not_best: Option<String>,
    /// Whether the solution was copied from a reference; `None` if not checked or unclear.
    pub contamination: Option<Contamination>,
    /// Wall-clock seconds of the run over all processes.
    pub total_duration_seconds: f64,
    /// Cost in US dollars, estimates included; `None` if nothing about it is known.
    pub total_cost_usd: Option<f64>,
    /// The part of the cost that is estimated, because a service reported none or a call was interrupted.
    pub estimated_cost_usd: f64,
    /// Seconds by phase.
    pub durations: Durations,
    /// US dollars by phase.
    pub costs: Costs,
    /// Tokens of all calls.
    pub tokens: Tokens,
    /// Calls, cost and tokens by role, phase and path.
    pub usage: Spending,
    /// The steps that led to the final solution, from the candidates on.
    pub lineage: Vec<Lineage>,
    /// Whether a leak was found in the solution and could not be removed.
    pub leakage_suspected: bool,
    /// The names of the completed phases.
    pub phases_completed: Vec<String>,
    /// The limit of the whole run that cut it short.
    pub stopped_by: Option<StoppedBy>,
    /// Whether the final solution is the one from before a limit was raised, because the run went on and found nothing
    /// better. `lineage` and `trust` then describe the run before.
    pub answer_is_earlier: bool,
    /// The steps that a limit cut or skipped, in the order of the algorithms.
    pub cuts: Vec<Cut>,
    /// The program versions used and what scripts were kept from, one entry for each change on a resume; empty if they were
    /// not recorded.
    pub made_with: Vec<MadeWith>,
    /// The run that this one was forked from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<ForkedFrom>,
    /// How far the score can be trusted.
    pub trust: Option<Trust>,
    /// How much worse the score of the final solution gets when a column is permuted on rows that it was not fitted on, for every
    /// column of the test table that is no ID, group, time or weight, strongest first; `null` if it is not known.
    pub importance: Option<Vec<ColumnImportance>>,
    /// Why it is not known, in one sentence; `null` if it is.
    pub importance_why: Option<String>,
    /// The number of rows that it is of.
    pub importance_rows: Option<u64>,
    /// Which rows these are; `null` if it is not known.
    pub importance_on: Option<ImportanceRows>,
    /// What `mle-star predict` predicts other rows with.
    pub model: ModelRecord,
}

/// The validation score of a solution of the program's own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BaselineScore {
    /// `constant`, or `linear` for ridge or logistic regression.
    pub name: String,
    /// The score, in the metric's unit.
    pub score: f64,
    /// The 95 % interval of the score, low and high; `null` if it is not known.
    pub interval: Option<[f64; 2]>,
    /// How long its script took, in seconds.
    pub seconds: f64,
}

/// What predicts other rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelRecord {
    /// The kind.
    pub kind: ModelKind,
    /// Why there is no fitted model, or why it is that of another solution than the submission's, in one sentence; else empty.
    pub why: String,
    /// The rows of the test table, in another order, that the fitted model predicted as in the submission.
    pub rows: Option<u64>,
    /// The size of `final/model/` in bytes.
    pub bytes: Option<u64>,
    /// How long the fitted model takes for a row, without the start of Python, in milliseconds.
    pub milliseconds_per_row: Option<f64>,
}

/// How other rows are predicted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ModelKind {
    /// By the fitted model in `final/model/`.
    Fitted,
    /// By the script of the solution, which fits again.
    Refit,
    /// Not at all: there is no submission.
    #[default]
    None,
}

/// A step that a limit cut or skipped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cut {
    /// The step, or the call outside of any step.
    pub place: Place,
    /// The limit: of the run, or the share of a phase or a path.
    pub limit: Limit,
    /// Whether a resume with a larger limit continues this step. If not, later steps already use its incomplete result.
    pub open: bool,
}

impl FinalResult {
    /// Whether a limit cut or skipped anything, so that the run can go on with a larger one.
    pub fn was_cut(&self) -> bool {
        self.stopped_by.is_some() || !self.cuts.is_empty()
    }

    /// The last step of the search that led to the final solution.
    pub(crate) fn last_search_step(&self) -> Option<&Lineage> {
        let of_search = |step: &&Lineage| step.place.phase() != Some(Phase::Finalization);
        self.lineage.iter().rev().filter(of_search).find(|step| step.score.is_some())
    }

    /// The step of the search whose solution is the final one.
    pub fn final_step(&self) -> Option<Step> {
        self.last_search_step()?.place.step()
    }

    /// The score that the final solution had during the search, on the (possibly subsampled) rows on which all
    /// solutions are compared; not its score after the final run on all rows.
    pub fn search_score(&self) -> f64 {
        let trusted = self.trust.as_ref().and_then(|trust| trust.validation_score);
        let searched = self.last_search_step().and_then(|step| step.score);
        trusted.or(searched).unwrap_or_else(|| self.validation_score())
    }

    /// The validation score of the final solution, in the metric's unit.
    pub fn validation_score(&self) -> f64 {
        let trusted = self.trust.as_ref().and_then(|trust| trust.validation_score);
        let last = self.lineage.iter().rev().find_map(|step| step.score);
        trusted.or(last).or(self.final_solution.score).unwrap_or(self.phase1.initial_score)
    }
}

/// A limit of the whole run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StoppedBy {
    /// `time_limit_seconds`.
    Time,
    /// `max_budget_usd`.
    Budget,
}

/// A script in a result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SolutionScript {
    /// The script.
    pub content: String,
    /// The kind of step that produced it.
    pub phase: SolutionPhase,
    /// The score of exactly this text, if any.
    pub score: Option<f64>,
    /// Whether it ran successfully in exactly this form; the final solution on the original files.
    pub is_executable: bool,
    /// The model it was written for (Phase 1 candidates only).
    pub source_model: Option<String>,
    /// When it ran, RFC 3339; empty if it never did.
    pub created_at: String,
}

/// The result of Algorithm 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Phase1Result {
    /// The models that were tried.
    pub retrieved_models: Vec<RetrievedModel>,
    /// Where the models come from.
    pub retrieval: Retrieval,
    /// The web searches and fetches made for them, including failed ones.
    pub lookups: Vec<Lookup>,
    /// One solution per model, including failed ones, then the user's baseline, if any.
    pub candidate_solutions: Vec<SolutionScript>,
    /// The validation scores of `candidate_solutions`, in their order; `None` for failed ones.
    pub candidate_scores: Vec<Option<f64>>,
    /// The solution that Phase 1 ends with, s_0.
    pub initial_solution: SolutionScript,
    /// The score of the initial solution, h(s_0).
    pub initial_score: f64,
    /// The merges, in order.
    pub merges: Vec<Merge>,
}

/// One merge.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Merge {
    /// The model of the merged reference solution.
    pub reference_model: String,
    /// The score of the merged solution; `None` if it failed.
    pub score: Option<f64>,
    /// Whether it was kept.
    pub accepted: bool,
}

/// The result of Algorithm 2 on one path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Phase2Result {
    /// What each ablation study found, one per outer step; empty for a skipped one.
    pub ablation_summaries: Vec<String>,
    /// The code block of each outer step; its content is empty for a skipped one.
    pub refined_blocks: Vec<CodeBlockRecord>,
    /// The best solution of the path, s_final.
    pub best_solution: SolutionScript,
    /// The score of the best solution, h(s_final).
    pub best_score: f64,
    /// The outer steps: one ablation study and the attempts that follow from it.
    pub step_history: Vec<StepRecord>,
}

/// A refined block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CodeBlockRecord {
    /// The text of the code block.
    pub content: String,
    /// The kind of the code block, when known.
    pub category: Option<CodeBlockCategory>,
    /// The outer step in which it was refined.
    pub outer_step: u32,
}

/// One outer step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StepRecord {
    /// From 0.
    pub outer_step: u32,
    /// The summary of the ablation study.
    pub ablation_summary: String,
    /// The code block that was refined, c_t.
    pub code_block: String,
    /// The kind of the code block, when known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<CodeBlockCategory>,
    /// The first plan, p_0.
    pub plan: String,
    /// The attempts at the block.
    pub inner_loop_attempts: Vec<RefinementAttempt>,
    /// The best score of the path after the step.
    pub best_score_after_step: f64,
    /// Whether no block was refined.
    pub was_skipped: bool,
    /// Whether the path was cut short here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<bool>,
    /// Why the step was skipped or the path cut short.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The limit that skipped it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
}

/// One attempt at a block.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RefinementAttempt {
    /// What the attempt was to change, p_k.
    pub plan: String,
    /// The score of its solution, h(s_t_k); `None` if it failed.
    pub score: Option<f64>,
    /// The new code block, c_t_k; empty if the coder returned none.
    pub code_block: String,
    /// Whether it became the best solution.
    pub was_improvement: bool,
    /// The limit because of which this attempt was not made; `None` if it was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
    /// What later agents are told about it. Files of results do not contain it.
    #[serde(skip)]
    pub effect: AttemptEffect,
}

/// The effect of an attempt or a round, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AttemptEffect {
    /// How much better it scored than the solution that the step began with, or than the best of the combined ones, in the
    /// metric's unit; negative if worse.
    pub gain: Option<f64>,
    /// The standard error of this difference; `None` if the predictions are not known.
    pub standard_error: Option<f64>,
    /// Seconds that its last run took.
    pub seconds: Option<f64>,
    /// The last lines that it printed.
    pub printed: String,
    /// How the script that ran last differs from the solution that the step began with; empty for a round.
    pub diff: String,
    /// What went wrong on the way, one line each.
    pub mishaps: Vec<String>,
    /// Why it has no score, in one line; empty if it has one.
    pub failure: String,
}

/// The result of Algorithm 3.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Phase3Result {
    /// The solutions of the paths.
    pub input_solutions: Vec<SolutionScript>,
    /// How to combine the solutions, e_r, one per round.
    pub ensemble_plans: Vec<String>,
    /// The scores of the combined solutions, one per round; `None` for failed rounds.
    pub ensemble_scores: Vec<Option<f64>>,
    /// The rounds.
    pub attempts: Vec<EnsembleAttempt>,
    /// The solution of the best round, or the best input if every round failed.
    pub best_ensemble: SolutionScript,
    /// The score of this solution.
    pub best_ensemble_score: f64,
}

/// One round of the ensemble (Algorithm 3): a plan to combine the paths' solutions, and its result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EnsembleAttempt {
    /// How to combine the solutions, e_r.
    pub plan: String,
    /// The score of the combined solution, h(s_ens_r); `None` if the round failed.
    pub score: Option<f64>,
    /// The combined solution, s_ens_r; its content is empty if there is none.
    pub solution: SolutionScript,
    /// The limit that left it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
    /// What later agents are told about it, compared with the best of the combined solutions. Files of results do not
    /// contain it.
    #[serde(skip)]
    pub effect: AttemptEffect,
}

/// A run of a script that may have kept its model.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptModel {
    /// The place of the step.
    pub run: Place,
    /// The script.
    pub script: String,
}

impl FinishedRun {
    /// The run that wrote the submission, in the form in which it is delivered.
    pub fn submitted(&self) -> Option<FileStem> {
        let run = self.submission.as_ref()?;
        Some(FileStem::new(run, &self.result.final_solution.content))
    }
}

impl KeptModel {
    /// The files that the run left.
    pub fn files(&self) -> FileStem {
        FileStem::new(&self.run, &self.script)
    }
}

/// The models that scripts of the search may have kept, for a run whose last script kept none.
#[derive(Clone, Debug, Default)]
pub struct SearchModels {
    /// If the answer is a combination: how it combines, and its solutions with their weights.
    pub combined: Option<(String, Vec<(KeptModel, f64)>)>,
    /// All solutions that predict the test table, the best first, each with the name of its step.
    pub solutions: Vec<(String, KeptModel)>,
}

/// A finished run.
#[derive(Clone, Debug)]
pub struct FinishedRun {
    /// The result. `submission_path` is empty until the submission is in its final place.
    pub result: FinalResult,
    /// The place of the run that wrote a valid submission, if any.
    pub submission: Option<Place>,
    /// The run whose script may have kept its model, or why there is none.
    pub model: Result<KeptModel, String>,
    /// The models of the search.
    pub search_models: SearchModels,
    /// Whether the final solution from before a limit was raised was kept, because the run found nothing better; the
    /// files in `final/` are then left as they are.
    pub keeps_earlier_answer: bool,
    /// The runs that predicted labelled rows as the final solution does, each with its script; `None` if the earlier solution
    /// was kept.
    pub predictions: Option<FinalPredictions>,
}

/// The runs that predicted labelled rows as the final solution does, each with its script.
#[derive(Clone, Debug)]
pub struct FinalPredictions {
    /// The run that predicted the held-out rows, or a test table whose labels are known; `None` if there is none.
    pub held_out: Option<FileStem>,
    /// The run that predicted the validation rows.
    pub validation: FileStem,
}

/// Wall-clock seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "named after what they hold")]
pub struct Durations {
    pub phase1_duration_seconds: f64,
    pub phase2_duration_seconds: f64,
    pub phase3_duration_seconds: f64,
    pub finalization_duration_seconds: f64,
    pub total_duration_seconds: f64,
}

/// US dollars; `None` if unknown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "named after what they hold")]
pub struct Costs {
    pub phase1_cost_usd: Option<f64>,
    pub phase2_cost_usd: Option<f64>,
    pub phase2_per_path_cost_usd: Vec<Option<f64>>,
    pub phase3_cost_usd: Option<f64>,
    pub finalization_cost_usd: Option<f64>,
    pub total_cost_usd: Option<f64>,
}

/// Tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "named after what they hold")]
pub struct Tokens {
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
}

/// How a refinement path ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PathRecord {
    /// From 0.
    pub path: u32,
    /// How it ended.
    pub status: PathStatus,
    /// The error of a failed path, or the limit that cut one short.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
}

/// How a refinement path ended. Its best solution is used in each case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PathStatus {
    /// The path completed every step.
    Finished,
    /// An internal error ended it; the other paths continued.
    Failed,
    /// A limit cut it short.
    Cancelled,
}

impl PathStatus {
    /// The name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

impl SolutionScript {
    /// A script without a score.
    pub fn failed(solution: &Solution) -> Self {
        Self {
            content: solution.text().to_owned(),
            phase: solution.phase(),
            score: None,
            is_executable: false,
            source_model: solution.source_model().map(str::to_owned),
            created_at: String::new(),
        }
    }
}

impl From<&Scored> for SolutionScript {
    fn from(scored: &Scored) -> Self {
        // The program combines predictions without running the script.
        let is_executable = scored.composition().is_none();
        let created_at = if is_executable { scored.ran_at().to_string() } else { String::new() };
        let score = Some(scored.score().value());
        Self { score, is_executable, created_at, ..Self::failed(scored.solution()) }
    }
}

impl StoppedBy {
    /// The limit of the whole run; `None` for the share of a phase or a path.
    pub fn of(limit: Limit) -> Option<Self> {
        match limit {
            Limit::Time => Some(Self::Time),
            Limit::Budget => Some(Self::Budget),
            Limit::Share => None,
        }
    }
}
