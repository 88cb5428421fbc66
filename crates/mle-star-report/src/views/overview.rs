//! Overview of a run: its task and its progress.

use std::path::Path;

use mle_star::journal::{EffectRecord, ForkedFrom, Kind};
use mle_star::spending::was_made;
use mle_star_domain::layout;
use mle_star_domain::place::{self, Phase, Place};
use mle_star_domain::task::ColumnRole;
use serde::Serialize;

use super::context::Context;
use super::notes::{UserNote, notes};
use super::steps;
use super::steps::StepKind;
use crate::cut::{PROSE, cut};
use crate::figures::{duration, number, shown_time};
use crate::money;
use crate::run_view::State;
use crate::score_report::Figure;
use crate::words::phase_title;

/// The first part of a run's page.
#[derive(Clone, Debug, Serialize)]
pub struct Overview {
    /// The run ID.
    pub run_id: String,
    /// The task's name.
    pub task: String,
    /// The task's description.
    pub description: String,
    /// `running`, `finished` or `unfinished`.
    pub state: &'static str,
    /// Whether it has ended. If so, it changes only after a resume.
    pub is_over: bool,
    /// Its scores.
    pub score: OverviewScore,
    /// When it began, and what it used and did.
    pub work: Work,
    /// The submission's path.
    pub submission: Option<String>,
    /// What the columns of the tables are taken for.
    pub columns: Vec<ColumnRole>,
    /// Notes to read first.
    pub notes: Vec<String>,
    /// The run and the place that it was forked from, for people.
    pub forked_from: Option<String>,
    /// Notes of the user to the agents.
    pub from_user: Vec<UserNote>,
    /// The phases that have begun.
    pub phases: Vec<PhaseRow>,
}

/// The scores of a run.
#[derive(Clone, Debug, Serialize)]
pub struct OverviewScore {
    /// The metric.
    pub metric: String,
    /// `maximize` or `minimize`.
    pub direction: &'static str,
    /// The score of the first candidate that has one.
    pub first: Option<String>,
    /// The best validation score so far.
    pub best: Option<String>,
    /// The step of the final solution, or of the best score; `None` while the run would submit another solution than the one
    /// with the best score.
    pub best_at: Option<String>,
    /// The score to expect on the rows of the test table.
    pub expected: Option<Figure>,
    /// What a constant prediction scores.
    pub constant: Option<String>,
    /// The validation score of the final solution.
    pub validated: Option<Figure>,
    /// Its score on held-out rows.
    pub held_out: Option<Figure>,
}

/// What a run used and did so far.
#[derive(Clone, Debug, Serialize)]
pub struct Work {
    /// When it began, RFC 3339.
    pub begun: String,
    /// When it began, for people.
    pub begun_shown: String,
    /// Time taken so far.
    pub time: String,
    /// `$1.23 for 85 calls, …`; `None` without calls of a language model.
    pub cost: Option<String>,
    /// Scripts run.
    pub scripts: usize,
    /// Scripts that failed.
    pub failed: usize,
    /// Agent calls made.
    pub calls: usize,
}

/// One phase.
#[derive(Clone, Debug, Serialize)]
pub struct PhaseRow {
    /// The name, for people.
    pub name: String,
    /// The time until the next phase began, the run ended, or now.
    pub time: String,
    /// The best validation score at its end.
    pub best: Option<String>,
}

/// Creates the view of a run.
pub fn overview(context: &Context<'_>) -> Overview {
    let (run, report) = (context.run, &context.report);
    let summary = &run.summary;
    Overview {
        run_id: summary.run.run_id.clone(),
        task: summary.task.clone(),
        description: cut(&run.snapshot.frozen.task.description, PROSE),
        state: summary.run.state.name(),
        is_over: summary.run.state != State::Running,
        score: score(context),
        work: work(context),
        submission: summary.answer.submission.as_ref().and_then(|path| here(&run.folder, path)),
        columns: run.snapshot.frozen.task.columns.clone(),
        notes: report.notes(),
        forked_from: run.snapshot.forked_from.as_ref().map(forked_from),
        from_user: notes(context),
        phases: phases(context),
    }
}

/// Where a file of `final/` lies now: a run folder may have been moved or copied since its path was recorded.
fn here(folder: &Path, recorded: &str) -> Option<String> {
    let name = Path::new(recorded).file_name()?;
    Some(folder.join(layout::FINAL).join(name).display().to_string())
}

/// `RUN at PLACE, which paid $1.23 for what both share`.
fn forked_from(forked: &ForkedFrom) -> String {
    let ForkedFrom { run, place, inherited_cost_usd, .. } = forked;
    let paid = match inherited_cost_usd {
        Some(0.0) => String::new(),
        cost => format!(", which paid {} for what both share", money::cost(*cost, 0.0)),
    };
    format!("{run} at {place}{paid}")
}

fn score(context: &Context<'_>) -> OverviewScore {
    let Context { run, report, steps, descent, .. } = context;
    let first = steps.of_kind(StepKind::Candidate).find_map(steps::Step::score);
    // Results of earlier versions do not tell how far to trust them, so they show no validated score.
    let has_trust = context.result().is_some_and(|result| result.trust.is_some());
    let is_best = |step: &place::Step| run.summary.best_score == descent.score(*step);
    let best = descent.best.filter(|step| context.result().is_some() || is_best(step));
    OverviewScore {
        metric: report.run.metric.clone(),
        direction: report.run.direction.name(),
        first: first.map(|score| number(score.value())),
        best: run.summary.best_score.map(number),
        best_at: best.map(|best| format!("{}, {best}", report.tried.step(best))),
        expected: report.score.expected(),
        constant: report.score.constant_score.map(number),
        validated: report.score.validated().filter(|_| has_trust),
        held_out: report.score.held_out(),
    }
}

fn work(context: &Context<'_>) -> Work {
    let Context { run, report, steps, .. } = context;
    let has_run = |run: &&steps::ScriptRun<'_>| run.outcome.is_some() && run.limit().is_none();
    let runs = || steps.iter().flat_map(|step| &step.runs).filter(has_run);
    let counting = run.snapshot.effects.iter().filter(|effect| effect.counts());
    Work {
        begun: run.summary.created_at.clone(),
        begun_shown: shown_time(&run.summary.created_at),
        time: duration(report.spent.elapsed_seconds),
        cost: report.cost(),
        scripts: runs().count(),
        failed: runs().filter(|run| !run.is_ok()).count(),
        calls: counting.filter(|effect| was_made(effect)).count(),
    }
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
    let end = began(&Place::root().end()).unwrap_or(context.run.summary.spent.elapsed_seconds);
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
