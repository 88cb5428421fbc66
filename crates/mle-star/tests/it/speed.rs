//! The program's own time, without agents and scripts. Times are compared with others of the same test run, since
//! machines differ and may be busy.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use mle_star::solution::{Solution, SolutionPhase};
use mle_star::testing::{World, frozen};
use mle_star_domain::config::Config;

use crate::run;

/// The shortest of many times: the one that other work on the machine disturbed least.
fn shortest(mut done: impl FnMut()) -> Duration {
    let mut once = || {
        let began = Instant::now();
        done();
        began.elapsed()
    };
    (0..30).map(|_| once()).min().unwrap()
}

/// Eight times the input may take 24 times as long. If the time grew with the square, it would be 64 times.
fn assert_linear(time: Duration, of_eight_times_the_input: Duration) {
    assert!(of_eight_times_the_input < 24 * time, "{time:?}, then {of_eight_times_the_input:?}");
}

/// The time that this thread has computed, in ticks of the kernel, which other work hardly disturbs; where the system does
/// not tell it, the time that has passed.
fn computed() -> Duration {
    static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let time = told.and_then(|told| told.split_whitespace().next()?.parse().ok());
    time.map_or_else(|| BEGAN.elapsed(), Duration::from_nanos)
}

#[tokio::test]
async fn an_effect_costs_as_much_in_a_long_run_as_in_a_short_one() {
    let mut of_paper = frozen();
    of_paper.config = Config::default();
    let mut costs = [Duration::MAX; 2];
    let mut effects = [0; 2];
    for _ in 0..3 {
        for (n, inputs) in [frozen(), of_paper.clone()].iter().enumerate() {
            let (world, began) = (World::new(), computed());
            run(&world, inputs).await.unwrap();
            effects[n] = world.trace().len();
            costs[n] = costs[n].min((computed() - began) / u32::try_from(effects[n]).unwrap());
        }
    }
    assert!(effects[1] > 150 && effects[1] > 3 * effects[0], "{effects:?}");
    assert!(costs[1] < 3 * costs[0], "{costs:?} for each of {effects:?} effects");
}

/// By the clock, so that waiting counts, too.
#[tokio::test]
async fn a_run_with_the_papers_defaults_adds_at_most_five_seconds() {
    let mut of_paper = frozen();
    of_paper.config = Config::default();
    let mut shortest = Duration::MAX;
    for _ in 0..3 {
        let began = Instant::now();
        run(&World::new(), &of_paper).await.unwrap();
        shortest = shortest.min(began.elapsed());
    }
    assert!(shortest < Duration::from_secs(5), "{shortest:?}");
}

#[test]
fn blocks_of_long_scripts_are_found_in_linear_time() {
    let [small, large] = [250, 2000].map(|length| {
        let lines: Vec<String> = (0..length).map(|n| format!("feature_{n} = compute({n})  ")).collect();
        let script = Solution::new(lines.join("\n"), SolutionPhase::Init);
        let quoted: Vec<&str> =
            lines[length / 2..length / 2 + length / 5].iter().map(|line| line.trim_end()).collect();
        let quoted = quoted.join("\n");
        shortest(|| drop(script.find_block(&quoted).unwrap()))
    });
    assert_linear(small, large);
}

#[tokio::test(start_paused = true)]
async fn durations_of_the_phases_add_up() {
    let mut inputs = frozen();
    inputs.config.time_limit_seconds = 36_000;
    let durations = run(&World::new().takes(1, 10), &inputs).await.unwrap().result.durations;
    let phases = [
        durations.phase1_duration_seconds,
        durations.phase2_duration_seconds,
        durations.phase3_duration_seconds,
        durations.finalization_duration_seconds,
    ];
    assert!(phases.iter().all(|seconds| *seconds >= 10.0), "{phases:?}");
    assert!((phases.iter().sum::<f64>() - durations.total_duration_seconds).abs() < 0.01, "{durations:?}");
}

#[tokio::test]
async fn a_second_run_starts_from_nothing() {
    let world = World::new().costs(Some(0.25));
    let first = run(&world, &frozen()).await.unwrap().result;
    let effects = world.trace().len();
    world.forget();
    let second = run(&world, &frozen()).await.unwrap().result;
    assert_eq!((world.trace().len(), second.total_cost_usd), (effects, first.total_cost_usd));
}

#[tokio::test]
async fn candidates_and_paths_go_on_side_by_side() {
    let world = World::new();
    run(&world, &frozen()).await.unwrap();
    let trace = world.trace();
    let first = |start: &str| trace.iter().position(|place| place.starts_with(start)).unwrap();
    let last = |start: &str| trace.iter().rposition(|place| place.starts_with(start)).unwrap();
    for (one, other) in [("phase1/candidate-0", "phase1/candidate-1"), ("phase2/path-0", "phase2/path-1")] {
        assert!(first(other) < last(one) && first(one) < last(other), "{trace:?}");
    }
    for (earlier, later) in [("phase1", "phase2"), ("phase2", "phase3"), ("phase3", "finalization")] {
        assert!(last(earlier) < first(later), "{trace:?}");
    }
}

#[test]
fn output_is_searched_for_its_score_in_linear_time() {
    let line = "epoch 17: loss 0.123456, accuracy 0.98765, Final Validation Perf\n";
    let [small, large] = [1 << 17, 1 << 20].map(|bytes| {
        let output = line.repeat(bytes / line.len()) + "Final Validation Performance: 0.75\n";
        shortest(|| assert_eq!(mle_star_domain::score::parse_score(&output), Some(0.75)))
    });
    assert_linear(small, large);
}
