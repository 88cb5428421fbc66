//! Finds the agent that a prompt is for, by a sentence that only its template contains.

use mle_star_domain::role::{AgentType, Variant};

/// A task of an agent.
#[derive(Debug)]
pub struct Role {
    pub agent: AgentType,
    pub variant: Option<Variant>,
    sentence: &'static str,
}

/// Every task of every agent.
pub const ROLES: [Role; 18] = [
    role(AgentType::Retriever, "recent and effective models that could win this competition"),
    role(AgentType::Init, "Write a solution in Python that is built around this model."),
    role(AgentType::Merger, "Integrate the reference solution into the base solution."),
    role(AgentType::Ablation, "Write a simple Python script that performs an ablation study of train.py."),
    role(AgentType::Summarize, "Summarize the result of this study from"),
    role(
        AgentType::Extractor,
        "you choose one code block of the current solution and plan how to improve it.",
    ),
    role(AgentType::Coder, "You refine one code block of a solution according to a plan."),
    role(AgentType::Planner, "suggest a better plan for the block."),
    role(AgentType::EnsPlanner, "Concentrate on how to merge the solutions"),
    role(AgentType::Ensembler, "into an ensemble according to a plan."),
    role(AgentType::Debugger, "Fix the code so that this error no longer occurs."),
    task(Variant::Detection, "Determine whether this code leaks data."),
    task(Variant::Correction, "Rewrite the block so that it no longer leaks data."),
    role(AgentType::Data, "Does the solution use all the information that is provided for training?"),
    role(AgentType::Test, "you write an excellent Python solution that creates the submission."),
    task(
        Variant::SubsamplingExtract,
        "Extract the block of this script in which training samples are subsampled.",
    ),
    task(Variant::SubsamplingRemove, "Remove the subsampling from this block"),
    task(Variant::Contamination, "Judge whether the solution resembles the reference discussion"),
];

const fn role(agent: AgentType, sentence: &'static str) -> Role {
    Role { agent, variant: None, sentence }
}

const fn task(variant: Variant, sentence: &'static str) -> Role {
    let agent = match variant {
        Variant::Detection | Variant::Correction => AgentType::Leakage,
        _ => AgentType::Test,
    };
    Role { agent, variant: Some(variant), sentence }
}

/// The task that a prompt is for.
pub fn role_of(prompt: &str) -> Option<&'static Role> {
    ROLES.iter().find(|role| prompt.contains(role.sentence))
}
