//! Finds the agent that a prompt is for, by a sentence that only its template contains.

use mle_star_domain::role::{AgentType, Variant};

/// A task of an agent.
#[derive(Debug)]
pub struct Role {
    pub agent: AgentType,
    pub variant: Option<Variant>,
    template: &'static str,
    sentence: &'static str,
}

/// Every task of every agent.
pub const ROLES: [Role; 18] = [
    role(AgentType::Retriever, "retriever.md", "recent and effective models that could win this competition"),
    role(AgentType::Init, "init.md", "Write a solution in Python that is built around this model."),
    role(AgentType::Merger, "merger.md", "Integrate the reference solution into the base solution."),
    role(
        AgentType::Ablation,
        "ablation.md",
        "Write a simple Python script that performs an ablation study of train.py.",
    ),
    role(AgentType::Summarize, "summarize.md", "Summarize the result of this study from"),
    role(
        AgentType::Extractor,
        "extractor.md",
        "you choose one code block of the current solution and plan how to improve it.",
    ),
    role(AgentType::Coder, "coder.md", "You refine one code block of a solution according to a plan."),
    role(AgentType::Planner, "planner.md", "suggest a better plan for the block."),
    role(AgentType::EnsPlanner, "ens_planner.md", "Concentrate on how to merge the solutions"),
    role(AgentType::Ensembler, "ensembler.md", "into an ensemble according to a plan."),
    role(AgentType::Debugger, "debugger.md", "Fix the code so that this error no longer occurs."),
    task(Variant::Detection, "leakage_detection.md", "Determine whether this code leaks data."),
    task(Variant::Correction, "leakage_correction.md", "Rewrite the block so that it no longer leaks data."),
    role(
        AgentType::Data,
        "data.md",
        "Does the solution use all the information that is provided for training?",
    ),
    role(AgentType::Test, "test.md", "you write an excellent Python solution that creates the submission."),
    task(
        Variant::SubsamplingExtract,
        "test_subsampling_extract.md",
        "Extract the block of this script in which training samples are subsampled.",
    ),
    task(Variant::SubsamplingRemove, "test_subsampling_remove.md", "Remove the subsampling from this block"),
    task(
        Variant::Contamination,
        "test_contamination.md",
        "Judge whether the solution resembles the reference discussion",
    ),
];

const fn role(agent: AgentType, template: &'static str, sentence: &'static str) -> Role {
    Role { agent, variant: None, template, sentence }
}

const fn task(variant: Variant, template: &'static str, sentence: &'static str) -> Role {
    let agent = match variant {
        Variant::Detection | Variant::Correction => AgentType::Leakage,
        _ => AgentType::Test,
    };
    Role { agent, variant: Some(variant), template, sentence }
}

/// The task that a prompt is for.
pub fn role_of(prompt: &str) -> Option<&'static Role> {
    ROLES.iter().find(|role| prompt.contains(role.sentence))
}

#[test]
fn every_template_has_one_sentence_of_its_own() {
    for role in &ROLES {
        for (name, text) in mle_star::prompts::BUILT_IN {
            let count = usize::from(*name == role.template);
            assert_eq!(text.matches(role.sentence).count(), count, "{} in {name}", role.sentence);
        }
    }
    for (name, _) in mle_star::prompts::BUILT_IN {
        let count = ROLES.iter().filter(|role| role.template == *name).count();
        // One is of all agents, the others are parts of several templates.
        let is_shared = [
            "system.md",
            "attempts.md",
            "best_ensemble.md",
            "block.md",
            "learned.md",
            "lessons.md",
            "solution.md",
            "solutions.md",
            "time.md",
            "validation.md",
        ]
        .contains(name);
        assert_eq!(count, usize::from(!is_shared), "{name}");
    }
}
