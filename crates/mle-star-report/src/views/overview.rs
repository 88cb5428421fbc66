//! Overview of a run: its task, its progress and its current work.

use mle_star::journal::{EffectRecord, EffectState, Kind};
use mle_star::result::StoppedBy;
use mle_star_domain::effects::{DATA_CHANGED, ScriptOutcome};
use mle_star_domain::place::{Phase, Place};
use serde::Serialize;

use super::context::Context;
use super::steps;
use super::steps::StepKind;
use super::trust::{self, Figure};
use crate::cut::{PROSE, cut, line_of};
use crate::figures::{duration, number};
use crate::run_view::State;
use crate::usage;
use crate::words::{agent_name, on_runner, phase_title, place_name};

/// The first part of a run's page.
#[derive(Clone, Debug, Serialize)]
pub struct Overview {
    /// The run ID.
    pub run_id: String,
    /// The task's name.
    pub task: String,
    /// `running`, `finished` or `unfinished`.
    pub state: &'static str,
    /// Whether it has ended. If so, it changes only after a resume.
    pub is_over: bool,
    /// The metric, and which scores win.
    pub metric: String,
    /// `maximize` or `minimize`.
    pub direction: &'static str,
    /// The best validation score so far.
    pub best: Option<String>,
    /// The step that reached it.
    pub best_at: Option<String>,
    /// The validation score of the final solution.
    pub validated: Option<Figure>,
    /// Its score on held-out rows.
    pub held_out: Option<Figure>,
    /// The first score.
    pub first: Option<String>,
    /// When the run began, RFC 3339.
    pub begun: String,
    /// The same, for people.
    pub begun_shown: String,
    /// Time taken so far.
    pub time: String,
    /// `$1.23 for 85 calls, …`; empty for offline agents.
    pub cost: Option<String>,
    /// The submission's path.
    pub submission: Option<String>,
    /// Notes to read first.
    pub notes: Vec<String>,
    /// The phases that have begun.
    pub phases: Vec<PhaseRow>,
    /// Scripts run.
    pub scripts: usize,
    /// Scripts that failed.
    pub failed: usize,
    /// Agent calls made.
    pub calls: usize,
    /// Agent calls and scripts in progress.
    pub now: Vec<Now>,
    /// The task's description.
    pub description: String,
}

/// One phase.
#[derive(Clone, Debug, Serialize)]
pub struct PhaseRow {
    /// The name, for people.
    pub name: String,
    /// The time from its beginning to that of the next phase, or to now.
    pub time: String,
    /// The best validation score at its end.
    pub best: Option<String>,
}

/// An agent call or a script that runs or waits for a slot.
#[derive(Clone, Debug, Serialize)]
pub struct Now {
    /// The place, for people.
    pub place: String,
    /// The agent's name, or `script`, with its runner.
    pub what: String,
    /// When it began to run, or that it is waiting.
    pub since: String,
}

/// Creates the view of a run.
pub fn overview(context: &Context<'_>) -> Overview {
    let Context { run, steps, descent, at_work: _ } = context;
    let summary = &run.summary;
    let trust = context.result().and_then(|result| result.trust.as_ref());
    let first = steps.of_kind(StepKind::Candidate).find_map(steps::Step::score);
    let has_run = |run: &&steps::Run<'_>| run.outcome.is_some() && run.limit().is_none();
    let runs = || steps.iter().flat_map(|step| &step.runs).filter(has_run);
    let counting = run.snapshot.effects.iter().filter(|effect| effect.counts());
    Overview {
        run_id: summary.run_id.clone(),
        task: summary.task.clone(),
        state: summary.state.name(),
        is_over: summary.state != State::Running,
        metric: summary.metric.clone(),
        direction: summary.direction.name(),
        best: summary.best_score.map(number),
        best_at: descent.best.map(|best| format!("{}, {best}", place_name(&best.place()))),
        validated: trust.and_then(trust::validated),
        held_out: trust.and_then(trust::held_out),
        first: first.map(|score| number(score.value())),
        begun: summary.created_at.clone(),
        begun_shown: shown_time(&summary.created_at),
        time: duration(summary.elapsed_seconds),
        cost: usage::line(&run.spending),
        submission: summary.submission.clone(),
        notes: notes(context, runs().filter_map(|run| run.outcome.as_ref()).any(data_changed)),
        phases: phases(context),
        scripts: runs().count(),
        failed: runs().filter(|run| !run.is_ok()).count(),
        calls: counting.filter(|effect| effect.kind == Kind::Agent && effect.limit.is_none()).count(),
        now: now(context),
        description: cut(&run.snapshot.frozen.task.description, PROSE),
    }
}

/// `2026-01-02 03:04:05 UTC`.
fn shown_time(rfc_3339: &str) -> String {
    let time: Result<jiff::Timestamp, _> = rfc_3339.parse();
    time.map_or_else(|_| rfc_3339.to_owned(), |time| time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string())
}

fn data_changed(outcome: &ScriptOutcome) -> bool {
    outcome.notes.iter().any(|note| note.starts_with(DATA_CHANGED))
}

fn notes(context: &Context<'_>, data_changed: bool) -> Vec<String> {
    let result = context.result();
    let stopped = match result.map(|result| result.stopped_by) {
        Some(stopped_by) => stopped_by,
        None => context.run.snapshot.first_limit().and_then(StoppedBy::of),
    };
    let limit = stopped.map(|limit| match limit {
        StoppedBy::Time => "The run was cut short by its time limit.",
        StoppedBy::Budget => "The run was cut short by its money limit.",
    });
    let leaks = result.is_some_and(|result| result.leakage_suspected);
    let leaks = leaks.then_some("The solution may leak the answers it is scored on.");
    let not_run = result.and_then(|result| result.not_run.as_deref());
    let not_run =
        not_run.map(|why| format!("`final/solution.py` did not write the submission: {}.", line_of(why)));
    let suspect = result.and_then(|result| result.trust.as_ref()?.suspicion());
    let suspect = suspect.map(|why| format!("The score is suspect: {}.", line_of(why)));
    let data = "The data changed while the run lasted: scores from before and after do not compare.";
    let data = data_changed.then_some(data);
    let ended = context.run.summary.state == State::Unfinished;
    let ended = ended.then_some("The run did not come to its end; it can be resumed.");
    let so_far = context.run.summary.so_far.as_ref().map(|so_far| {
        format!(
            "A checked submission so far: {} ({}, score {}).",
            so_far.path,
            so_far.place,
            number(so_far.score)
        )
    });
    let is_unfinished = context.run.summary.state == State::Unfinished;
    let stopped = context.run.snapshot.stopped.as_ref().filter(|_| is_unfinished);
    let stopped = stopped.map(|stopped| format!("It was stopped: {}.", stopped.error));
    let failed = context.run.summary.failed_paths.iter();
    let failed = failed.map(|failed| format!("Path {} failed: {}.", failed.path + 1, failed.cause));
    let damage =
        context.run.snapshot.damage.as_ref().map(|damage| format!("The journal is damaged: {damage}."));
    [limit, leaks, data, ended]
        .into_iter()
        .flatten()
        .map(str::to_owned)
        .chain(not_run)
        .chain(suspect)
        .chain(stopped)
        .chain(so_far)
        .chain(failed)
        .chain(damage)
        .collect()
}

/// The phases, from their records in the journal.
fn phases(context: &Context<'_>) -> Vec<PhaseRow> {
    let effects = &context.run.snapshot.effects;
    let began = |place: &Place| {
        let is_mark = |record: &&EffectRecord| {
            record.kind == Kind::Decision
                && record.limit.is_none()
                && record.counts()
                && record.place == *place
        };
        effects.iter().find(is_mark).map(|record| record.elapsed_begun)
    };
    let begun: Vec<(Phase, f64)> =
        Phase::ALL.iter().filter_map(|phase| Some((*phase, began(&Place::from(*phase))?))).collect();
    let end = began(&Place::root().end()).unwrap_or(context.run.summary.elapsed_seconds);
    let ends = begun.iter().skip(1).map(|(_, at)| *at).chain([end]);
    let rows = begun.iter().zip(ends).map(|((phase, from), to)| PhaseRow {
        name: phase_title(*phase),
        time: duration(to - from),
        best: best_until(context, to).map(number),
    });
    rows.collect()
}

/// The best score among the scripts that had ended by this second of the run.
fn best_until(context: &Context<'_>, seconds: f64) -> Option<f64> {
    let direction = context.run.snapshot.frozen.task.metric_direction;
    let steps =
        context.run.steps.iter().filter(|step| step.counts && step.ended.is_some_and(|at| at <= seconds));
    let scores = steps.filter_map(|step| mle_star_domain::metric::Score::new(step.score?, direction));
    mle_star_domain::metric::last_best(scores, |score| *score).map(mle_star_domain::metric::Score::value)
}

fn now(context: &Context<'_>) -> Vec<Now> {
    if context.run.summary.state != State::Running {
        return Vec::new();
    }
    let open = context.run.snapshot.effects.iter().filter(|record| record.state == EffectState::Begun);
    let what = |record: &EffectRecord| match record.kind {
        Kind::Agent => mle_star::spending::role(record).map(agent_name).unwrap_or_default(),
        _ => {
            let slot = context.at_work.slot(&record.place);
            format!("script{}", on_runner(slot.and_then(|slot| slot.runner.as_deref())))
        }
    };
    let since = |record: &EffectRecord| match context.at_work.slot(&record.place).map(|slot| slot.since) {
        None if context.at_work.is_known() => "waits for its turn".to_owned(),
        since => format!("since {} into the run", duration(since.unwrap_or(record.elapsed_begun))),
    };
    open.map(|record| Now { place: place_name(&record.place), what: what(record), since: since(record) })
        .collect()
}
