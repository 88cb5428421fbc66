//! Assembles the result from the phases' results and the journal.

use super::search::{Ensemble, Search};
use crate::beyond::fallback::FinalAnswer;
use crate::composition::Part;
use crate::ctx::Ctx;
use crate::findings::Findings;
use crate::library::Library;
use crate::paper::refine::Refinement;
use crate::record::{EffectRecord, Kind};
use crate::result::{
    BaselineScore, CodeBlockRecord, Costs, Durations, FinalPredictions, FinalResult, FinishedRun, KeptModel,
    ModelRecord, PathRecord, PathStatus, Phase1Result, Phase2Result, Phase3Result, SearchModels,
    SolutionScript, StepRecord, StoppedBy, Tokens,
};
use crate::scored::Scored;
use crate::spending::{Calls, Spending, spending};
use crate::stop::Stop;
use crate::verdict::{Lineage, lineage};
use mle_star_domain::effects::Usage;
use mle_star_domain::measure::interval::few_periods;
use mle_star_domain::measure::{FoldScore, Measurement};
use mle_star_domain::place::{Name, Phase, Place};
use mle_star_domain::protocol::{Period, Protocol, SplitKind};
use mle_star_domain::question::{FileStem, Importance};
use mle_star_domain::trust::{Finding, PeriodScore, Severity, Trust};

pub(super) fn assemble(ctx: &Ctx<'_>, search: &Search, last: FinalAnswer) -> Result<FinishedRun, Stop> {
    let (refined, ensemble) = (&search.paths, search.ensemble.as_ref());
    let effects = ctx.run.journal.ledger()?;
    let durations = durations(ctx, &effects)?;
    let lineage = lineage(&ctx.history().verdicts, last.candidate.step);
    for Lineage { place, score, note, .. } in &lineage {
        ctx.info(format!("lineage: {place}, score {score:?}, {note}"));
    }
    let usage = spending(&effects, ctx.config());
    let total = usage.total().usage;
    let Usage { input, output, cache_read, cache_write, .. } = total;
    let findings = findings(ctx, &search.library, &last.candidate.solution)?;
    let trust =
        ctx.run.frozen.protocol.as_ref().map(|protocol| trust(ctx, protocol, &effects, &last, findings));
    let held_out = last.predicted_held_out(ctx).map(|(run, script)| FileStem::new(&run, &script));
    let importance = last.importance.unwrap_or_else(|| Importance::unknown("this run does not compute it"));
    let known_importance = Some(&importance).filter(|one| one.failure.is_empty());
    let result = FinalResult {
        task: ctx.task().clone(),
        config: ctx.config().clone(),
        baseline: search.baseline.iter().map(baseline).collect(),
        expected: trust.as_ref().and_then(|trust| trust.expected(ctx.task().metric_direction)),
        phase1: phase1(search),
        phase2_results: refined.iter().map(|(path, _)| phase2(path)).collect(),
        paths: refined.iter().map(|(_, record)| record.clone()).collect(),
        phase3: ensemble.map(|ensemble| phase3(refined, ensemble)),
        submission_path: String::new(),
        not_run: last.not_run,
        not_best: last.not_best,
        contamination: last.contamination,
        total_duration_seconds: durations.total_duration_seconds,
        total_cost_usd: total.cost_usd,
        estimated_cost_usd: total.estimated_usd,
        durations,
        costs: costs(&usage, u32::try_from(refined.len()).unwrap_or(u32::MAX)),
        tokens: Tokens { input, output, cache_read, cache_write },
        usage,
        lineage,
        leakage_suspected: search.initial.leakage_suspected || last.candidate.leaks,
        phases_completed: phases_completed(&effects, refined, ensemble.is_some(), !last.is_fallback),
        stopped_by: ctx.run.journal.first_limit()?.and_then(StoppedBy::of),
        answer_is_earlier: false,
        cuts: ctx.run.journal.cuts()?,
        final_solution: last.candidate.script,
        made_with: ctx.run.journal.made_with()?,
        forked_from: ctx.run.journal.forked_from(),
        trust,
        importance_why: Some(importance.failure.clone()).filter(|why| !why.is_empty()),
        importance_rows: known_importance.map(|known| known.rows),
        importance_on: known_importance.map(|known| known.on),
        importance: known_importance.map(|known| known.columns.clone()),
        model: ModelRecord::default(),
    };
    Ok(FinishedRun {
        result,
        submission: last.candidate.submission,
        model: last.candidate.model,
        search_models: search_models(ctx, &search.library, &last.candidate.solution),
        keeps_earlier_answer: false,
        predictions: Some(FinalPredictions { held_out, validation: last.candidate.solution.kept() }),
    })
}

/// The models that scripts of the search may have kept.
fn search_models(ctx: &Ctx<'_>, library: &Library, chosen: &Scored) -> SearchModels {
    if ctx.holdout().is_period() {
        return SearchModels::default();
    }
    let kept = |one: &Scored| KeptModel { run: one.place().clone(), script: one.text().to_owned() };
    let member = |part: &Part| {
        let one = library.iter().find(|one| *one.solution() == part.solution)?;
        Some((kept(one), part.weight))
    };
    let combined = chosen.composition().and_then(|whole| {
        let members: Option<Vec<_>> = whole.members.iter().map(member).collect();
        Some((whole.rule(), members?))
    });
    let solutions = library.best_first();
    SearchModels {
        combined,
        solutions: solutions.iter().map(|one| (one.step().title(), kept(one))).collect(),
    }
}

/// What the program found in the scripts that count now: every leak, and what is worth a look in the chosen solution or its
/// members.
fn findings(ctx: &Ctx<'_>, library: &Library, chosen: &Scored) -> Result<Vec<Finding>, Stop> {
    let is_member = |one: &&Scored| {
        let composition = chosen.composition();
        composition.is_some_and(|whole| whole.solutions().any(|member| member == one.solution()))
    };
    let runs: Vec<&Place> =
        library.iter().filter(is_member).map(Scored::place).chain([chosen.place()]).collect();
    let mut findings = Vec::new();
    for record in ctx.run.journal.effects()?.into_iter().filter(|one| one.kind == Kind::Gate && one.counts())
    {
        let run = record.place.parent().named(Name::Run);
        let found = record.outcome.and_then(|outcome| serde_json::from_value::<Findings>(outcome).ok());
        findings.extend(found.unwrap_or_default().found.iter().map(|found| found.at(&run)));
    }
    findings.retain(|found| found.severity == Severity::Block || runs.contains(&&found.place));
    // Paths run side by side, so the order of their findings may differ in a resume.
    findings.sort_by_key(|found| (found.severity != Severity::Block, found.place.step(), found.line));
    Ok(findings)
}

fn trust(
    ctx: &Ctx<'_>,
    protocol: &Protocol,
    effects: &[EffectRecord],
    last: &FinalAnswer,
    findings: Vec<Finding>,
) -> Trust {
    let (search, held_out) = (last.candidate.solution.measured(), last.held_out.as_ref());
    let holdout_rows = protocol.holdout.rows();
    // Also those that a larger limit set aside: somebody has seen them.
    let direction = ctx.task().metric_direction;
    let reported = held_out.and_then(|held_out| held_out.interval_beside(search, direction));
    let looks = effects.iter().filter(|effect| effect.kind == Kind::Look && effect.outcome.is_some());
    Trust {
        validation_score: Some(last.candidate.solution.score().value()),
        validation_interval: search.and_then(|measured| measured.interval),
        constant_score: search.and_then(|measured| measured.constant),
        seasonal_naive_score: search.and_then(|measured| measured.seasonal_naive),
        validation_rows: search.map(|measured| measured.rows),
        verified: search.map(|_| true),
        unverified: protocol.unverified.clone(),
        validation_clusters: search.and_then(|measured| measured.clusters),
        holdout_clusters: held_out.and_then(|measured| measured.clusters),
        periods: periods(protocol, search, held_out),
        mean_over_periods: search.is_some_and(|measured| measured.mean_over_periods),
        new_series: protocol.periods.as_ref().and_then(|periods| periods.new_series.clone()),
        no_interval: no_interval(protocol, search, held_out, reported),
        holdout_score: held_out.map(|measured| measured.score),
        holdout_interval: reported,
        holdout_rows,
        holdout_reported_rows: held_out
            .map(|measured| measured.rows)
            .filter(|rows| Some(*rows) != holdout_rows),
        holdout_looks: looks.count() as u64,
        split: protocol.split.clone(),
        holdout: Some(protocol.holdout.clone()),
        shift: ctx.run.shift.get().cloned(),
        findings,
        probes: last.chosen.probes.clone(),
        choice: last.chosen.choice.clone(),
        equivalence: last.holdout_run.as_ref().map_or_else(String::new, |run| run.notes.join(" ")),
    }
}

/// Why there is no interval of the score to report.
fn no_interval(
    protocol: &Protocol,
    validated: Option<&Measurement>,
    held_out: Option<&Measurement>,
    reported: Option<[f64; 2]>,
) -> Option<String> {
    let by_time = protocol.split.as_ref().is_some_and(|split| split.kind == SplitKind::Time);
    match (held_out, reported) {
        (Some(_), Some(_)) => None,
        (Some(_), None) if by_time => {
            Some(few_periods(validated.map_or(0, |validated| validated.periods.len()) + 1))
        }
        (Some(held_out), None) => held_out.no_interval.clone(),
        (None, _) => validated?.no_interval.clone(),
    }
}

/// The scores by period: those that were validated, then the held-out one.
fn periods(
    protocol: &Protocol,
    validated: Option<&Measurement>,
    held_out: Option<&Measurement>,
) -> Vec<PeriodScore> {
    let Some(periods) = &protocol.periods else { return Vec::new() };
    let score = |period: &Period, rows, score| PeriodScore {
        from: period.from.clone(),
        to: period.to.clone(),
        rows,
        score,
    };
    let of_fold = |one: &FoldScore| {
        let period = periods.folds.get(usize::try_from(one.fold).ok()?)?;
        Some(score(period, one.rows, one.score))
    };
    let folds = validated.map(|validated| validated.periods.as_slice()).unwrap_or_default();
    let last = periods.held_out.as_ref().zip(held_out).map(|(at, of)| score(at, of.rows, of.score));
    folds.iter().filter_map(of_fold).chain(last).collect()
}

fn baseline(solution: &Scored) -> BaselineScore {
    BaselineScore {
        name: solution.solution().source_model().unwrap_or_default().to_owned(),
        score: solution.score().value(),
        interval: solution.measured().and_then(|measured| measured.interval),
        seconds: solution.facts().seconds,
    }
}

fn phase1(search: &Search) -> Phase1Result {
    let candidate_solutions: Vec<SolutionScript> =
        search.candidates.iter().map(SolutionScript::from).collect();
    Phase1Result {
        retrieved_models: search.retrieved.models.clone(),
        retrieval: search.retrieved.retrieval,
        lookups: search.retrieved.lookups.clone(),
        candidate_scores: candidate_solutions.iter().map(|candidate| candidate.score).collect(),
        candidate_solutions,
        initial_solution: SolutionScript::from(&search.initial.best),
        initial_score: search.initial.best.score().value(),
        merges: search.merges.iter().filter_map(|merge| merge.record.clone()).collect(),
    }
}

fn phase2(path: &Refinement) -> Phase2Result {
    let block = |StepRecord { code_block, category, outer_step, .. }: &StepRecord| CodeBlockRecord {
        content: code_block.clone(),
        category: *category,
        outer_step: *outer_step,
    };
    Phase2Result {
        ablation_summaries: path.steps.iter().map(|step| step.ablation_summary.clone()).collect(),
        refined_blocks: path.steps.iter().map(block).collect(),
        best_solution: SolutionScript::from(&path.best),
        best_score: path.best.score().value(),
        step_history: path.steps.clone(),
    }
}

fn phase3(refined: &[(Refinement, PathRecord)], ensemble: &Ensemble) -> Phase3Result {
    Phase3Result {
        input_solutions: refined.iter().map(|(path, _)| SolutionScript::from(&path.best)).collect(),
        ensemble_plans: ensemble.rounds.iter().map(|round| round.plan.clone()).collect(),
        ensemble_scores: ensemble.rounds.iter().map(|round| round.score).collect(),
        attempts: ensemble.rounds.clone(),
        best_ensemble: SolutionScript::from(&ensemble.best),
        best_ensemble_score: ensemble.best.score().value(),
    }
}

/// The seconds of each phase: from each beginning to that of the next phase, also before a limit was raised. The last one
/// ends now.
fn durations(ctx: &Ctx<'_>, effects: &[EffectRecord]) -> Result<Durations, Stop> {
    let total = ctx.run.journal.mark(&Place::root().end())?;
    let marks = effects.iter().filter(|effect| effect.kind == Kind::Decision && effect.place.is_mark());
    let begins = |effect: &&EffectRecord| {
        effect.place != effect.place.parent().end() || effect.place == Place::root().end()
    };
    let marks: Vec<(Option<Phase>, f64)> =
        marks.filter(begins).map(|effect| (effect.place.phase(), effect.elapsed_begun)).collect();
    let ends = marks.iter().skip(1).map(|(_, elapsed)| *elapsed).chain([total]);
    let spans: Vec<(Option<Phase>, f64)> =
        marks.iter().zip(ends).map(|((phase, began), ended)| (*phase, ended - began)).collect();
    let of =
        |phase: Phase| spans.iter().filter(|(of, _)| *of == Some(phase)).map(|(_, seconds)| seconds).sum();
    Ok(Durations {
        phase1_duration_seconds: of(Phase::Phase1),
        phase2_duration_seconds: of(Phase::Phase2),
        phase3_duration_seconds: of(Phase::Phase3),
        finalization_duration_seconds: of(Phase::Finalization),
        total_duration_seconds: total,
    })
}

fn costs(usage: &Spending, paths: u32) -> Costs {
    let cost = |calls: Option<&Calls>| calls.map_or(Some(0.0), |calls| calls.usage.cost_usd);
    let phase = |phase: Phase| cost(usage.by_phase.get(&phase));
    Costs {
        phase1_cost_usd: phase(Phase::Phase1),
        phase2_cost_usd: phase(Phase::Phase2),
        phase2_per_path_cost_usd: (0..paths)
            .map(|path| cost(usage.by_path.get(&Place::of_path(path).session())))
            .collect(),
        phase3_cost_usd: phase(Phase::Phase3),
        finalization_cost_usd: phase(Phase::Finalization),
        total_cost_usd: usage.total().usage.cost_usd,
    }
}

/// The phases that did not fail and in which no limit skipped anything.
fn phases_completed(
    effects: &[EffectRecord],
    paths: &[(Refinement, PathRecord)],
    with_ensemble: bool,
    finalized: bool,
) -> Vec<String> {
    let has_failed = |(_, path): &(Refinement, PathRecord)| path.status == PathStatus::Failed;
    let cut = |phase: Phase| {
        let of_phase = |effect: &&EffectRecord| effect.place.phase() == Some(phase);
        effects.iter().filter(of_phase).any(|effect| effect.counts() && effect.limit.is_some())
    };
    let done = |phase: &Phase| match phase {
        Phase::Phase2 if paths.iter().any(has_failed) => false,
        Phase::Phase3 if !with_ensemble => false,
        Phase::Finalization => finalized && !cut(*phase),
        _ => !cut(*phase),
    };
    Phase::ALL.iter().filter(|phase| done(phase)).map(|phase| phase.name().to_owned()).collect()
}
