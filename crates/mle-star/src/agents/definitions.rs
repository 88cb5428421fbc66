//! The fourteen agents as entries of the SDK's `agents` map.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::prompts::built_in;
use mle_star_domain::config::Config;
use mle_star_domain::role::AgentType;

/// All agents by name, with `description`, `prompt`, `tools` and `model`.
///
/// The values of a template are known only when an agent is called, so `prompt` is the template itself: the one in
/// `prompts`, by file name, otherwise the built-in one. An agent without its own model uses that of the run.
pub fn definitions(config: &Config, prompts: &BTreeMap<String, String>) -> Map<String, Value> {
    let built_in = built_in(config.context);
    let definition = |agent: AgentType| {
        // The template of its first task. Only leakage has none with its own name.
        let task = if agent == AgentType::Leakage { "leakage_detection" } else { agent.name() };
        let (role, file) = (agent.definition(), format!("{task}.md"));
        let built_in = || built_in.get(file.as_str()).copied();
        let prompt = prompts.get(&file).map(String::as_str).or_else(built_in).unwrap_or_default();
        let model = config.agent_models.get(&agent).map_or("inherit", String::as_str);
        let entry = json!({
            "description": role.description, "prompt": prompt, "tools": role.tools, "model": model,
        });
        (agent.name().to_owned(), entry)
    };
    AgentType::ALL.into_iter().map(definition).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_agent_is_defined_with_its_template_tools_and_model() {
        let mut config = Config::default();
        config.agent_models.insert(AgentType::Coder, "haiku".to_owned());
        let replaced = BTreeMap::from([("coder.md".to_owned(), "Write code.".to_owned())]);
        let definitions = definitions(&config, &replaced);
        assert_eq!(definitions.len(), 14);
        assert_eq!(
            definitions["coder"],
            json!({
                "description": AgentType::Coder.definition().description,
                "prompt": "Write code.", "tools": [], "model": "haiku",
            })
        );
        assert_eq!(definitions["debugger"]["tools"], json!(["Read", "Bash"]));
        for agent in AgentType::ALL {
            let entry = &definitions[agent.name()];
            let is_empty = |name: &str| entry[name].as_str().is_none_or(str::is_empty);
            assert!(!is_empty("description") && !is_empty("prompt"), "{entry}");
            assert!(agent == AgentType::Coder || entry["model"] == "inherit", "{entry}");
        }
    }
}
