//! What a run leaves behind: `result.json`, with the field names of the specification.

mod records;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answers::{CodeBlockCategory, Contamination, Retrieval, RetrievedModel};
use crate::config::Config;
use crate::effects::{Limit, Lookup};
use crate::journal::MadeWith;
use crate::place::Place;
use crate::solution::{Scored, Solution, SolutionPhase};
use crate::spending::Spending;
use crate::task::Task;

/// The whole result of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FinalResult {
    /// The task as it was frozen.
    pub task: Task,
    /// The configuration as it was frozen.
    pub config: Config,
    /// Algorithm 1.
    pub phase1: Phase1Result,
    /// Algorithm 2, one per path; empty when it never began.
    pub phase2_results: Vec<Phase2Result>,
    /// How each refinement path ended, in their order.
    #[serde(default)]
    pub paths: Vec<PathRecord>,
    /// Algorithm 3; `None` when it was skipped or failed.
    pub phase3: Option<Phase3Result>,
    /// The script that made the submission, or the best validation script when none could be made.
    pub final_solution: SolutionScript,
    /// Absolute path of the submission; empty when there is none.
    pub submission_path: String,
    /// Was the solution copied from a reference? `None` when not asked or not clear.
    pub contamination: Option<Contamination>,
    /// Wall-clock seconds of the run, over all its processes.
    pub total_duration_seconds: f64,
    /// US dollars; `None` when a call's cost is unknown.
    pub total_cost_usd: Option<f64>,
    /// Seconds by phase.
    pub durations: Durations,
    /// US dollars by phase.
    pub costs: Costs,
    /// Tokens of all calls.
    pub tokens: Tokens,
    /// Calls, cost and tokens by role, phase and path.
    #[serde(default)]
    pub usage: Spending,
    /// How the final solution came about, from the candidates on.
    pub lineage: Vec<Lineage>,
    /// A leak was found in the solution and could not be removed.
    pub leakage_suspected: bool,
    /// The phases that ran to their end, by name.
    pub phases_completed: Vec<String>,
    /// The run's own limit that cut it short.
    pub stopped_by: Option<StoppedBy>,
    /// The programs that made it, one entry for each change on a resume; none where that was not noted.
    #[serde(default)]
    pub made_with: Vec<MadeWith>,
}

/// A limit of the whole run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StoppedBy {
    /// `time_limit_seconds`.
    Time,
    /// `max_budget_usd`.
    Budget,
}

/// A script in a result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SolutionScript {
    /// The script.
    pub content: String,
    /// What produced it.
    pub phase: SolutionPhase,
    /// The score of exactly this text; `None` when it has none.
    pub score: Option<f64>,
    /// Did it run?
    pub is_executable: bool,
    /// The model it was written for (Phase 1 candidates only).
    pub source_model: Option<String>,
    /// When it ran, RFC 3339; empty when it never did.
    pub created_at: String,
}

/// Algorithm 1's result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Phase1Result {
    /// The models tried.
    pub retrieved_models: Vec<RetrievedModel>,
    /// Where they come from.
    #[serde(default)]
    pub retrieval: Retrieval,
    /// What was looked up on the web for them, failures included.
    #[serde(default)]
    pub lookups: Vec<Lookup>,
    /// One solution per model, failed ones included, then the user's baseline if there is one.
    pub candidate_solutions: Vec<SolutionScript>,
    /// Their scores; `None` for failed ones.
    pub candidate_scores: Vec<Option<f64>>,
    /// s_0.
    pub initial_solution: SolutionScript,
    /// h(s_0).
    pub initial_score: f64,
    /// The merges in order.
    pub merges: Vec<Merge>,
}

/// One merge.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Merge {
    /// The model of the solution that was built in.
    pub reference_model: String,
    /// The merged solution's score; `None` when it failed.
    pub score: Option<f64>,
    /// Did it become s_0?
    pub accepted: bool,
}

/// Algorithm 2's result on one path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Phase2Result {
    /// One per outer step; empty text for a skipped one.
    pub ablation_summaries: Vec<String>,
    /// One per outer step; empty content for a skipped one.
    pub refined_blocks: Vec<CodeBlockRecord>,
    /// s_final.
    pub best_solution: SolutionScript,
    /// h(s_final).
    pub best_score: f64,
    /// One per outer step.
    pub step_history: Vec<StepRecord>,
}

/// A block that was refined.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodeBlockRecord {
    /// Its text.
    pub content: String,
    /// Its kind, when known.
    pub category: Option<CodeBlockCategory>,
    /// The outer step that refined it.
    pub outer_step: u32,
}

/// One outer step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepRecord {
    /// From 0.
    pub outer_step: u32,
    /// The study in words.
    pub ablation_summary: String,
    /// c_t.
    pub code_block: String,
    /// What c_t is for, when known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<CodeBlockCategory>,
    /// p_0.
    pub plan: String,
    /// One per inner step.
    pub inner_loop_attempts: Vec<RefinementAttempt>,
    /// h_best after the step.
    pub best_score_after_step: f64,
    /// Was no block refined?
    pub was_skipped: bool,
    /// Was the path cut short here?
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<bool>,
    /// Why it was skipped or cut short.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The limit that left it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
}

/// One attempt at a block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RefinementAttempt {
    /// p_k.
    pub plan: String,
    /// h(s_t_k); `None` when it failed.
    pub score: Option<f64>,
    /// c_t_k; empty when the coder gave none.
    pub code_block: String,
    /// Did it become the best solution?
    pub was_improvement: bool,
    /// The limit that left it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
}

/// Algorithm 3's result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Phase3Result {
    /// The solutions of the paths.
    pub input_solutions: Vec<SolutionScript>,
    /// e_r, one per round.
    pub ensemble_plans: Vec<String>,
    /// h(s_ens_r), one per round; `None` for failed ones.
    pub ensemble_scores: Vec<Option<f64>>,
    /// The rounds.
    pub attempts: Vec<EnsembleAttempt>,
    /// The best round's solution, or the best input when every round failed.
    pub best_ensemble: SolutionScript,
    /// Its score.
    pub best_ensemble_score: f64,
}

/// One round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EnsembleAttempt {
    /// e_r.
    pub plan: String,
    /// h(s_ens_r); `None` when it failed.
    pub score: Option<f64>,
    /// s_ens_r; empty content when there is none.
    pub solution: SolutionScript,
    /// The limit that left it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
}

/// Wall-clock seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "named after what they hold")]
pub struct Durations {
    pub phase1_duration_seconds: f64,
    pub phase2_duration_seconds: f64,
    pub phase3_duration_seconds: f64,
    pub finalization_duration_seconds: f64,
    pub total_duration_seconds: f64,
}

/// US dollars; `None` means unknown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "named after what they hold")]
pub struct Tokens {
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
}

/// One step on the way to the final solution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lineage {
    /// The step.
    pub place: Place,
    /// Its phase's name.
    pub phase: String,
    /// The score of what it made.
    pub score: Option<f64>,
    /// The steps it was made from.
    pub from: Vec<Place>,
    /// What was done, in one line.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// How a refinement path ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathRecord {
    /// From 0.
    pub path: u32,
    /// How.
    pub status: PathStatus,
    /// The error of a failed path, or the limit that cut one short.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
}

/// How a refinement path ended. Its best solution stands in each case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PathStatus {
    /// It took every step.
    Finished,
    /// A defect ended it; the other paths go on.
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
    /// A script that never ran to a score.
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
        Self {
            score: Some(scored.score().value()),
            is_executable: true,
            created_at: scored.ran_at().to_string(),
            ..Self::failed(scored.solution())
        }
    }
}

impl From<Limit> for Option<StoppedBy> {
    fn from(limit: Limit) -> Self {
        match limit {
            Limit::Time => Some(StoppedBy::Time),
            Limit::Budget => Some(StoppedBy::Budget),
            Limit::Share => None,
        }
    }
}
