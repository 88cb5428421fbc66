//! A world for tests: agents and scripts that answer by place.
//!
//! [`World`] implements both traits of [`backend`](crate::backend). By default everything succeeds: code runs,
//! scores are 0.5, there is no leakage, the submission is valid. [`World::trace`] lists the effects performed,
//! which most tests compare. [`worlds`] contains worlds that several crates use, [`called`] is for tests of backends.

pub mod called;
mod inputs;
mod outcomes;
pub mod worlds;

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};

use crate::backend::{AgentBackend, ScriptRunner};
use crate::composition::Composition;
use crate::ctx::Outside;
use crate::event::{Event, EventSink};
use crate::journal::{Frozen, Journal};
use crate::outcomes::RunFacts;
use crate::pipeline::{self, FinishedRun};
use crate::prompts::Prompts;
use crate::scored::{Evidence, Scored};
use crate::slots::Slots;
use crate::solution::{Solution, SolutionPhase};
use crate::stop::Stop;
use mle_star_domain::effects::{
    AgentReply, AgentRequest, Purpose, ScriptEnd, ScriptOutcome, ScriptRequest, Usage,
};
use mle_star_domain::metric::{Direction, Score};
use mle_star_domain::place::{Place, Step};
use mle_star_domain::question::{
    Answer, CombinedBy, Comparison, Copies, FileStem, HoldoutScore, Importance, Question, Refit,
};
use mle_star_domain::role::{AgentType, Variant};
use mle_star_domain::trouble::Trouble;

pub use inputs::{frozen, protocol, task};
pub use outcomes::{failed, measured, measurement, ran, scored_with_submission, submitted};

/// What the call at a place uses.
type Used = Box<dyn Fn(&Place) -> Usage + Send + Sync>;

/// Agents and scripts by place.
#[derive(Default)]
pub struct World {
    agents: HashMap<String, AgentReply>,
    scripts: HashMap<String, ScriptOutcome>,
    first_scripts: Mutex<HashMap<String, VecDeque<ScriptOutcome>>>,
    stops: Mutex<HashMap<String, Stop>>,
    panics: HashSet<String>,
    stalls: HashSet<String>,
    agent_time: Duration,
    script_time: Duration,
    cost_usd: Option<f64>,
    dear: HashMap<String, f64>,
    used: Option<Used>,
    held_out: HashMap<String, Vec<f64>>,
    importance: Option<Importance>,
    without_copies: String,
    answers: HashMap<String, Answer>,
    only_traces: bool,
    log: Mutex<Log>,
}

#[derive(Default)]
struct Log {
    requests: Vec<AgentRequest>,
    scripts: Vec<ScriptRequest>,
    trace: Vec<Place>,
    events: Vec<Event>,
}

impl World {
    /// A world in which everything succeeds immediately and without cost.
    pub fn new() -> Self {
        Self { cost_usd: Some(0.0), ..Self::default() }
    }

    /// The agent asked at `place` answers `text`.
    #[must_use]
    pub fn agent(self, place: &str, text: &str) -> Self {
        self.reply(place, AgentReply::text(text))
    }

    /// The agent asked at `place` fails.
    #[must_use]
    pub fn agent_fails(self, place: &str) -> Self {
        self.reply(place, AgentReply::failed("the agent died", Usage::default()))
    }

    /// The agent asked at `place` gives this reply.
    #[must_use]
    pub fn reply(mut self, place: &str, reply: AgentReply) -> Self {
        self.agents.insert(place.to_owned(), reply);
        self
    }

    /// The script run at `place` prints this score.
    #[must_use]
    pub fn scores(self, place: &str, score: f64) -> Self {
        self.script(place, ran(Some(score)))
    }

    /// The submission written at `place` has these scores on held-out rows: the score, then its bootstrap replicates.
    #[must_use]
    pub fn held_out(mut self, place: &str, scores: &[f64]) -> Self {
        self.held_out.insert(place.to_owned(), scores.to_vec());
        self
    }

    /// The answer to the question at `place`.
    #[must_use]
    pub fn answers(mut self, place: &str, answer: impl Into<Answer>) -> Self {
        self.answers.insert(place.to_owned(), answer.into());
        self
    }

    /// How much the score depends on each column. Without this, the question is not known to have an answer.
    #[must_use]
    pub fn depends_on(mut self, importance: Importance) -> Self {
        self.importance = Some(importance);
        self
    }

    /// That copies of rows with permuted columns cannot be made, and why.
    #[must_use]
    pub fn without_copies(mut self, why: &str) -> Self {
        why.clone_into(&mut self.without_copies);
        self
    }

    /// The script run at `place` fails with a traceback.
    #[must_use]
    pub fn fails(self, place: &str) -> Self {
        self.script(place, failed("ValueError: broken"))
    }

    /// The script run at `place` has this outcome.
    #[must_use]
    pub fn script(mut self, place: &str, outcome: ScriptOutcome) -> Self {
        self.scripts.insert(place.to_owned(), outcome);
        self
    }

    /// The script run at `place` has this outcome the first time, and its usual outcome after that. Called again: the
    /// outcome of the next time.
    #[must_use]
    pub fn at_first(self, place: &str, outcome: ScriptOutcome) -> Self {
        self.lock_first_scripts().entry(place.to_owned()).or_default().push_back(outcome);
        self
    }

    /// The runner of the script at `place` is lost this many times, for the reasons `loss 1`, `loss 2` and so on.
    #[must_use]
    pub fn loses(self, place: &str, times: usize) -> Self {
        let lost = |time| ScriptOutcome::lost(format!("loss {time}"));
        (1..=times).fold(self, |world, time| world.at_first(place, lost(time)))
    }

    /// The script at `place` never begins, as if its data did not reach its runner.
    #[must_use]
    pub fn stalls(mut self, place: &str) -> Self {
        self.stalls.insert(place.to_owned());
        self
    }

    /// The effect at `place` panics, like a defect of the program.
    #[must_use]
    pub fn panics(mut self, place: &str) -> Self {
        self.panics.insert(place.to_owned());
        self
    }

    /// The effect at `place` stops the run once.
    #[must_use]
    pub fn breaks_once(self, place: &str) -> Self {
        self.lock_stops().insert(place.to_owned(), Trouble::new("the outside is broken", "mend it").into());
        self
    }

    /// The call at `place` fails once because no agent can be asked. It has this usage.
    #[must_use]
    pub fn denies_once(self, place: &str, usage: Usage) -> Self {
        let trouble = Trouble::new("the login was refused", "mend it");
        self.lock_stops().insert(place.to_owned(), Stop::Agents { trouble: Box::new(trouble), usage });
        self
    }

    /// Each agent call and each script takes this long, in seconds of the tokio clock.
    #[must_use]
    pub fn takes(self, agent_seconds: u64, script_seconds: u64) -> Self {
        Self {
            agent_time: Duration::from_secs(agent_seconds),
            script_time: Duration::from_secs(script_seconds),
            ..self
        }
    }

    /// Each agent call takes this long, by the tokio clock.
    #[must_use]
    pub fn agents_take(self, agent_time: Duration) -> Self {
        Self { agent_time, ..self }
    }

    /// Keeps only the places of the effects, not requests, scripts and events.
    #[must_use]
    pub fn only_traces(self) -> Self {
        Self { only_traces: true, ..self }
    }

    /// Each agent call costs this much; `None` if unknown.
    #[must_use]
    pub fn costs(self, cost_usd: Option<f64>) -> Self {
        Self { cost_usd, ..self }
    }

    /// The agent call at `place` costs this much, whatever the others do.
    #[must_use]
    pub fn costs_at(mut self, place: &str, cost_usd: f64) -> Self {
        self.dear.insert(place.to_owned(), cost_usd);
        self
    }

    /// The call at each place uses what `used` tells, whatever else is set.
    #[must_use]
    pub fn uses(self, used: impl Fn(&Place) -> Usage + Send + Sync + 'static) -> Self {
        Self { used: Some(Box::new(used)), ..self }
    }

    /// Runs `frozen` in this world, on a journal that may already have records, with eight concurrent agents.
    ///
    /// # Errors
    /// The stop that ended the run.
    pub async fn solve(
        &self,
        frozen: &Frozen,
        journal: &Journal,
        script_slots: &Slots,
    ) -> Result<FinishedRun, Stop> {
        let (_sender, cancel) = tokio::sync::watch::channel(false);
        let prompts = Prompts::new(frozen.config.context, BTreeMap::new());
        let prompts =
            prompts.map_err(|error| Trouble::new(error.to_string(), "mend the built-in templates"))?;
        let outside = Outside {
            agents: self,
            scripts: self,
            events: self,
            cancel: &cancel,
            environment: "Python 3",
            script_slots,
            agent_slots: &Slots::new(8),
        };
        pipeline::run(frozen, &prompts, journal, outside).await
    }

    /// The places of the effects performed, in order of start.
    pub fn trace(&self) -> Vec<String> {
        self.log().trace.iter().map(ToString::to_string).collect()
    }

    /// The request made at `place`.
    pub fn request(&self, place: &str) -> Option<AgentRequest> {
        self.log().requests.iter().find(|request| request.place.as_str() == place).cloned()
    }

    /// The script run at `place`.
    pub fn script_run(&self, place: &str) -> Option<ScriptRequest> {
        self.log().scripts.iter().find(|request| request.place.as_str() == place).cloned()
    }

    /// The events so far.
    pub fn events(&self) -> Vec<Event> {
        self.log().events.clone()
    }

    /// Forgets everything seen so far. The answers stay.
    pub fn forget(&self) {
        *self.log() = Log::default();
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn remember(&self, what: impl FnOnce(&mut Log)) {
        if !self.only_traces {
            what(&mut self.log());
        }
    }

    fn lock_stops(&self) -> MutexGuard<'_, HashMap<String, Stop>> {
        self.stops.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_first_scripts(&self) -> MutexGuard<'_, HashMap<String, VecDeque<ScriptOutcome>>> {
        self.first_scripts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stop(&self, place: &Place) -> Result<(), Stop> {
        assert!(!self.panics.contains(place.as_str()), "a defect at {place}");
        self.lock_stops().remove(place.as_str()).map_or(Ok(()), Err)
    }
}

#[async_trait]
impl AgentBackend for World {
    async fn ask(&self, request: &AgentRequest, _events: &dyn EventSink) -> Result<AgentReply, Stop> {
        self.log().trace.push(request.place.clone());
        self.remember(|log| log.requests.push(request.clone()));
        self.stop(&request.place)?;
        pause(self.agent_time).await;
        let set = self.agents.get(request.place.as_str()).cloned();
        let mut reply = set.unwrap_or_else(|| AgentReply::text(usual_answer(request)));
        reply.usage.cost_usd = self.dear.get(request.place.as_str()).copied().or(self.cost_usd);
        if let Some(used) = &self.used {
            reply.usage = used(&request.place);
        }
        Ok(reply)
    }
}

#[async_trait]
impl ScriptRunner for World {
    async fn run(&self, request: &ScriptRequest) -> Result<ScriptOutcome, Stop> {
        self.log().trace.push(request.place.clone());
        self.remember(|log| log.scripts.push(request.clone()));
        self.stop(&request.place)?;
        if self.stalls.contains(request.place.as_str()) {
            std::future::pending::<()>().await;
        }
        let wanted = self.script_time;
        pause(wanted.min(request.timeout)).await;
        let mut first_scripts = self.lock_first_scripts();
        let first = first_scripts.get_mut(request.place.as_str()).and_then(VecDeque::pop_front);
        drop(first_scripts);
        let mut outcome = match first.or_else(|| self.scripts.get(request.place.as_str()).cloned()) {
            _ if wanted > request.timeout => ScriptOutcome { end: ScriptEnd::TimedOut, ..ran(None) },
            Some(set) => set,
            None => usual_outcome(request),
        };
        let took = wanted.min(request.timeout).as_secs_f64();
        outcome.duration_seconds = outcome.duration_seconds.max(took);
        Ok(outcome)
    }

    async fn answer(&self, place: &Place, question: &Question, _: Duration) -> Result<Answer, Stop> {
        if !matches!(question, Question::Agreement { .. } | Question::Copies { .. }) {
            self.log().trace.push(place.clone());
        }
        self.stop(place)?;
        let set = self.answers.get(place.as_str()).cloned();
        Ok(set.unwrap_or_else(|| match question {
            Question::Look { run, .. } if let Some(scores) = self.held_out.get(place_of(run).as_str()) => {
                HoldoutScore { measured: Some(measurement(scores)), failure: String::new() }.into()
            }
            Question::Compare { .. } => Comparison::default().into(),
            Question::Combine { measured, .. } => {
                Box::new(ScriptOutcome { measured: Some(measured.clone()), ..submitted(&[]) }).into()
            }
            Question::Fits { .. } => {
                Refit { rows: 2, words: "rank correlation 1.00".to_owned(), ..Refit::default() }.into()
            }
            Question::Copies { .. } => Copies { failure: self.without_copies.clone() }.into(),
            Question::Importance { on, .. } if let Some(found) = &self.importance => {
                Importance { on: *on, ..found.clone() }.into()
            }
            Question::Select { .. } => question.unanswered("no combination is better than one solution"),
            _ => question.unanswered("no predictions"),
        }))
    }
}

impl EventSink for World {
    fn emit(&self, event: Event) {
        self.remember(|log| log.events.push(event));
    }
}

/// The script that combines the predictions of these scripts by weights.
pub fn composition(members: &[(&str, f64)], by: CombinedBy, id_column: Option<&str>) -> String {
    let member = |(text, weight): &(&str, f64)| Some(scored(text)?.weighted(*weight));
    let (members, id_column) = (members.iter().filter_map(member).collect(), id_column.map(str::to_owned));
    Composition { members, by, id_column }.script().text().to_owned()
}

/// A solution with a score and nothing else.
pub(crate) fn scored(text: &str) -> Option<Scored> {
    let evidence = Evidence {
        step: Step::Candidate(0),
        place: Place::root(),
        ran_at: jiff::Timestamp::UNIX_EPOCH,
        wrote_submission: false,
        leaks: false,
        checked: true,
        facts: RunFacts::default(),
        measured: None,
        composition: None,
        against: None,
    };
    let solution = Solution::new(text.to_owned(), SolutionPhase::Refined);
    Some(Scored::new(solution, Score::new(0.5, Direction::Maximize)?, evidence))
}

fn usual_answer(request: &AgentRequest) -> String {
    let place = &request.place;
    let script = format!("```python\nprint('start')\nblock = '{place}'\nprint(block)\n```");
    match (request.agent, request.variant) {
        (AgentType::Retriever, _) => {
            let count = request.inputs.get("num_models").and_then(Value::as_u64).unwrap_or(1);
            let model = |n| json!({"model_name": format!("model-{n}"), "example_code": "fit()"});
            json!({"models": (0..count).map(model).collect::<Vec<_>>()}).to_string()
        }
        (AgentType::Extractor, _) => {
            let block =
                block_of(request.inputs.get("solution_script").and_then(Value::as_str).unwrap_or_default());
            json!({"plans": [{"code_block": block, "plan": format!("plan of {place}")}]}).to_string()
        }
        (AgentType::Leakage, Some(Variant::Detection)) => {
            json!({"answers": [{"leakage_status": "No Data Leakage", "code_block": ""}]}).to_string()
        }
        (AgentType::Data, _) => "All the provided information is used.".to_owned(),
        (AgentType::Test, Some(Variant::SubsamplingExtract)) => "There is no subsampling.".to_owned(),
        (AgentType::Test, Some(Variant::Contamination)) => json!({"verdict": "Novel"}).to_string(),
        (AgentType::Summarize | AgentType::Planner | AgentType::EnsPlanner, _) => format!("words of {place}"),
        (AgentType::Coder | AgentType::Leakage, _) => format!("```python\nblock = '{place}'\n```"),
        _ => script,
    }
}

/// The line that the default scripts offer for refinement.
fn block_of(script: &str) -> &str {
    script.lines().find(|line| line.starts_with("block = ")).unwrap_or_default()
}

fn usual_outcome(request: &ScriptRequest) -> ScriptOutcome {
    match request.purpose {
        Purpose::Score => ran(Some(0.5)),
        Purpose::Ablation | Purpose::Comparison | Purpose::Probe => ran(None),
        Purpose::Submission => submitted(&[]),
    }
}

/// The place of a run.
fn place_of(run: &FileStem) -> String {
    let stem = run.name().rsplit_once('.').map_or(run.name(), |(stem, _)| stem);
    stem.replace('.', "/")
}

async fn pause(time: Duration) {
    if !time.is_zero() {
        tokio::time::sleep(time).await;
    }
    // Lets concurrent paths interleave even when nothing takes time.
    tokio::task::yield_now().await;
}
