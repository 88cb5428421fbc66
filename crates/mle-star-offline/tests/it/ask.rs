//! Asks the offline agents, one role or a sequence of them.

use std::time::Duration;

use mle_star::backend::AgentBackend;
use mle_star::event::NoEvents;
use mle_star_domain::effects::{AgentRequest, Answer};
use mle_star_domain::place::Place;
use mle_star_domain::role::{AgentType, Variant};
use mle_star_offline::OfflineAgents;
use serde_json::{Value, json};

/// One question to the agents, answered as text.
pub(super) struct Asked<'a> {
    pub(super) agents: &'a OfflineAgents,
    pub(super) place: &'a str,
}

impl Asked<'_> {
    pub(super) fn ask(&self, agent: AgentType, variant: Option<Variant>, inputs: Value) -> String {
        self.ask_telling(agent, variant, inputs, json!({}))
    }

    /// The answer of an agent whose prompt tells this beyond its inputs.
    pub(super) fn ask_telling(
        &self,
        agent: AgentType,
        variant: Option<Variant>,
        inputs: Value,
        told: Value,
    ) -> String {
        let (Value::Object(inputs), Value::Object(told)) = (inputs, told) else { panic!("inputs are maps") };
        let request = AgentRequest {
            place: Place::from(self.place),
            agent,
            variant,
            system: String::new(),
            prompt: "a prompt that a user may have changed".to_owned(),
            shared: Vec::new(),
            inputs,
            told,
            tools: &[],
            schema: None,
            model: "offline".to_owned(),
            timeout: Duration::from_secs(60),
            time_left: Duration::from_secs(60),
            max_usd: None,
        };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let reply = runtime.block_on(self.agents.ask(&request, &NoEvents)).unwrap();
        assert_eq!(reply.usage.cost_usd, Some(0.0));
        match reply.answer {
            Answer::Text { text, .. } => text,
            other => panic!("{other:?}"),
        }
    }

    pub(super) fn code(&self, agent: AgentType, variant: Option<Variant>, inputs: Value) -> String {
        code_of(&self.ask(agent, variant, inputs))
    }

    pub(super) fn json(&self, agent: AgentType, variant: Option<Variant>, inputs: Value) -> Value {
        serde_json::from_str(&self.ask(agent, variant, inputs)).unwrap()
    }
}

/// The code of a reply that is one fenced block and nothing else.
pub(super) fn code_of(reply: &str) -> String {
    let inside = reply.trim().strip_prefix("```python\n").and_then(|rest| rest.strip_suffix("\n```"));
    let code = inside.unwrap_or_else(|| panic!("not one fenced block: {reply}"));
    assert!(!code.contains("```"), "{reply}");
    code.to_owned()
}

/// A script that blends two families.
pub(super) fn merged(asked: &Asked<'_>, families: [&str; 2]) -> String {
    merged_without(asked, families, &json!([]))
}

/// A script that blends two families, of a task with suspicious columns.
pub(super) fn merged_without(asked: &Asked<'_>, families: [&str; 2], suspicious: &Value) -> String {
    let init = |family: &str| {
        let inputs = json!({ "model_name": family, "suspicious_columns": suspicious });
        asked.code(AgentType::Init, None, inputs)
    };
    let inputs = json!({ "base_code": init(families[0]), "reference_code": init(families[1]) });
    asked.code(AgentType::Merger, None, inputs)
}

/// The script after the data check: unused tables joined.
pub(super) fn with_data(asked: &Asked<'_>, script: &str) -> String {
    let reply =
        asked.ask(AgentType::Data, None, json!({ "initial_solution": script, "task_description": "" }));
    if reply.contains("```") { code_of(&reply) } else { script.to_owned() }
}

/// The blocks that the extractor names in repeated calls.
pub(super) fn blocks(asked: &Asked<'_>, script: &str) -> Vec<(String, String)> {
    let mut previous: Vec<String> = Vec::new();
    let mut blocks = Vec::new();
    for _ in 0..12 {
        let inputs = json!({
            "solution_script": script, "ablation_summary": "", "previous_code_blocks": previous, "note": "",
        });
        let plans = asked.json(AgentType::Extractor, None, inputs);
        let plan = &plans["plans"][0];
        let (block, plan) = (plan["code_block"].as_str().unwrap(), plan["plan"].as_str().unwrap());
        if previous.iter().any(|one| one == block) {
            break;
        }
        previous.push(block.to_owned());
        blocks.push((block.to_owned(), plan.to_owned()));
    }
    blocks
}

/// Every refinement of every block, until the planner has no more plans.
pub(super) fn refinements(asked: &Asked<'_>, script: &str) -> Vec<(String, String)> {
    let mut changed = Vec::new();
    for (block, first) in blocks(asked, script) {
        assert_eq!(script.matches(&block).count(), 1, "{block}");
        let mut plans = vec![first];
        while plans.len() < 20 {
            let plan = plans.last().unwrap().clone();
            let edited = asked.code(AgentType::Coder, None, json!({ "code_block": block, "plan": plan }));
            if edited.trim() == block.trim() {
                break;
            }
            let label = plan.split(". ").next().unwrap_or_default().to_owned();
            changed.push((label, script.replacen(&block, &edited, 1)));
            let scores: Vec<f64> = (0..plans.len()).map(|position| 0.5 + position as f64 / 100.0).collect();
            let inputs = json!({ "code_block": block, "plans": plans, "scores": scores });
            plans.push(asked.ask(AgentType::Planner, None, inputs));
        }
    }
    changed
}

/// One ensemble for every plan of the ensemble planner.
pub(super) fn ensembles(asked: &Asked<'_>, solutions: &[&str]) -> Vec<(String, String)> {
    let mut plans: Vec<String> = Vec::new();
    let mut made = Vec::new();
    loop {
        let scores: Vec<f64> = plans.iter().map(|_| 0.5).collect();
        let inputs = json!({ "solutions": solutions, "plans": plans, "scores": scores });
        let plan = asked.ask(AgentType::EnsPlanner, None, inputs);
        if plans.contains(&plan) {
            return made;
        }
        let inputs = json!({ "solutions": solutions, "plan": plan });
        made.push((plan.clone(), asked.code(AgentType::Ensembler, None, inputs)));
        plans.push(plan);
    }
}
