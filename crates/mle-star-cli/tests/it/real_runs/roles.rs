//! Which agent a prompt is for: told by a sentence that only its template has.

use mle_star::role::{AgentType, Variant};

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
    role(AgentType::Init, "init.md", "build a solution in Python around that model."),
    role(AgentType::Merger, "merger.md", "build the reference into the base."),
    role(
        AgentType::Ablation,
        "ablation.md",
        "A simple Python script that makes an ablation study of train.py.",
    ),
    role(
        AgentType::Summarize,
        "summarize.md",
        "Summarize the result of this study from the code and its output",
    ),
    role(
        AgentType::Extractor,
        "extractor.md",
        "you pick one code block of the current solution and improve that.",
    ),
    role(AgentType::Coder, "coder.md", "You refine one code block of a solution according to a plan."),
    role(AgentType::Planner, "planner.md", "suggest a better plan for the block."),
    role(AgentType::EnsPlanner, "ens_planner.md", "The plan is about how to merge the solutions"),
    role(AgentType::Ensembler, "ensembler.md", "into an ensemble according to a plan."),
    role(AgentType::Debugger, "debugger.md", "Repair the code so that this error is gone."),
    task(Variant::Detection, "leakage_detection.md", "Find out whether this code leaks data."),
    task(Variant::Correction, "leakage_correction.md", "Rewrite the block so that nothing leaks any more."),
    role(
        AgentType::Data,
        "data.md",
        "Does the solution use all the information that is provided for training?",
    ),
    role(AgentType::Test, "test.md", "excellent Python solution that makes the submission."),
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
        assert_eq!(count, usize::from(*name != "system.md"), "{name}");
    }
}
