//! Tests of the limits.

use mle_star_domain::place::{Name, Step};
use mle_star_domain::protocol::Holdout;

use super::*;

/// Limits of a run of this many seconds, with a first solution.
fn limits(total: u64, config: Config) -> (Limits, Config) {
    let config = Config { time_limit_seconds: total, ..config };
    let limits = Limits::new(&config, None);
    find_solution(&limits);
    (limits, config)
}

/// Limits of a run of 100 seconds on a table of so many rows, with a first solution.
fn limits_of_table(rows: u64, holds_out: bool, num_parallel_solutions: u32) -> Limits {
    let config = Config { time_limit_seconds: 100, num_parallel_solutions, ..Config::default() };
    let holdout = match holds_out {
        true => Holdout::On { rows: 10, of: 100, seed: 0, digest: String::new(), period: false },
        false => Holdout::Off { why: String::new() },
    };
    let protocol = crate::testing::protocol();
    let limits = Limits::new(&config, Some(&Protocol { rows, holdout, ..protocol }));
    find_solution(&limits);
    limits
}

fn find_solution(limits: &Limits) {
    limits.record_verdict(&Verdict { score: Some(0.5), ..Verdict::default() });
}

/// A script for this purpose ran so many seconds.
fn ran(limits: &Limits, purpose: Purpose, duration_seconds: f64) {
    let ended = ScriptOutcome::of(ScriptEnd::Exited { code: 0 });
    limits.record_script(purpose, &ScriptOutcome { duration_seconds, ..ended });
}

/// The second at which the first work is refused at `place`.
fn refused_at(limits: &Limits, place: &Place) -> Option<(u32, Limit)> {
    (0..=100_000).find_map(|second| Some((second, limits.refusing_limit(place, f64::from(second))?)))
}

#[test]
fn each_phase_gets_its_share_of_what_is_left() {
    use Phase::{Finalization, Phase1, Phase2, Phase3};
    let check = |config: &Config, began: &[(Phase, f64, u32)]| {
        let (limits, config) = limits(1000, config.clone());
        for (phase, now, ends) in began {
            limits.begin_phase(*phase, &config, *now);
            // Search as a whole ends at 900, when the reserve is left; the phase itself may end before that.
            let place = Place::from(*phase);
            let expected = if *ends == 900 { Limit::Time } else { Limit::Share };
            let expected = if *phase == Finalization { Limit::Time } else { expected };
            assert_eq!(refused_at(&limits, &place), Some((*ends, expected)), "{phase:?} at {now}");
        }
    };
    let defaults = Config::default();
    // 10, 65, 15 and 10 percent, when each phase uses all of its time.
    check(&defaults, &[(Phase1, 0.0, 100), (Phase2, 100.0, 750), (Phase3, 750.0, 900)]);
    check(&defaults, &[(Finalization, 900.0, 1000)]);
    // What Phase 1 leaves is divided 65 to 15 to 10, and what Phase 2 leaves 15 to 10.
    check(&defaults, &[(Phase1, 0.0, 100), (Phase2, 10.0, 725), (Phase3, 500.0, 800)]);
    // A phase that is late takes from the later ones in proportion.
    check(&defaults, &[(Phase2, 460.0, 818)]);
    // Without an ensemble, refinement has its time.
    let one_path = Config { num_parallel_solutions: 1, ..Config::default() };
    check(&one_path, &[(Phase1, 0.0, 100), (Phase2, 100.0, 900)]);
    let phase_time_budget = mle_star_domain::config::PhaseTimeBudget {
        phase1_pct: 40.0,
        phase2_pct: 30.0,
        phase3_pct: 10.0,
        finalization_pct: 20.0,
    };
    let other = Config { phase_time_budget, ..Config::default() };
    check(&other, &[(Phase1, 0.0, 400), (Phase2, 400.0, 700), (Phase3, 700.0, 800)]);
}

#[test]
fn search_leaves_time_for_the_last_run_on_all_rows() {
    for (runs, ends) in [(&[5.0][..], 90), (&[4.0, 20.0, 8.0], 70), (&[60.0], 50)] {
        let limits = limits_of_table(0, true, 1);
        runs.iter().for_each(|seconds| ran(&limits, Purpose::Score, *seconds));
        assert_eq!(refused_at(&limits, &Place::of_path(0)), Some((ends, Limit::Time)), "{runs:?}");
        let finalization = Place::from(Phase::Finalization);
        assert_eq!(refused_at(&limits, &finalization), Some((100, Limit::Time)), "{runs:?}");
    }
}

#[test]
fn a_script_that_must_run_again_has_time_for_both_runs() {
    let limits = |period: bool| {
        let config = Config { time_limit_seconds: 100, num_parallel_solutions: 1, ..Config::default() };
        let holdout = Holdout::On { rows: 10, of: 100, seed: 0, digest: String::new(), period };
        Limits::new(&config, Some(&Protocol { rows: 100, holdout, ..crate::testing::protocol() }))
    };
    let place = Place::from(Phase::Phase1);
    let check = |period: bool, now: f64, stopped: u64, search: u32| {
        let limits = limits(period);
        let seconds = limits.script_timeout(&place, Purpose::Score, now).as_secs();
        assert_eq!(seconds, stopped, "{period} at {now}");
        find_solution(&limits);
        ran(&limits, Purpose::Score, 40.0);
        let path = Place::of_path(0);
        assert_eq!(refused_at(&limits, &path), Some((search, Limit::Time)), "{period} at {now}");
    };
    check(false, 0.0, 90, 50);
    check(true, 0.0, 40, 40);
    check(true, 50.0, 20, 40);
    // The first answer may take longer than the others.
    let limits = limits(true);
    let first = limits.provisional_time(&place, 60.0);
    ran(&limits, Purpose::Submission, 10.0);
    assert_eq!((first, limits.provisional_time(&place, 60.0)), (10.0, 4.0));
}

#[test]
fn search_leaves_time_for_a_combination_only_if_it_runs_again() {
    let check = |repeats: bool, ends: u32| {
        let limits = limits_of_table(0, repeats, 2);
        [5.0; HISTORY_LENGTH].into_iter().for_each(|seconds| ran(&limits, Purpose::Score, seconds));
        assert_eq!(refused_at(&limits, &Place::of_path(0)), Some((ends, Limit::Time)), "{repeats}");
    };
    check(false, 90);
    check(true, 81);
}

#[test]
fn search_on_a_sample_leaves_time_for_more_rows() {
    for (rows, seconds, ends, members) in
        [(30_000, 8.0, 88, 76), (60_000, 8.0, 76, 38), (90_000, 8.0, 64, 25), (3_000_000, 8.0, 64, 25)]
    {
        let limits = limits_of_table(rows, true, 1);
        ran(&limits, Purpose::Score, seconds);
        assert_eq!(refused_at(&limits, &Place::of_path(0)), Some((ends, Limit::Time)), "{rows}");
        assert_eq!(Duration::from_secs_f64(limits.max_ensemble_seconds(0.0)).as_secs(), members, "{rows}");
        assert_eq!(Duration::from_secs_f64(limits.max_submission_seconds(0.0)).as_secs(), 76, "{rows}");
    }
}

#[test]
fn scripts_and_agents_have_what_is_left_of_their_phase() {
    let (limits, config) =
        limits(1000, Config { agent_timeout_seconds: 300, outer_loop_steps: 4, ..Config::default() });
    limits.begin_phase(Phase::Phase2, &config, 100.0);
    let path = Place::of_path(0);
    let seconds = |purpose: Purpose, now: f64| limits.script_timeout(&path, purpose, now).as_secs();
    // Phase 2 ends at 750; an ablation study has an eighth of the whole: once per step and half of that.
    use Purpose::{Ablation, Comparison, Score};
    let early = (seconds(Score, 150.0), seconds(Ablation, 150.0), seconds(Comparison, 150.0));
    assert_eq!((early, seconds(Ablation, 700.0)), ((600, 125, 100), 50));
    // What begins at the last moment still has a second.
    assert_eq!(seconds(Score, 749.9), 1);
    let agent = |now| {
        let (call, all) = limits.agent_timeout(&path, AgentType::Coder, now);
        (call.as_secs(), all.as_secs())
    };
    assert_eq!((agent(150.0), agent(650.0)), ((300, 600), (100, 100)));
    let finalization = Place::from(Phase::Finalization);
    assert_eq!(limits.script_timeout(&finalization, Purpose::Submission, 750.0).as_secs(), 250);
}

#[test]
fn short_runs_have_time_to_compare_the_tables() {
    for (total, expected) in [(2, 1), (30, 10), (60, 20), (200, 20), (600, 60), (7200, 120)] {
        let (limits, _) = limits(total, Config::default());
        let found = limits.script_timeout(&Place::tables(), Purpose::Comparison, 0.0).as_secs();
        assert_eq!(found, expected, "{total}");
    }
}

#[test]
fn what_every_run_needs_may_borrow_from_later_phases() {
    let (limits, config) = limits(1000, Config::default());
    limits.begin_phase(Phase::Phase1, &config, 0.0);
    let check = |step: Step, ends: u32, limit: Limit| {
        assert_eq!(refused_at(&limits, &step.place()), Some((ends, limit)), "{step}");
    };
    check(Step::Candidate(1), 350, Limit::Share);
    check(Step::Merge(1), 100, Limit::Share);
    check(Step::DataCheck, 900, Limit::Time);
    check(Step::LeakageCheck, 900, Limit::Time);
    limits.begin_phase(Phase::Phase3, &config, 100.0);
    check(Step::Round(0), 640, Limit::Share);
    check(Step::Extra(0), 900, Limit::Time);
}

#[test]
fn nothing_begins_that_takes_longer_than_what_is_left() {
    let (limits, config) = limits(1000, Config::default());
    limits.begin_phase(Phase::Phase2, &config, 100.0);
    let attempt = Step::Attempt { path: 0, outer: 0, inner: 0 }.place();
    let begins_until = |place: &Place| {
        (0..1000).rev().find(|now| limits.too_late_to_begin(place, None, f64::from(*now)).is_none())
    };
    assert_eq!(begins_until(&attempt), Some(749));
    [40.0, 20.0, 30.0].into_iter().for_each(|seconds| ran(&limits, Purpose::Score, seconds));
    assert_eq!(begins_until(&attempt), Some(729));
    // Only the latest scripts count.
    [50.0; HISTORY_LENGTH].into_iter().for_each(|seconds| ran(&limits, Purpose::Score, seconds));
    assert_eq!(begins_until(&attempt), Some(699));
    assert_eq!(begins_until(&Place::from(Phase::Finalization)), Some(999));
    // A step needs its ablation study before the first attempt.
    let step = Step::Outer { path: 0, outer: 1 }.place();
    assert_eq!(begins_until(&step), Some(574));
    // A study is stopped after 125 seconds.
    [200.0; HISTORY_LENGTH].into_iter().for_each(|seconds| ran(&limits, Purpose::Score, seconds));
    assert_eq!(begins_until(&step), Some(424));
    [50.0; HISTORY_LENGTH].into_iter().for_each(|seconds| ran(&limits, Purpose::Score, seconds));
    ran(&limits, Purpose::Ablation, 100.0);
    assert_eq!(begins_until(&step), Some(599));
    assert_eq!(begins_until(&attempt), Some(699));
}

#[test]
fn the_importance_of_columns_may_take_half_of_what_is_left() {
    let (limits, _) = limits(1000, Config::default());
    let place = Step::Finalization.place();
    let seconds = |place: &Place| limits.script_timeout(place, Purpose::Probe, 900.0).as_secs_f64();
    assert!((seconds(&place) - 10.0).abs() < 1e-9, "{}", seconds(&place));
    assert!((seconds(&place.importance().named(Name::Run)) - 50.0).abs() < 1e-9);
}

#[test]
fn a_copy_with_the_model_leaves_time_for_the_script_itself() {
    let (limits, _) = limits(1000, Config::default());
    let place = Step::Finalization.place();
    let seconds = |place: Place| limits.script_timeout(&place, Purpose::Submission, 900.0).as_secs_f64();
    assert!((seconds(place.with_model().named(Name::Run)) - 50.0).abs() < 1e-9);
    assert!((seconds(place.named(Name::Run)) - 100.0).abs() < 1e-9);
}

#[test]
fn checks_of_the_answer_take_a_small_share_of_the_time_that_the_search_took() {
    let (limits, _) = limits(86_400, Config::default());
    let (probe, importance) = (Step::Finalization.place(), Step::Finalization.place().importance());
    for (used, of_probe, of_importance) in [(100.0, 60.0, 60.0), (6000.0, 450.0, 300.0)] {
        let found = [&probe, &importance].map(|place| limits.probe_time(place, used));
        assert!((found[0] - of_probe).abs() < 1e-9 && (found[1] - of_importance).abs() < 1e-9, "{found:?}");
    }
}

#[test]
fn an_agent_is_asked_only_if_its_answer_leaves_time_for_the_script() {
    let (limits, config) = limits(1000, Config::default());
    limits.begin_phase(Phase::Phase3, &config, 100.0);
    ran(&limits, Purpose::Score, 10.0);
    let place = Step::Round(0).place();
    let begins = |now: f64| limits.too_late_to_begin(&place, Some(90.0), now).is_none();
    let runs = |now: f64| limits.too_late_to_run(&place, Some(90.0), now).is_none();
    // Agents that answer at once write scripts that take as long as what they are made from.
    limits.record_call(AgentType::Ensembler, 0.001);
    assert!(begins(549.0) && !begins(551.0) && runs(549.0) && !runs(551.0));
    [60.0, 20.0, 100.0].into_iter().for_each(|seconds| limits.record_call(AgentType::Ensembler, seconds));
    limits.record_call(AgentType::Leakage, 1.0);
    assert!(begins(489.0) && !begins(491.0));
    // They have read what length to aim at.
    assert!(runs(629.0) && !runs(631.0));
}

#[test]
fn a_script_that_has_run_is_still_checked_after_its_phase() {
    let (limits, config) = limits(1000, Config::default());
    limits.begin_phase(Phase::Phase1, &config, 0.0);
    let merge = Step::Merge(1).place();
    assert_eq!(limits.too_late_to_ask(&merge, AgentType::Merger, 100.0), Some(Limit::Share));
    assert_eq!(limits.too_late_to_ask(&merge, AgentType::Leakage, 940.0), None);
    assert_eq!(limits.too_late_to_ask(&merge, AgentType::Leakage, 950.0), Some(Limit::Time));
    let (call, _) = limits.agent_timeout(&merge, AgentType::Leakage, 930.0);
    assert_eq!(call.as_secs(), 20);
}
