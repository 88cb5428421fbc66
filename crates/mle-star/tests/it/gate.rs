//! Scripts with planted leaks, and solutions whose scores cannot be believed.

use std::collections::BTreeSet;

use mle_star::event::Event;
use mle_star::journal::{Frozen, Journal};
use mle_star::slots::Slots;
use mle_star::testing::{World, failed, measured, ran, submitted};
use mle_star_domain::config::{LeakageGate, Probes};
use mle_star_domain::effects::{DataView, Fits, Fitted, ScriptOutcome};
use mle_star_domain::measure::Chance;
use mle_star_domain::trust::{ProbeVerdict, Severity, Trust};

use crate::holdout::held_out;
use crate::{Folder, go_on, run, warnings};

#[path = "../../../mle-star-leakage/tests/it/scripts.rs"]
mod scripts;

use scripts::scripts;

fn inputs(gate: LeakageGate) -> Frozen {
    let mut inputs = held_out();
    inputs.config.leakage_gate = gate;
    inputs.task.roles.target = None;
    inputs
}

/// The leaking scripts of the corpus with their rules that block, as `rule line`.
fn leaking() -> Vec<(String, String)> {
    let expected = |text: &str| {
        let (first, _) = text.split_once('\n').unwrap();
        first.trim_start_matches("# expect: ").to_owned()
    };
    scripts("leaks").into_iter().map(|(_, text)| (expected(&text), text)).collect()
}

/// A world whose first candidate is this script, with the best score of all.
fn with_candidate(script: &str) -> World {
    World::new()
        .agent("phase1/candidate-0/init", &format!("```python\n{script}\n```"))
        .script("phase1/candidate-0/run", measured(&[0.99, 0.98, 1.0]))
        .script("phase1/candidate-1/run", measured(&[0.6, 0.59, 0.61]))
}

async fn trust(world: &World, inputs: &Frozen) -> Trust {
    run(world, inputs).await.unwrap().result.trust.unwrap()
}

#[tokio::test]
async fn no_planted_leak_wins_and_each_is_named() {
    let mut rules = Vec::new();
    for (expected, script) in leaking() {
        let (rule, rest) = expected.split_once(' ').unwrap();
        // The checker's own tests have all scripts; here three of each rule go through whole runs.
        if rules.iter().filter(|known| *known == rule).count() == 3 {
            continue;
        }
        let found = mle_star_leakage::check(&script, &mle_star_leakage::Facts::default()).unwrap();
        if !found.iter().any(|finding| finding.rule.blocks()) {
            continue;
        }
        let line: u64 = rest.split([' ', ',']).next().unwrap().parse().unwrap();
        let world = (1..9).fold(with_candidate(&script), |world, count| {
            world.agent(&format!("phase1/candidate-0/gate-fix-{count}"), "no idea")
        });
        let trust = trust(&world, &inputs(LeakageGate::Block)).await;
        assert!(world.script_run("phase1/candidate-0/run").is_none(), "{expected}");
        assert_ne!(trust.validation_score, Some(0.99), "{expected}");
        let found = trust.findings.iter().find(|finding| finding.rule == rule && finding.line == line);
        let found = found.unwrap_or_else(|| panic!("{expected}: {:?}", trust.findings));
        assert_eq!(
            (found.severity, found.place.as_str()),
            (Severity::Block, "phase1/candidate-0/run"),
            "{expected}"
        );
        rules.push(rule.to_owned());
    }
    let all = mle_star_leakage::Rule::ALL.iter();
    let block = all.filter(|rule| rule.blocks());
    assert_eq!(BTreeSet::from_iter(rules), block.map(|rule| rule.id().to_owned()).collect());
}

const LEAK: &str = "\
import pandas as pd
from sklearn.linear_model import LinearRegression
from sklearn.metrics import mean_absolute_error
train = pd.read_csv('./input/train.csv')
x, y = train.drop(columns=['y']), train['y']
model = LinearRegression().fit(x, y)
score = mean_absolute_error(y, model.predict(x))
print(f'Final Validation Performance: {score}')";

const HONEST: &str = "\
from sklearn.model_selection import cross_val_predict
score = mean_absolute_error(y, cross_val_predict(LinearRegression(), x, y, cv=5))";

#[tokio::test]
async fn the_agent_sees_the_finding_and_a_corrected_script_is_scored() {
    let world =
        with_candidate(LEAK).agent("phase1/candidate-0/gate-fix-1", &format!("```python\n{HONEST}\n```"));
    let trust = trust(&world, &inputs(LeakageGate::Block)).await;
    let asked = world.request("phase1/candidate-0/gate-fix-1").unwrap().prompt;
    assert!(asked.contains("# What leaks\n\nLine "), "{asked}");
    let script = world.script_run("phase1/candidate-0/run").unwrap().script;
    assert!(script.contains("cross_val_predict") && !script.contains("model.predict(x)"), "{script}");
    assert_eq!(trust.validation_score, Some(0.99));
    assert_eq!(trust.findings.len(), 1, "{:?}", trust.findings);
    let is_told = |event: &Event| matches!(event, Event::Finding { finding, .. } if finding.rule == "scored-on-training-rows");
    assert!(world.events().iter().any(is_told));
}

#[tokio::test]
async fn the_debugger_does_not_see_a_blocked_script() {
    let world = (1..9).fold(with_candidate(LEAK), |world, count| {
        world.agent(&format!("phase1/candidate-0/gate-fix-{count}"), "no idea")
    });
    trust(&world, &inputs(LeakageGate::Block)).await;
    let of_candidate = |place: &String| place.starts_with("phase1/candidate-0/");
    let effects: Vec<String> = world.trace().into_iter().filter(of_candidate).collect();
    let expected = ["init", "leakage", "gate-fix-1"].map(|name| format!("phase1/candidate-0/{name}"));
    assert_eq!(effects, expected);
}

#[tokio::test]
async fn an_honest_script_costs_no_further_call() {
    let honest = LEAK.replace("score = mean_absolute_error(y, model.predict(x))", HONEST);
    let mut traces = Vec::new();
    for gate in [LeakageGate::Block, LeakageGate::Off] {
        let world = with_candidate(&honest);
        let trust = trust(&world, &inputs(gate)).await;
        assert_eq!((trust.validation_score, trust.findings.len()), (Some(0.99), 0), "{gate:?}");
        traces.push(world.trace());
    }
    assert!(traces[0].len() > 10 && traces[0] == traces[1], "{traces:?}");
}

#[tokio::test]
async fn all_targets_of_the_run_are_known() {
    let named = |(name, _): &(String, String)| name == "second-of-two-targets";
    let (_, script) = scripts("leaks").into_iter().find(named).unwrap();
    // The script names its targets where the checker does not follow.
    let script = script.replace("[\"heating\", \"cooling\"]", "json.load(open('settings.json'))['targets']");
    for (targets, findings) in [(vec![], 0), (vec!["heating".to_owned(), "cooling".to_owned()], 1)] {
        let mut inputs = inputs(LeakageGate::Warn);
        inputs.task.roles.target = Some("heating".to_owned().into());
        inputs.protocol.as_mut().unwrap().targets = targets;
        let trust = trust(&with_candidate(&script), &inputs).await;
        let leaks = trust.findings.iter().filter(|finding| finding.severity == Severity::Block);
        let rules: Vec<&str> = leaks.map(|finding| finding.rule.as_str()).collect();
        assert_eq!(rules, vec!["target-statistics"; findings]);
    }
}

#[tokio::test]
async fn the_gate_can_only_warn_or_be_off() {
    for (gate, findings) in [(LeakageGate::Warn, 1), (LeakageGate::Off, 0)] {
        let world = with_candidate(LEAK);
        let trust = trust(&world, &inputs(gate)).await;
        assert_eq!((trust.validation_score, trust.findings.len()), (Some(0.99), findings), "{gate:?}");
        assert!(world.request("phase1/candidate-0/gate-fix-1").is_none(), "{gate:?}");
    }
}

#[tokio::test]
async fn a_resume_keeps_the_findings_and_asks_no_one_again() {
    let (folder, inputs) = (Folder::fresh(), inputs(LeakageGate::Block));
    let journal = Journal::create(folder.path(), &inputs).unwrap();
    let world = with_candidate(LEAK);
    let before = go_on(&world, &inputs, &journal).await.unwrap().result;
    drop(journal);
    world.forget();
    let (journal, inputs) = Journal::open(folder.path()).unwrap();
    let after = go_on(&world, &inputs, &journal).await.unwrap().result;
    assert_eq!(after.trust, before.trust);
    assert_eq!(world.trace(), Vec::<String>::new());
}

/// The outcome of a run with a permuted target, by how many standard deviations it is better than chance.
fn by_chance(better: f64) -> ScriptOutcome {
    let chance = Chance { score: 0.5 + 0.01 * better, mean: 0.5, standard_deviation: 0.01 };
    ScriptOutcome { chance: Some(chance), ..measured(&[0.5, 0.49, 0.51]) }
}

/// A run in which the first round is best, the second one next, and both wrote a submission.
fn with_rounds() -> World {
    World::new()
        .script("phase2/path-0/t0/k0/run", with_round(0.8))
        .script("phase3/r0/run", with_round(0.9))
        .script("finalization/probe-0/replaced-test-rows/run", with_fits(Fits::Clean { rows: 90, of: 100 }))
        .script("finalization/probe-1/replaced-test-rows/run", with_round(0.8))
}

fn with_round(score: f64) -> ScriptOutcome {
    ScriptOutcome { submission: submitted(&[]).submission, ..measured(&[score, score - 0.01, score + 0.01]) }
}

fn with_fits(fits: Fits) -> ScriptOutcome {
    ScriptOutcome { fits: Some(fits), ..measured(&[0.9, 0.89, 0.91]) }
}

#[tokio::test]
async fn a_suspect_solution_gives_way_to_the_next_best() {
    let mut inputs = held_out();
    inputs.config.probes = Probes::Final;
    let probed = |first: f64, second: f64| {
        with_rounds()
            .script("finalization/probe-0/shuffled-target/run", by_chance(first))
            .script("finalization/probe-1/shuffled-target/run", by_chance(second))
            .script("finalization/probe-2/shuffled-target/run", by_chance(second))
            .script("finalization/probe-3/shuffled-target/run", by_chance(second))
    };
    let verdicts = |trust: &Trust| trust.probes.iter().map(|probe| probe.verdict).collect::<Vec<_>>();

    let world = probed(2.0, 2.0);
    let passed = trust(&world, &inputs).await;
    assert_eq!((passed.validation_score, verdicts(&passed)), (Some(0.9), vec![ProbeVerdict::Pass; 3]));
    let view = |place: &str| world.script_run(place).unwrap().data;
    assert_eq!(view("finalization/probe-0/shuffled-target/run"), DataView::ShuffledTarget);
    assert_eq!(view("finalization/probe-0/replaced-test-rows/run"), DataView::ReplacedTestRows);
    let probes = world.trace().into_iter().filter(|place| place.contains("/probe-"));
    assert_eq!(probes.count(), 2, "the fits are watched while the test rows are replaced");

    let replaced = trust(&probed(4.0, -1.0), &inputs).await;
    assert_eq!(replaced.validation_score, Some(0.8), "{replaced:?}");
    assert_eq!(replaced.choice.rule, "validation score, after a suspect one");
    assert_eq!(replaced.choice.candidates[0].validation, 0.8);

    let world = probed(4.0, 5.0);
    let all_suspect = trust(&world, &inputs).await;
    assert_eq!(
        (all_suspect.validation_score, all_suspect.probes[0].verdict),
        (Some(0.9), ProbeVerdict::Suspect)
    );
    assert_eq!(warnings(&world, "finalization", "no other solution passes"), 1);
}

/// The leakage agent finds a leak in these steps, in a block that is not in the script.
fn leaking_in(steps: &[&str]) -> World {
    let leak = r#"[{"leakage_status": "Yes Data Leakage", "code_block": "not in it"}]"#;
    steps.iter().fold(with_rounds(), |world, step| world.agent(&format!("{step}/leakage"), leak))
}

fn gate_and_probes(gate: LeakageGate, probes: Probes) -> Frozen {
    let mut inputs = inputs(gate);
    inputs.config.probes = probes;
    inputs
}

#[tokio::test]
async fn a_leak_that_the_agent_cannot_correct_gives_way_to_the_next_best() {
    let why = "the leakage agent found a leak in the script and could not correct it";
    let mut inputs = gate_and_probes(LeakageGate::Block, Probes::Final);
    for verifies in [true, false] {
        inputs.protocol.as_mut().unwrap().verifies = verifies;
        let world =
            leaking_in(&["phase3/r0"]).script("finalization/probe-1/shuffled-target/run", by_chance(0.0));
        let result = run(&world, &inputs).await.unwrap().result;
        let trust = result.trust.unwrap();
        assert_eq!((trust.validation_score, result.leakage_suspected), (Some(0.8), false), "{verifies}");
        let probed = if verifies { "" } else { ", not probed" };
        assert_eq!(trust.choice.rule, format!("validation score, after one with a suspected leak{probed}"));
        assert_eq!(trust.choice.candidates[0].place.as_str(), "phase2/path-0/t0/k0/run");
        assert_eq!(trust.suspicion(), None);
        assert_eq!(warnings(&world, "finalization", &format!("{why}; the next best solution is tried")), 1);
        let probes = world.trace().into_iter().filter(|place| place.contains("/probe-"));
        assert!(probes.clone().all(|place| place.starts_with("finalization/probe-1/")), "{verifies}");
        assert_eq!(probes.count(), if verifies { 2 } else { 0 });
    }
}

#[tokio::test]
async fn if_all_leak_the_best_is_submitted_and_this_is_said() {
    let attempts =
        ["phase2/path-0/t0/k0", "phase2/path-0/t0/k1", "phase2/path-1/t0/k0", "phase2/path-1/t0/k1"];
    let world = leaking_in(&[&attempts[..], &["phase1/final", "phase3/r0", "phase3/r1"]].concat());
    let result = run(&world, &gate_and_probes(LeakageGate::Block, Probes::Final)).await.unwrap().result;
    let trust = result.trust.unwrap();
    assert_eq!((trust.validation_score, result.leakage_suspected), (Some(0.9), true));
    assert_eq!(trust.choice.rule, "validation score");
    let verdicts: Vec<_> = trust.probes.iter().map(|probe| (probe.name.as_str(), probe.verdict)).collect();
    assert_eq!(verdicts, [("leakage-check", ProbeVerdict::Suspect)]);
    assert_eq!(
        trust.suspicion(),
        Some("the leakage agent found a leak in the script and could not correct it")
    );
    assert_eq!(warnings(&world, "finalization", "no other solution passes"), 1);
    assert!(world.trace().iter().all(|place| !place.contains("/probe-")));
}

#[tokio::test]
async fn without_gate_or_probes_a_leak_of_the_agent_gives_way_to_nothing() {
    for (gate, probes) in [
        (LeakageGate::Off, Probes::Off),
        (LeakageGate::Off, Probes::Final),
        (LeakageGate::Warn, Probes::Final),
        (LeakageGate::Block, Probes::Off),
    ] {
        let world =
            leaking_in(&["phase3/r0"]).script("finalization/probe-0/shuffled-target/run", by_chance(0.0));
        let result = run(&world, &gate_and_probes(gate, probes)).await.unwrap().result;
        let trust = result.trust.unwrap();
        assert_eq!(trust.validation_score, Some(0.9), "{gate:?} {probes:?}");
        assert!(trust.probes.iter().all(|probe| probe.verdict != ProbeVerdict::Suspect), "{gate:?}");
        // The submission script is another one, and has no leak.
        assert_eq!(result.leakage_suspected, gate == LeakageGate::Block, "{gate:?} {probes:?}");
    }
}

#[tokio::test]
async fn a_leak_does_not_come_back_when_finalization_fails() {
    let world = leaking_in(&["phase3/r0"])
        .script("finalization/probe-1/shuffled-target/run", by_chance(0.0))
        .panics("finalization/test");
    let finished = run(&world, &gate_and_probes(LeakageGate::Block, Probes::Final)).await.unwrap();
    assert_eq!(finished.submission.unwrap().as_str(), "phase2/path-0/t0/k0/run");
    let rule = finished.result.trust.unwrap().choice.rule;
    assert_eq!(rule, "validation score, after one with a suspected leak");
}

#[tokio::test]
async fn skipped_probes_say_why() {
    let mut inputs = held_out();
    inputs.config.probes = Probes::Final;
    let check = async |world: &World, inputs: &Frozen, expected: &str| {
        let trust = trust(world, inputs).await;
        let names: Vec<&str> = trust.probes.iter().map(|probe| probe.name.as_str()).collect();
        assert_eq!(names, ["shuffled-target", "replaced-test-rows", "fits"]);
        for probe in &trust.probes {
            assert_eq!(probe.verdict, ProbeVerdict::Skipped, "{probe:?}");
            assert!(probe.detail.contains(expected), "{probe:?}");
        }
        let places = world.trace();
        assert!(places.iter().all(|place| !place.contains("/probe-")), "{places:?}");
    };
    let slow = ScriptOutcome { duration_seconds: 1e6, ..with_round(0.9) };
    let slow = with_rounds().script("phase3/r0/run", slow);
    check(&slow, &inputs, "it would take about 1500000.0 s, and its share of the time is ").await;

    inputs.protocol.as_mut().unwrap().verifies = false;
    let expected = "the program does not compute scores from predictions in this run";
    check(&with_rounds(), &inputs, expected).await;
}

#[tokio::test]
async fn what_a_probe_suspects_gives_way_to_the_next_best() {
    use ProbeVerdict::{Pass, Skipped, Suspect};
    let check = async |probe: &str, outcome: ScriptOutcome, verdict, expected: &str| {
        let mut inputs = held_out();
        inputs.config.probes = Probes::Final;
        let [first, second] = [0, 1].map(|n| format!("finalization/probe-{n}/shuffled-target/run"));
        let world = with_rounds().script(&first, by_chance(0.0)).script(&second, by_chance(0.0));
        let run = if probe == "fits" { "replaced-test-rows" } else { probe };
        let world = world.script(&format!("finalization/probe-0/{run}/run"), outcome);
        let trust = trust(&world, &inputs).await;
        let score = if verdict == Suspect { 0.8 } else { 0.9 };
        assert_eq!(trust.validation_score, Some(score), "{expected}: {:?}", trust.probes);
        if verdict == Suspect {
            assert_eq!(warnings(&world, "finalization", expected), 1, "{expected}");
        } else {
            let found = trust.probes.iter().find(|one| one.name == probe).unwrap();
            assert!(found.verdict == verdict && found.detail.contains(expected), "{found:?}");
        }
    };
    let (score, rows) = ("shuffled-target", "replaced-test-rows");
    // It was not computed from the labels.
    check(score, ran(Some(0.9)), Suspect, "with a permuted target, the score is the same").await;
    check(score, ran(Some(0.7)), Skipped, "left no predictions").await;
    check(rows, measured(&[0.7, 0.69, 0.71]), Suspect, "with other test rows").await;
    let leak = |by, line| {
        with_fits(Fits::Leak { estimator: "TargetEncoder".to_owned(), by, line, rows: 90, of: 100 })
    };
    let transformer =
        "for rows that what makes their features, TargetEncoder in line 7, was fitted on with their labels";
    check("fits", leak(Fitted::Transformer, 7), Suspect, transformer).await;
    let model =
        "90 of 100 validation predictions are for rows that their model, TargetEncoder, was fitted on";
    check("fits", leak(Fitted::Model, 0), Suspect, model).await;
    let clean = with_fits(Fits::Clean { rows: 90, of: 100 });
    check("fits", clean, Pass, "90 of 100 validation predictions are by").await;
    let unknown = with_fits(Fits::Unknown { why: "no fit was seen".to_owned() });
    check("fits", unknown, Skipped, "no fit was seen").await;
    let failed = || failed("ValueError: broken");
    check(rows, failed(), Skipped, "the script failed on changed data: ValueError: broken").await;
    check("fits", failed(), Skipped, "the script failed while it was watched: ValueError: broken").await;
}

/// Two slots are as fast as the slower of both probes; one slot is enough.
#[tokio::test(start_paused = true)]
async fn both_runs_of_a_probed_solution_begin_at_once() {
    let mut inputs = held_out();
    inputs.config.probes = Probes::Final;
    let is_begun = |event: &Event| matches!(event, Event::ScriptStarted { place, .. } if place.is_probe());
    let is_over = |event: &Event| matches!(event, Event::ScriptEnded { place, .. } if place.is_probe());
    for (slots, expected) in [(1, vec![true, false, true, false]), (2, vec![true, true, false, false])] {
        let (folder, world) = (Folder::fresh(), with_rounds().takes(0, 10));
        let world = world.script("finalization/probe-0/shuffled-target/run", by_chance(0.0));
        let journal = Journal::create(folder.path(), &inputs).unwrap();
        let result = world.solve(&inputs, &journal, &Slots::new(slots)).await.unwrap().result;
        let events = world.events();
        let told = events.iter().find_map(|event| match event {
            Event::Info { text, .. } => text.strip_prefix("finalization: "),
            _ => None,
        });
        let seconds = if slots == 1 { 57 } else { 47 };
        let runs = "2 probes, 1 run without the held-out rows, 1 run on all rows, importance";
        let words = format!("{runs}; about {seconds} s");
        assert_eq!(told, Some(words.as_str()));
        let order: Vec<bool> =
            events.iter().filter(|event| is_begun(event) || is_over(event)).map(is_begun).collect();
        assert_eq!(order, expected, "{slots}");
        let verdicts = result.trust.unwrap().probes.into_iter().map(|probe| probe.verdict);
        assert_eq!(verdicts.collect::<Vec<_>>(), [ProbeVerdict::Pass; 3], "{slots}");
    }
}

#[tokio::test]
async fn an_unprobed_solution_that_replaces_a_suspect_one_is_named_so() {
    let mut inputs = held_out();
    inputs.config.probes = Probes::Final;
    let slow = ScriptOutcome { duration_seconds: 1e4, ..with_round(0.8) };
    let world = with_rounds()
        .script("phase2/path-0/t0/k0/run", slow)
        .script("finalization/probe-0/shuffled-target/run", by_chance(4.0));
    let trust = trust(&world, &inputs).await;
    assert_eq!(trust.validation_score, Some(0.8), "{:?}", trust.probes);
    assert_eq!(trust.choice.rule, "validation score, after a suspect one, not probed");
}
