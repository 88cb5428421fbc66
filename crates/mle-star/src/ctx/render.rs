//! Renders the prompts of a call: what its agent is told.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::Ctx;
use crate::call::Call;
use crate::journal::Frozen;
use crate::lessons::{EarlierRun, tell_attempts};
use crate::prompts::{PromptError, Values};
use crate::stop::Stop;
use mle_star_domain::config::{Acceptance, Context, Switch};
use mle_star_domain::effects::Purpose;
use mle_star_domain::protocol::SplitKind;
use mle_star_domain::role::{self, AgentType, Variant};
use mle_star_domain::trouble::Trouble;

/// The rendered templates of a call.
pub(super) struct Rendered {
    pub system: String,
    pub prompt: String,
    /// Where the prompt's first parts end, which other calls share.
    pub shared: Vec<usize>,
    /// What the prompt tells beyond the call's inputs.
    pub told: Map<String, Value>,
}

/// What a template writes where a part ends that other calls share; never part of a prompt. Unicode has no such
/// characters.
const CUT: &str = "\u{FDD0}cut\u{FDD1}";

/// The values that are the same for every call of the run.
pub(super) fn common(frozen: &Frozen, environment: &str) -> Map<String, Value> {
    let Frozen { task, config, learned, .. } = frozen;
    let tells = |run: &&EarlierRun| config.context == Context::Full && !run.lines.is_empty();
    let values = [
        ("task_description", json!(task.description)),
        ("metric", json!(task.evaluation_metric)),
        ("formula", json!(frozen.protocol.as_ref().map_or("", |protocol| protocol.formula.as_str()))),
        ("direction", json!(task.metric_direction)),
        ("comparative", json!(task.metric_direction.comparative())),
        ("subsample_limit", json!(config.subsample_limit)),
        ("seed", json!(config.seed)),
        ("environment", json!(environment)),
        // The program's own environment has it.
        ("has_cloudpickle", json!(config.python.is_none())),
        ("learned", json!(learned.iter().filter(tells).collect::<Vec<_>>())),
        ("linked_tables", json!(frozen.linked_tables)),
        ("samples", json!(samples(frozen))),
        ("data_summary", json!(frozen.data_summary.as_deref().unwrap_or_default())),
    ];
    values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Whether scripts of the search draw a sample of the training rows: the table has more than they may use, or its rows are not
/// known.
fn samples(frozen: &Frozen) -> bool {
    let rows = frozen.protocol.as_ref().map_or(0, |protocol| protocol.rows);
    rows == 0 || rows > u64::from(frozen.config.subsample_limit)
}

impl<'a> Ctx<'a> {
    /// The scripts' environment, in a few lines.
    pub(crate) fn environment(&self) -> &'a str {
        self.run.outside.environment
    }

    /// Whether the agents are told more than in the paper.
    pub(crate) fn tells_more(&self) -> bool {
        self.run.config.context == Context::Full
    }

    /// Whether agents are asked for a submission script that keeps its model. The scripts of the built-in rules do so anyway.
    pub(crate) fn asks_for_model(&self) -> bool {
        self.tells_more() && !self.agents().are_free
    }

    /// Which of its tools an agent gets. Agents that are told about the data need not read it for an ablation study, which
    /// changes a script that works. Without tools, its prompt begins as those of coder and planner do, so that services
    /// cache the solution once.
    pub(super) fn tools(&self, agent: AgentType, tools: &'static [&'static str]) -> &'static [&'static str] {
        if agent == AgentType::Ablation && self.tells_more() { &[] } else { tools }
    }

    /// Renders the templates of a call.
    pub(super) fn render(&self, call: &Call) -> Result<Rendered, Stop> {
        let of_run = self.values(call.agent, call.variant);
        let mut values: BTreeMap<&String, &Value> = of_run.iter().collect();
        let system = self.render_template("system.md", &values)?;
        let told = if self.tells_more() { self.values_of_now() } else { Map::new() };
        let context = call.context.clone().into_iter().filter(|_| self.tells_more());
        let told: Map<String, Value> = told.into_iter().chain(context).collect();
        values.extend(&told);
        values.extend(call.inputs.iter().chain(&call.rendered_only));
        let (prompt, shared) = parts(&self.render_template(call.template, &values)?);
        Ok(Rendered { system, prompt, shared, told })
    }

    fn render_template(&self, name: &str, values: &BTreeMap<&String, &Value>) -> Result<String, Stop> {
        let rendered = self.run.prompts.render(name, &Values::new(values));
        rendered.map(|text| text.trim_end().to_owned()).map_err(|error| template_trouble(&error))
    }

    /// The values that do not depend on the call, except for what its agent does not need.
    fn values(&self, agent: AgentType, variant: Option<Variant>) -> Map<String, Value> {
        let full = self.tells_more();
        let mut values = self.run.common.clone();
        let of_run = [
            ("full", json!(full)),
            ("cut", json!(CUT)),
            ("needs_task", json!(!full || role::needs_task(agent, variant))),
            ("needs_validation", json!(role::needs_validation(agent, variant))),
            ("needs_data", json!(role::needs_data(agent))),
            ("predicts", json!(full && self.verifies() && self.config().ensemble_selection == Switch::On)),
            ("validation", self.validation_rules()),
            ("columns", json!(self.run.task.column_rules())),
            ("strict", json!(self.config().acceptance == Acceptance::OneSigma)),
            ("verifies", json!(self.verifies())),
            ("class_scores", json!(self.protocol().is_some_and(|protocol| protocol.class_scores))),
            ("later", json!(self.tests_later())),
            ("keeps_model", json!(self.asks_for_model())),
            ("by_period", json!(self.protocol().is_some_and(|protocol| protocol.mean_over_periods))),
        ];
        values.extend(of_run.map(|(name, value)| (name.to_owned(), value)));
        values
    }

    /// Whether scripts of the search draw a sample of the training rows.
    pub(super) fn samples(&self) -> bool {
        self.run.common.get("samples").is_none_or(|samples| *samples == json!(true))
    }

    /// Whether further tables can be joined to the training table.
    pub(crate) fn has_linked_tables(&self) -> bool {
        self.run.common.get("linked_tables").is_some_and(|linked| *linked == json!(true))
    }

    /// Whether the test rows are later than the training rows.
    pub(crate) fn tests_later(&self) -> bool {
        let split = self.protocol().and_then(|protocol| protocol.split.as_ref());
        split.is_some_and(|split| split.kind == SplitKind::Time)
    }

    /// Whether the metric depends on the order of predictions alone.
    pub(crate) fn is_by_order(&self) -> bool {
        self.protocol().is_some_and(|protocol| protocol.by_order)
    }

    /// What the run tried so far, and how many seconds the next script may run.
    fn values_of_now(&self) -> Map<String, Value> {
        let lessons = self.lessons();
        let planned = self.run.limits.planned(self.run.journal.elapsed());
        let values = [
            ("attempts_told", json!(tell_attempts(&lessons))),
            ("lessons", json!(lessons)),
            ("found", json!(self.found())),
            ("script_limit", json!(self.script_limit(Purpose::Score))),
            ("study_limit", json!(self.script_limit(Purpose::Ablation))),
            ("planned", json!(planned.floor())),
            ("aim", json!(self.aim())),
        ];
        values.map(|(name, value)| (name.to_owned(), value)).into_iter().collect()
    }

    /// How long a script for this purpose may run now, in whole seconds.
    pub(crate) fn script_limit(&self, purpose: Purpose) -> f64 {
        let now = self.run.journal.elapsed();
        self.run.limits.script_timeout(&self.place, purpose, now).as_secs_f64().floor()
    }

    /// The system prompt of an agent; empty if it cannot be rendered.
    pub(super) fn system(&self, agent: AgentType, variant: Option<Variant>) -> String {
        let values = self.values(agent, variant);
        self.render_template("system.md", &values.iter().collect()).unwrap_or_default()
    }
}

/// The text without its cuts, and where they were, in bytes.
fn parts(text: &str) -> (String, Vec<usize>) {
    let (mut prompt, mut ends) = (String::new(), Vec::new());
    for piece in text.split(CUT) {
        prompt.push_str(piece);
        ends.push(prompt.len());
    }
    ends.pop();
    (prompt, ends)
}

fn template_trouble(error: &PromptError) -> Stop {
    Trouble::new(error.to_string(), "compare it with the built-in one: `mle-star prompts export DIR`").into()
}
