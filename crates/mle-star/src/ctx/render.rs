//! Renders the prompts of a call: what its agent is told.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::Ctx;
use crate::abilities::asks_for_model;
use crate::call::Call;
use crate::journal::Frozen;
use crate::lessons::{EarlierRun, MAX_LINES_PER_RUN, ablation_lines, lessons, mention_attempts, rounded};
use crate::prompts;
use crate::stop::Stop;
use mle_star_domain::config::{Context, Switch};
use mle_star_domain::effects::Purpose;
use mle_star_domain::protocol::{Detail, Protocol, Shift};
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
        ("by_order", json!(frozen.protocol.as_ref().is_some_and(|protocol| protocol.by_order))),
        ("samples", json!(frozen.samples())),
        ("data_summary", json!(frozen.data_summary.as_deref().unwrap_or_default())),
    ];
    values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

impl Ctx<'_> {
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
        let (prompt, shared) = prompts::parts(&self.render_template(call.template, &values)?);
        Ok(Rendered { system, prompt, shared, told })
    }

    pub(super) fn render_template(
        &self,
        name: &str,
        values: &BTreeMap<&String, &Value>,
    ) -> Result<String, Stop> {
        let rendered = self.run.prompts.render(name, values);
        rendered.map(|text| text.trim_end().to_owned()).map_err(|error| {
            let hint = "compare it with the built-in one: `mle-star prompts export DIR`";
            Trouble::new(error.to_string(), hint).into()
        })
    }

    /// The values that do not depend on the call, except for what its agent does not need.
    pub(super) fn values(&self, agent: AgentType, variant: Option<Variant>) -> Map<String, Value> {
        let full = self.tells_more();
        let mut values = self.run.common.clone();
        // How scripts have to validate, one sentence each; empty for the paper's way.
        let rules = self.protocol().map(|protocol| {
            let found = self.run.shift.get().map(Shift::sentences).unwrap_or_default();
            let detail = if full { Detail::Folds { seed: self.config().seed } } else { Detail::Brief };
            protocol.validation_rules(detail).into_iter().chain(found).collect::<Vec<_>>()
        });
        let of_run = [
            // Templates of users ask it, and those of runs from before there were two sets.
            ("full", json!(full)),
            ("cut", json!(prompts::CUT)),
            ("needs_task", json!(!full || role::needs_task(agent, variant))),
            ("needs_validation", json!(role::needs_validation(agent, variant))),
            ("needs_data", json!(role::needs_data(agent))),
            ("predicts", json!(full && self.verifies() && self.config().ensemble_selection == Switch::On)),
            ("validation", json!(rules.unwrap_or_default())),
            ("columns", json!(self.task().column_rules())),
            ("acceptance", json!(self.acceptance())),
            ("verifies", json!(self.verifies())),
            ("class_scores", json!(self.protocol().is_some_and(|protocol| protocol.class_scores))),
            ("later", json!(self.protocol().is_some_and(Protocol::tests_later))),
            ("keeps_model", json!(asks_for_model(self.config()))),
            ("by_period", json!(self.protocol().is_some_and(|protocol| protocol.mean_over_periods))),
        ];
        values.extend(of_run.map(|(name, value)| (name.to_owned(), value)));
        values
    }

    /// What the run tried so far, and how many seconds the next script may run.
    fn values_of_now(&self) -> Map<String, Value> {
        let (limits, now, step) = (&self.run.limits, self.run.journal.elapsed(), self.place.step());
        let direction = self.task().metric_direction;
        let lessons = lessons(&self.history().verdicts, direction, step, MAX_LINES_PER_RUN);
        let found = ablation_lines(&self.history().studies, step);
        let noise = self.history().noise();
        let (slots, script_limit) = (self.run.outside.script_slots.most(), self.script_limit(Purpose::Score));
        let aim = limits.aim(&self.place, self.config(), slots, script_limit, now);
        let values = [
            ("attempts_told", json!(mention_attempts(&lessons))),
            ("lessons", json!(lessons)),
            ("found", json!(found)),
            ("noise", json!(noise.map(|noise| rounded(noise, 2)))),
            ("script_limit", json!(script_limit)),
            ("study_limit", json!(self.script_limit(Purpose::Ablation))),
            ("planned", json!(limits.phase_seconds_left(now).floor())),
            ("aim", json!(aim)),
        ];
        values.map(|(name, value)| (name.to_owned(), value)).into_iter().collect()
    }

    /// How long a script for this purpose may run now, in whole seconds.
    pub(crate) fn script_limit(&self, purpose: Purpose) -> f64 {
        let now = self.run.journal.elapsed();
        self.run.limits.script_timeout(&self.place, purpose, now).as_secs_f64().floor()
    }
}
