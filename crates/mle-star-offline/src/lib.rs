//! Rule-based agents: they answer every role without a model, in the form that a model would use.
//!
//! [`OfflineAgents`] implements [`AgentBackend`] for tabular classification and regression. An answer
//! is a pure function of request, task and profile, so a run can be resumed and replayed. `writer` builds scripts
//! of named `sections` from templates; refinement edits one section by a strategy of the `catalogue`.

mod catalogue;
mod columns;
mod combine;
mod derived;
mod dropped;
mod families;
mod grouping;
mod history;
mod inputs;
mod joins;
mod leakage;
mod metric;
mod no_features;
mod outside_search;
mod pace;
mod pair;
mod portfolio;
mod problem;
mod propose;
mod refinement;
mod repair;
mod row_time;
mod sections;
mod study;
mod submission_layout;
mod targets;
mod templates;
mod unusual;
mod writer;

use async_trait::async_trait;
use mle_star::backend::AgentBackend;
use mle_star::event::EventSink;
use mle_star::stop::Stop;
use mle_star_domain::effects::{AgentReply, AgentRequest};
use mle_star_domain::metric::Direction;
use mle_star_domain::protocol::Split;
use mle_star_domain::role::{AgentType, Variant};
use mle_star_domain::task::Task;
use mle_star_domain::trouble::Trouble;
use serde_json::{Value, json};

use inputs::{Inputs, fenced};
use joins::Join;
use mle_star_tables::profile::Profile;
use outside_search::{contamination, submission_script, subsampling, unused_tables};
use portfolio::{Model, SINGLE_WORDS};
use problem::{FoldsFile, Problem};
use templates::TemplateError;

/// Rule-based agents for one task.
#[derive(Clone, Debug)]
pub struct OfflineAgents {
    problem: Problem,
    direction: Direction,
}

impl OfflineAgents {
    /// Agents for this task and its data. Scripts of the search read at most `subsample_limit` training rows, and
    /// validate on rows chosen like `split` says; without it, the profile shows whether whole groups stay together.
    ///
    /// # Errors
    /// The rules cannot solve this task; the hint names the field to set.
    pub fn new(
        task: &Task,
        profile: &Profile,
        subsample_limit: u32,
        split: Option<&Split>,
    ) -> Result<Self, Trouble> {
        let problem = Problem::new(task, profile, subsample_limit, split)?;
        let problem = problem.with_history(profile);
        Ok(Self { problem, direction: task.metric_direction })
    }

    /// The agents with this seed in their scripts, instead of the default one.
    #[must_use]
    pub fn with_seed(mut self, seed: u32) -> Self {
        self.problem.seed = seed;
        self.problem.sample_seed = seed;
        self
    }

    /// What the data plane is asked for the text that scripts compute the metric with.
    pub fn question_of_metric(&self) -> Value {
        let (metric, classes) = (self.problem.metric.id.to_string(), self.problem.compared_classes());
        json!({ "question": "source", "metric": metric, "classes": classes })
    }

    /// The agents whose scripts compute the metric with this text, the answer to [`Self::question_of_metric`]. Without it, they
    /// write no scripts.
    #[must_use]
    pub fn with_metric(mut self, source: Option<String>) -> Self {
        self.problem.metric.source = source;
        self
    }

    /// The agents whose scripts read their folds from `input/folds.csv`. Models learn from rows that are earlier than a
    /// validated period by at least `gap`, in seconds for dates, else in the unit of the time.
    #[must_use]
    pub fn with_folds_file(mut self, gap: f64) -> Self {
        let id = self.problem.layout.train_id.clone();
        self.problem.names.folds_file = Some(FoldsFile { id, gap, averages: false });
        self
    }

    /// The agents whose scripts use this number of folds, which the user's file has. Any fold may have all rows of a class.
    #[must_use]
    pub fn with_folds(mut self, folds: usize) -> Self {
        self.problem.folds = folds;
        self.problem.spreads = true;
        self
    }

    /// The agents whose scripts print the mean of the scores of the folds in the file, which are periods.
    #[must_use]
    pub fn averaging_periods(mut self) -> Self {
        self.problem.names.folds_file.iter_mut().for_each(|file| file.averages = true);
        self
    }

    /// Scripts with solutions that cost little: a constant, and a linear model of the columns as they are.
    ///
    /// # Errors
    /// A template is broken.
    pub fn baselines(&self) -> Result<Vec<String>, Trouble> {
        let problem = self.problem.plain();
        let script = |slug| Ok(writer::solution(&problem, Model::named(slug))?.text());
        let linear = if problem.columns.texts.is_empty() { "linear_quick" } else { SINGLE_WORDS };
        ["constant", linear].into_iter().map(script).collect::<Result<_, TemplateError>>().map_err(|error| {
            let message = format!("a built-in template does not render: {error:#}");
            Trouble::new(message, "this is a bug in mle-star, please report it")
        })
    }

    /// What models get beside the columns of the training table, in one line; `None` if it is nothing.
    pub fn features(&self) -> Option<String> {
        let problem = &self.problem;
        let history = problem.history.iter().map(|history| match history.series.as_slice() {
            [] => format!("earlier values of {}", problem.target),
            series => format!("earlier values of {} for each {}", problem.target, series.join(" and ")),
        });
        let pair = problem.pair.iter().map(|[one, other]| format!("factors of {one} and {other}"));
        let joins = problem.joins.iter().map(Join::words);
        let found: Vec<String> = history.chain(joins).chain(problem.derived.words()).chain(pair).collect();
        (!found.is_empty()).then(|| format!("features: {}", found.join("; ")))
    }

    fn answer(&self, request: &AgentRequest) -> Result<String, TemplateError> {
        let (inputs, told) = (Inputs(&request.inputs), Inputs(&request.told));
        let problem = &self.problem;
        let path = request.place.path().unwrap_or(0);
        Ok(match request.agent {
            AgentType::Retriever => propose::retriever(problem, inputs, told),
            AgentType::Init => propose::init(problem, inputs)?,
            AgentType::Merger => combine::merger(problem, inputs)?,
            AgentType::Ablation => study::ablation(problem, inputs, told, path)?,
            AgentType::Summarize => study::summarize(inputs),
            AgentType::Extractor => study::extractor(problem, inputs, path),
            AgentType::Coder => refinement::coder(problem, inputs),
            AgentType::Planner => refinement::planner(problem, self.direction, inputs, path),
            AgentType::EnsPlanner => combine::ens_planner(problem, inputs),
            AgentType::Ensembler => combine::ensembler(problem, inputs)?,
            AgentType::Debugger => repair::debugger(problem, inputs)?,
            // No rule rewrites a leak, so the block stays, and the program gives the script no score.
            AgentType::Leakage if request.variant == Some(Variant::Correction) => {
                fenced(inputs.text("code_block"))
            }
            AgentType::Leakage => leakage::detection(problem.targets(), inputs),
            AgentType::Data => unused_tables::use_unused_tables(problem, inputs)?,
            AgentType::Test => match request.variant {
                Some(Variant::SubsamplingExtract) => subsampling::extract_block(inputs),
                Some(Variant::SubsamplingRemove) => subsampling::replacement_block(problem, inputs),
                Some(Variant::Contamination) => contamination::check(inputs),
                _ => submission_script::submission_script(problem, inputs)?,
            },
        })
    }
}

#[async_trait]
impl AgentBackend for OfflineAgents {
    async fn ask(&self, request: &AgentRequest, _events: &dyn EventSink) -> Result<AgentReply, Stop> {
        self.answer(request).map(AgentReply::text).map_err(|error| Stop::Bug {
            place: request.place.clone(),
            what: format!("a built-in template does not render: {error:#}"),
        })
    }
}
