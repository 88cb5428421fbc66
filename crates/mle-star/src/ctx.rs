//! Performs the three effects for the algorithms: records, limits and reports each by its place.
//!
//! The algorithms use only a [`Ctx`]. [`Ctx::ask`], [`Ctx::run`] and [`Ctx::measure`] perform an effect at most once per place, over
//! all processes of a run. An effect that a limit refuses has the outcome `Refused`, which the algorithms handle
//! like any failure.

mod question;
mod render;
mod steps;
mod turn;

use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::abilities;
use crate::about::{beginning, summary};
use crate::backend::{AgentBackend, ScriptRunner};
use crate::call::Call;
use crate::event::{Event, EventSink};
use crate::history::History;
use crate::journal::{Entry, Frozen, Journal, Recorded};
use crate::limits::Limits;
use crate::notes::add_notes;
use crate::outcomes::{after_losses, after_out_of_memory};
use crate::prompts::Prompts;
use crate::record::Kind;
use crate::reply::text as reply_text;
use crate::slots::{Exclusivity, Lease, Slots};
use crate::stop::Stop;
use mle_star_domain::config::{Acceptance, Config, Context};
use mle_star_domain::effects::{
    AgentReply, AgentRequest, Answer, DataView, Limit, OutOfMemory, Purpose, ScriptEnd, ScriptOutcome,
    ScriptRequest, Usage,
};
use mle_star_domain::metric::Score;
use mle_star_domain::place::{Name, Place, Section, Step};
use mle_star_domain::protocol::{Holdout, Protocol, Shift};
use mle_star_domain::question::{Answer as Measured, Question};
use mle_star_domain::role::AgentType;
use mle_star_domain::task::Task;
use question::{Input, StoredRequest};

/// A script that has lost this many runners is given up.
const MAX_LOSSES: usize = 3;

/// How long after its time limit, or that of its phase, a script may be without an outcome on its runner.
const MAX_DELAY: Duration = Duration::from_secs(30);

/// Everything that a run needs from outside.
#[derive(Clone, Copy)]
pub struct Outside<'a> {
    /// Answers the agents' prompts.
    pub agents: &'a dyn AgentBackend,
    /// Runs the scripts.
    pub scripts: &'a dyn ScriptRunner,
    /// Receives the events.
    pub events: &'a dyn EventSink,
    /// Becomes true when the user wants the run to stop.
    pub cancel: &'a tokio::sync::watch::Receiver<bool>,
    /// The scripts' environment, described in a few lines for the prompts: Python, libraries, cores, GPUs,
    /// network.
    pub environment: &'a str,
    /// The slots for scripts.
    pub script_slots: &'a Slots,
    /// The slots for agent calls.
    pub agent_slots: &'a Slots,
}

/// A run in progress.
pub(crate) struct Run<'a> {
    pub frozen: &'a Frozen,
    pub journal: &'a Journal,
    pub limits: Limits,
    pub outside: Outside<'a>,
    /// How training and test table differ, once they were compared.
    pub shift: OnceLock<Shift>,
    prompts: &'a Prompts,
    history: Mutex<History>,
    /// Values available in every template.
    common: Map<String, Value>,
}

/// A place in the algorithms of a run in progress.
#[derive(Clone)]
pub struct Ctx<'a> {
    pub(crate) run: &'a Run<'a>,
    place: Place,
    data: DataView,
    /// How long the longest script took that the step at this place is made from, in seconds.
    built_on: Option<f64>,
}

impl<'a> Run<'a> {
    pub fn new(
        frozen: &'a Frozen,
        prompts: &'a Prompts,
        journal: &'a Journal,
        outside: Outside<'a>,
    ) -> Result<Self, Stop> {
        let mut history = History::default();
        history.failures = journal.failures()?;
        Ok(Self {
            frozen,
            journal,
            limits: Limits::new(&frozen.config, frozen.protocol.as_ref()),
            outside,
            shift: OnceLock::new(),
            prompts,
            history: Mutex::new(history),
            common: render::common(frozen, outside.environment),
        })
    }
}

impl<'a> Ctx<'a> {
    /// The beginning of a run.
    pub(crate) fn root(run: &'a Run<'a>) -> Self {
        Self { run, place: Place::root(), data: DataView::Search, built_on: None }
    }

    /// The place.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// The task.
    pub fn task(&self) -> &'a Task {
        &self.run.frozen.task
    }

    /// The configuration.
    pub fn config(&self) -> &'a Config {
        &self.run.frozen.config
    }

    /// When a solution replaces the best one at this place. `auto` prefers the simpler one of two where a model writes the next
    /// solution from the best one; a merge averages models in any case.
    pub fn acceptance(&self) -> Acceptance {
        let refines = matches!(self.place.step(), Some(Step::Attempt { .. } | Step::Round(_)));
        match self.config().acceptance {
            Acceptance::Auto if !refines || abilities::are_rules(self.config()) => Acceptance::Paper,
            rule => rule,
        }
    }

    /// A score on the task's metric; `None` if the number is not finite.
    pub fn score(&self, value: f64) -> Option<Score> {
        Score::new(value, self.task().metric_direction)
    }

    /// How solutions are evaluated; `None` for the paper's way.
    pub(crate) fn protocol(&self) -> Option<&'a Protocol> {
        self.run.frozen.protocol.as_ref().filter(|protocol| !protocol.is_papers)
    }

    /// Whether the program can compute scores itself from a script's predictions.
    pub(crate) fn verifies(&self) -> bool {
        self.run.frozen.protocol.as_ref().is_some_and(|protocol| protocol.verifies)
    }

    /// The rows whose labels are known to the program alone.
    pub(crate) fn holdout(&self) -> &'a Holdout {
        static NONE: Holdout = Holdout::Off { why: String::new() };
        self.run.frozen.protocol.as_ref().map_or(&NONE, |protocol| &protocol.holdout)
    }

    /// Whether the agents are told more than in the paper.
    pub(crate) fn tells_more(&self) -> bool {
        self.config().context == Context::Full
    }

    /// Declares the inputs of a section of the run, as texts, before its first step. If they differ from those before a larger
    /// limit, the records of the section are set aside.
    pub(crate) fn declare_inputs(&self, section: Section, texts: &[&str]) -> Result<(), Stop> {
        if self.run.journal.declare_inputs(section, texts)? {
            self.history().failures = self.run.journal.failures()?;
            self.info("what this part was made from has changed with the larger limit, so it is made again");
        }
        Ok(())
    }

    /// Asks an agent.
    pub(crate) async fn ask(&self, call: Call) -> Result<AgentReply, Stop> {
        let (place, agent, variant) = (self.place.named(call.name), call.agent, call.variant);
        // That which answered it, if the run is forked from one that did.
        let model = self.config().agent_models.get(&agent).unwrap_or(&self.config().model);
        let model = self.run.journal.inherited_model(&place)?.unwrap_or_else(|| model.clone());
        let render::Rendered { system, mut prompt, shared, mut told } = self.render(&call)?;
        let templates = [self.run.prompts.text(call.template), self.run.prompts.text("system.md")];
        let (inputs, schema, tools) = (&call.inputs, call.schema.as_deref(), call.tools);
        let input = Input { agent, inputs, model: &model, schema, templates, tools, variant };
        let known = (call.reads_back && self.tells_more()).then(|| Value::from(inputs.clone()).to_string());
        let known = known.and_then(|question| self.history().answer_to(&question));
        let read_back = known.is_some();
        let kept = StoredRequest { agent, model: &model, prompt: &prompt, variant, read_back, notes: None };
        let mut entry = Entry::new(&place, Kind::Agent, &input, &kept)?;
        self.fence_unless_recorded(&entry)?;
        let is_new = !read_back && !self.run.journal.has(&entry)?;
        let sees_notes = is_new && matches!(agent, AgentType::Planner | AgentType::EnsPlanner);
        let notes = if sees_notes { self.run.journal.take_notes()? } else { Vec::new() };
        if !notes.is_empty() {
            add_notes(&mut prompt, &mut told, &notes);
            let notes = Some(notes.len());
            let kept = StoredRequest { agent, model: &model, prompt: &prompt, variant, read_back, notes };
            entry = Entry::new(&place, Kind::Agent, &input, &kept)?;
        }
        let mut request = AgentRequest {
            place: place.clone(),
            agent,
            variant,
            system,
            prompt,
            shared,
            inputs: call.inputs,
            told,
            tools: abilities::tools(self.config(), agent, call.tools),
            schema: call.schema,
            model,
            timeout: Duration::ZERO,
            time_left: Duration::ZERO,
            max_usd: None,
        };
        // A call that waits for its turn has no record: it has cost nothing if it is interrupted. Boxes keep the stacks of
        // deeply nested steps small.
        let turn = if is_new { Some(Box::pin(self.turn(&mut request)).await?) } else { None };
        let started = self.run.journal.elapsed();
        let answer = async {
            match (known, turn) {
                (Some(known), _) => Ok(known),
                (None, Some(Err(limit))) => Ok(AgentReply::refused(limit, Usage::free())),
                (None, Some(Ok(turn))) => Box::pin(self.perform_ask(request, turn)).await,
                (None, None) => Err(Stop::Bug { place: place.clone(), what: "a record is gone".to_owned() }),
            }
        };
        let reply = self.run.journal.once(entry, answer).await?;
        // An answer that is read back is no call, in this process and in a later one.
        if !read_back {
            if is_new && !matches!(reply.value.answer, Answer::Refused { .. }) {
                self.run.limits.record_call(agent, self.run.journal.elapsed() - started);
            }
            self.report_reply(&place, agent, &reply, started);
        } else if !reply.replayed {
            self.info(format!("the answer of {} to the same question is read back", agent.name()));
        }
        Ok(reply.value)
    }

    /// Runs a script at the place `run` of this step or repair.
    pub(crate) async fn run(&self, script: &str, purpose: Purpose) -> Result<Recorded<ScriptOutcome>, Stop> {
        let place = self.place.named(Name::Run);
        let mut input = json!({"script": script, "purpose": purpose, "data": self.run.frozen.data_id});
        if let Some(digest) = self.holdout().digest().filter(|_| self.data != DataView::Whole) {
            input["held_out"] = json!(digest);
        }
        let kept = json!({"script": script, "purpose": purpose});
        let entry = Entry::new(&place, Kind::Script, &input, &kept)?;
        self.fence_unless_recorded(&entry)?;
        let outcome = self.run.journal.once(entry, self.perform_run(script, purpose)).await?;
        if !outcome.earlier {
            self.run.limits.use_script_time(&place, outcome.value.duration_seconds);
        }
        if !matches!(place.step(), Some(Step::Baseline(_))) {
            self.run.limits.record_script(purpose, &outcome.value);
        }
        self.report_outcome(&place, &outcome.value, outcome.at, outcome.replayed);
        Ok(outcome)
    }

    /// Asks a question about predictions.
    pub(crate) async fn measure<T: TryFrom<Measured>>(
        &self,
        question: Question,
    ) -> Result<Recorded<T>, Stop> {
        let place = question.place(&self.place);
        let request = match &question {
            Question::Combine { script, .. } => json!({"script": script, "purpose": Purpose::Score}),
            other => json!(other),
        };
        let entry = Entry::new(&place, Kind::of(&question), &question.input(), &request)?;
        self.fence_unless_recorded(&entry)?;
        let time_left = self.run.limits.time_left(&place, self.run.journal.elapsed());
        let asked = self.or_interrupted(self.run.outside.scripts.answer(&place, &question, time_left));
        let Recorded { value, at, replayed, earlier } =
            self.run.journal.once(entry, async { asked.await? }).await?;
        if let Measured::Combination(outcome) = &value {
            self.report_outcome(&place, outcome, at, replayed);
        }
        let other = |_| Stop::Bug { place, what: "the answer is to another question".to_owned() };
        Ok(Recorded { value: T::try_from(value).map_err(other)?, at, replayed, earlier })
    }

    /// Emits an event.
    pub(crate) fn emit(&self, event: Event) {
        self.run.outside.events.emit(event);
    }

    /// Emits a note about the run.
    pub(crate) fn info(&self, text: impl Into<String>) {
        self.emit(Event::Info { place: self.place.clone(), text: text.into() });
    }

    /// Emits a warning. The run goes on.
    pub(crate) fn warn(&self, text: impl Into<String>) {
        let limit = self.place.step().and_then(|step| self.history().limit_in(step));
        self.emit(Event::Warning { place: self.place.clone(), text: text.into(), limit });
    }

    async fn perform_ask(&self, request: AgentRequest, turn: turn::Turn<'_>) -> Result<AgentReply, Stop> {
        self.emit(Event::AgentStarted {
            place: request.place.clone(),
            agent: request.agent,
            variant: request.variant,
            timeout: request.timeout.as_secs_f64(),
            about: summary(&request.inputs),
        });
        let asked = self.run.outside.agents.ask(&request, self.run.outside.events);
        let mut reply = self.or_interrupted(asked).await.and_then(|reply| reply);
        if let Ok(AgentReply { usage, .. }) | Err(Stop::Agents { usage, .. }) = &mut reply {
            let warnings;
            (*usage, warnings) = turn.reserve.settle(*usage);
            warnings.iter().for_each(|warning| self.warn(warning.text()));
        }
        let reply = reply?;
        // A call that fails at the time limit counts as refused by it, so a resume with more time asks again.
        let now = self.run.journal.elapsed();
        let late = self.run.limits.too_late_to_ask(&request.place, request.agent, now);
        Ok(match (&reply.answer, late) {
            (Answer::Failed { .. }, Some(limit)) => AgentReply::refused(limit, reply.usage),
            _ => reply,
        })
    }

    async fn perform_run(&self, script: &str, purpose: Purpose) -> Result<ScriptOutcome, Stop> {
        let losses = &mut 0;
        let shared = self.run_somewhere(script, purpose, Exclusivity::Shared, losses).await;
        let (first, overlapped) = shared?;
        let may_help = |cause: OutOfMemory| overlapped || cause.may_pass();
        if !first.out_of_memory.is_some_and(may_help) {
            return Ok(first);
        }
        // Other scripts may have used the memory, so the script fails only if it also runs out of memory alone.
        let (second, _) = self.run_somewhere(script, purpose, Exclusivity::Exclusive, losses).await?;
        Ok(after_out_of_memory(second, first))
    }

    /// Runs a script in the next free slot, and again in another one if its runner is lost. Returns whether another
    /// script ran on the same machine meanwhile.
    async fn run_somewhere(
        &self,
        script: &str,
        purpose: Purpose,
        exclusivity: Exclusivity,
        losses: &mut usize,
    ) -> Result<(ScriptOutcome, bool), Stop> {
        let mut lost = Vec::new();
        loop {
            let lease = match self.slot(exclusivity).await? {
                Ok(lease) => lease,
                Err(limit) => return Ok((after_losses(ScriptOutcome::refused(limit), lost), false)),
            };
            let outcome = self.run_in_slot(script, purpose, &lease).await?;
            *losses += usize::from(outcome.loss().is_some());
            let Some(loss) = outcome.loss().filter(|_| *losses < MAX_LOSSES) else {
                return Ok((after_losses(outcome, lost), lease.overlapped()));
            };
            self.warn(format!("the script runs again elsewhere: {loss}"));
            lost.push(outcome);
        }
    }

    /// Waits for a slot, or until a limit refuses scripts: runners may never come.
    async fn slot(&self, exclusivity: Exclusivity) -> Result<Result<Lease, Limit>, Stop> {
        let (limits, journal, place) = (&self.run.limits, self.run.journal, &self.place);
        let mut lease = std::pin::pin!(self.run.outside.script_slots.lease(exclusivity));
        loop {
            // Less than timers measure would be no pause at all.
            let left = limits.time_left(place, journal.elapsed()).max(Duration::from_millis(1));
            if let Ok(lease) = self.or_interrupted(tokio::time::timeout(left, &mut lease)).await? {
                return Ok(Ok(lease));
            }
            // What is left may have become more meanwhile.
            if let Some(limit) = limits.refusing_limit(place, journal.elapsed()) {
                return Ok(Err(limit));
            }
        }
    }

    /// Runs a script in its leased slot, unless the time ran out while it waited.
    async fn run_in_slot(
        &self,
        script: &str,
        purpose: Purpose,
        lease: &Lease,
    ) -> Result<ScriptOutcome, Stop> {
        let (limits, now, place) =
            (&self.run.limits, self.run.journal.elapsed(), self.place.named(Name::Run));
        let late = match purpose {
            Purpose::Score | Purpose::Submission => limits.too_late_to_run(&place, self.built_on, now),
            Purpose::Ablation | Purpose::Comparison | Purpose::Probe => limits.refusing_limit(&place, now),
        };
        if let Some(limit) = late {
            return Ok(ScriptOutcome::refused(limit));
        }
        let timeout = limits.script_timeout(&place, purpose, now);
        let runner = lease.runner().map(str::to_owned);
        self.emit(Event::ScriptStarted {
            place: place.clone(),
            timeout: timeout.as_secs_f64(),
            characters: script.chars().count() as u64,
            runner: runner.clone(),
        });
        let (script, slot, data) = (script.to_owned(), lease.slot(), self.data);
        // The time limit of a script begins when its data is there, which may take long on a runner.
        let time_left = limits.time_left(&place, now);
        let left = runner.as_ref().map_or(Duration::MAX, |_| time_left.max(timeout) + MAX_DELAY);
        let request = ScriptRequest { place, script, purpose, timeout, time_left, slot, data };
        let running = self.or_interrupted(self.run.outside.scripts.run(&request));
        let outcome = match tokio::time::timeout(left, running).await {
            Ok(outcome) => outcome??,
            Err(_) => {
                ScriptOutcome::lost("the time was up before its data and its files were sent".to_owned())
            }
        };
        // In the paper, a script that does not end in time has failed.
        let end = match outcome.end {
            ScriptEnd::Answered if !self.tells_more() => ScriptEnd::TimedOut,
            end => end,
        };
        let is_stopped =
            matches!(purpose, Purpose::Score | Purpose::Submission) && end == ScriptEnd::TimedOut;
        let cut_by = || limits.refusing_limit(&request.place, self.run.journal.elapsed());
        let cut_by = is_stopped.then(cut_by).flatten();
        Ok(ScriptOutcome { end, runner, cut_by, beside: lease.overlapped(), ..outcome })
    }

    /// Awaits `effect`, or drops it when the user interrupts the run.
    async fn or_interrupted<T>(&self, effect: impl Future<Output = T>) -> Result<T, Stop> {
        let mut cancel = self.run.outside.cancel.clone();
        let cancelled = async move {
            // Without a sender, no interrupt can come.
            if cancel.wait_for(|wanted| *wanted).await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            biased;
            () = cancelled => Err(Stop::Interrupted),
            value = effect => Ok(value),
        }
    }

    fn report_reply(&self, place: &Place, agent: AgentType, reply: &Recorded<AgentReply>, started: f64) {
        let failure = match &reply.value.answer {
            Answer::Text { .. } => None,
            Answer::Failed { reason } => Some(reason.clone()),
            Answer::Refused { limit } => return self.report_refusal(place, *limit),
        };
        if failure.is_none() {
            self.history().note_success(place, reply.at);
        }
        let seconds = if reply.replayed { 0.0 } else { self.run.journal.elapsed() - started };
        let (place, usage, replayed) = (place.clone(), reply.value.usage, reply.replayed);
        let text = reply_text(&reply.value).unwrap_or_default();
        let (characters, reply) = (text.chars().count() as u64, beginning(text.trim(), 200));
        self.emit(Event::AgentEnded { place, agent, seconds, usage, failure, characters, reply, replayed });
    }

    fn report_outcome(&self, place: &Place, outcome: &ScriptOutcome, at: jiff::Timestamp, replayed: bool) {
        if let ScriptEnd::Refused { limit } = outcome.end {
            return self.report_refusal(place, limit);
        }
        let (seconds, score) = (outcome.duration_seconds, outcome.value());
        let failure = outcome.is_error().then(|| outcome.headline());
        if failure.is_none() {
            self.history().note_success(place, at);
        }
        // That of each script is the user's own.
        let own = self.config().script_timeout_seconds.map_or(Duration::MAX, Duration::from_secs);
        let is_late = outcome.end == ScriptEnd::TimedOut && seconds < own.as_secs_f64();
        let limit = is_late.then_some(Limit::Share);
        if is_late {
            self.history().late.extend(place.step());
        }
        for note in &outcome.notes {
            self.emit(Event::Warning { place: place.clone(), text: note.clone(), limit });
        }
        self.emit(Event::ScriptEnded {
            place: place.clone(),
            seconds,
            score,
            failure,
            end: outcome.end.words(),
            output: outcome.stdout.bytes + outcome.stderr.bytes,
            submission: outcome.submission.clone(),
            runner: outcome.runner.clone(),
            lost_runners: outcome.lost_runners.clone(),
            replayed,
        });
    }
}
