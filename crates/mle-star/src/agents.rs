//! The agents: one file each, from typed input to typed answer. No loops and no retries here; those are
//! the pipeline's.

use serde::{Deserialize, Serialize};

/// The paper's fourteen agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "described in docs/paper-map.md and by the agents' own files")]
pub enum AgentType {
    Retriever,
    Init,
    Merger,
    Ablation,
    Summarize,
    Extractor,
    Coder,
    Planner,
    EnsPlanner,
    Ensembler,
    Debugger,
    Leakage,
    Data,
    Test,
}

/// The several tasks of `leakage` and `test`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "described by the agents' own files")]
pub enum Variant {
    Detection,
    Correction,
    SubsamplingExtract,
    SubsamplingRemove,
    Contamination,
}
