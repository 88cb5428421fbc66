//! The model's answers: the part of every agent, by rules on its prompt.

use mle_star_domain::role::{AgentType, Variant};
use serde_json::{Value, json};

use super::api::{Asked, Message, Reply};
use super::roles::role_of;
use super::scripts::{self, Style};

/// The answer to a request whose scenario is the run and the place of the call, joined by dots.
pub fn answer(asked: &Asked, style: Style) -> Reply {
    let message = match role_of(&asked.prompt()) {
        _ if is_search(asked) => Message::found_on_the_web(),
        Some(role) => match role.agent {
            AgentType::Retriever if may_use(asked, "WebSearch") && !has_used_tool(asked) => {
                Message::tool("WebSearch", &json!({"query": "models for small tables"}))
            }
            AgentType::Debugger if !has_used_tool(asked) => {
                Message::tool("Bash", &json!({"command": "head -3 input/train.csv"}))
            }
            agent => finished(asked, agent, role.variant, style),
        },
        None => {
            let text = "no agent is asked like this".to_owned();
            return Reply::Error { status: 400, kind: "invalid_request_error", text, retry_after: None };
        }
    };
    Reply::Message(message)
}

/// A search is a separate request to the same service, which performs it.
pub fn is_search(asked: &Asked) -> bool {
    let searches = |tool: &Value| tool["type"].as_str().is_some_and(|kind| kind.starts_with("web_search"));
    asked.body["tools"].as_array().into_iter().flatten().any(searches)
}

/// The number of requests of the call at a place.
pub fn requests(place: &str) -> usize {
    match place.rsplit('/').next().unwrap() {
        // It searches first, and the search is a request.
        "retriever" => 3,
        // It looks around first.
        "debugger" => 2,
        // Asked for a structured answer, the model answers in text and is asked again.
        _ if IN_WORDS.contains(&place) => 2,
        _ => 1,
    }
}

/// Places whose agents do not answer in the requested form.
const IN_WORDS: [&str; 3] = ["phase3/r0/leakage", "phase1/merge-1/leakage", "finalization/contamination-1"];

fn may_use(asked: &Asked, name: &str) -> bool {
    asked.body["tools"].as_array().into_iter().flatten().any(|tool| tool["name"] == name)
}

fn has_used_tool(asked: &Asked) -> bool {
    let messages = asked.body["messages"].as_array().into_iter().flatten();
    let mut blocks = messages.filter_map(|message| message["content"].as_array()).flatten();
    blocks.any(|block| block["type"] == "tool_result")
}

fn finished(asked: &Asked, agent: AgentType, variant: Option<Variant>, style: Style) -> Message {
    let (prompt, place) = (asked.prompt(), place(asked));
    let blocks = python_blocks(&prompt);
    let block = || blocks[0].clone();
    let is_right = style == Style::Flawless || !place.contains("/path-1/");
    let form = |value: Value| in_form(&place, &value);
    match (agent, variant) {
        (AgentType::Retriever, _) => form(models()),
        (AgentType::Init, _) => code(&scripts::init(style, prompt.contains(MODELS[0]))),
        (AgentType::Merger, _) => code(&scripts::merged(&blocks)),
        (AgentType::Ablation, _) => code(&scripts::ablation(&block(), is_right)),
        (AgentType::Summarize, _) => Message::text(summary(&prompt)),
        (AgentType::Extractor, _) => form(plans(&block(), is_right || !place.ends_with("/extractor"))),
        (AgentType::Coder, _) => code(&scripts::refined(&block(), &prompt)),
        (AgentType::Planner, _) => Message::text("Weaken the regularization: set C to 3.0; nothing else."),
        (AgentType::EnsPlanner, _) => {
            Message::text("Average the predictions of all models of all solutions.")
        }
        (AgentType::Ensembler, _) => code(&scripts::submitting(&scripts::merged(&blocks), true)),
        (AgentType::Debugger, _) => code(&scripts::repaired(&block())),
        (AgentType::Leakage, Some(Variant::Correction)) => code(&scripts::without_leak(&blocks[1])),
        (AgentType::Leakage, _) => form(leaks(&block())),
        (AgentType::Data, _) if style == Style::Learned => code(&scripts::with_planes(&block())),
        (AgentType::Data, _) => Message::text("All the provided information is used."),
        (AgentType::Test, Some(Variant::SubsamplingExtract)) => scripts::subsampling(&block())
            .map_or_else(|| Message::text("No subsampling found."), |block| code(&block)),
        (AgentType::Test, Some(Variant::SubsamplingRemove)) => code("# All training samples are used."),
        (AgentType::Test, Some(_)) => form(json!({"verdict": "Novel"})),
        (AgentType::Test, None) => code(&scripts::submitting(&block(), style != Style::Learned)),
    }
}

/// The names of the retrieved models.
const MODELS: [&str; 2] = ["Logistic regression", "Decision tree"];

fn models() -> Value {
    let model = |name: &str| {
        json!({
            "model_name": name, "example_code": "model.fit(X, y)", "sources": ["https://example.org/trees"],
        })
    };
    json!({"models": MODELS.map(model)})
}

/// The line with the models, or one that is not in the solution.
fn plans(solution: &str, is_right: bool) -> Value {
    let block = if is_right { scripts::models_line(solution) } else { "model = None".to_owned() };
    json!({"plans": [{"code_block": block, "plan": "Regularize more: set C to 0.3; nothing else."}]})
}

fn leaks(script: &str) -> Value {
    let (status, block) = match scripts::leak(script) {
        Some(leak) => ("Yes Data Leakage", leak),
        None => ("No Data Leakage", "train = read(\"train\")"),
    };
    json!({"answers": [{"leakage_status": status, "code_block": block}]})
}

fn summary(prompt: &str) -> String {
    let scores = prompt.lines().filter(|line| line.starts_with("baseline: ") || line.starts_with("without "));
    format!("The study says:\n{}", scores.collect::<Vec<_>>().join("\n"))
}

fn code(text: &str) -> Message {
    Message::text(format!("```python\n{}\n```", text.trim_end()))
}

fn in_form(place: &str, value: &Value) -> Message {
    if IN_WORDS.contains(&place) {
        return Message::text(format!("My answer:\n```json\n{value}\n```"));
    }
    Message::tool("StructuredOutput", value)
}

/// The place of the call: the scenario without the run.
pub fn place(asked: &Asked) -> String {
    asked.scenario.split_once('.').map_or(String::new(), |(_, place)| place.replace('.', "/"))
}

/// The Python blocks of a prompt.
fn python_blocks(prompt: &str) -> Vec<String> {
    let blocks = prompt.split("\n```python\n").skip(1);
    blocks.map(|rest| rest.split("\n```").next().unwrap().to_owned() + "\n").collect()
}
