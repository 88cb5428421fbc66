//! Probes: the solution to submit runs on changed data, to see whether its score can be believed.
//!
//! Why: some leaks show neither in the source of a script nor in its score on held-out rows. What it may change: a
//! suspect solution gives way to the next best.
//!
//! With a permuted target, nothing can be learnt: a script that scores better than chance has seen the answers. With
//! other test rows, a validation score stays what it was; in the same run, its fits are watched: no model may predict
//! validation rows that it was fitted on. A leak that the leakage agent found and did not correct needs no run.
//!
//! A probe repeats a run, so what runs took before tells whether it fits its share of the time. Of a combination that
//! does not, the fastest member is probed. Both runs begin at once, each as soon as a script slot is free.

use super::choice::{Chosen, Predictions};
use crate::ctx::Ctx;
use crate::lessons::number;
use crate::library::Library;
use crate::scored::Scored;
use crate::stop::Stop;
use crate::time_plan::TimePlan;
use futures_util::future::try_join;
use mle_star_domain::config::{LeakageGate, Probes};
use mle_star_domain::effects::{DataView, Fits, Fitted, Purpose, ScriptEnd, ScriptOutcome};
use mle_star_domain::place::Step;
use mle_star_domain::trust::{Probe, ProbeVerdict};

/// A score that is better than chance by more than this many standard deviations is suspect.
const MAX_Z_SCORE: f64 = 3.0;
/// A margin: a probe is expected to take this many times as long as the script before.
const LONGER: f64 = 1.5;
/// How many times a solution runs for its probes.
pub(crate) const RUNS: u64 = 2;
/// The names of the probes. The run of the second also tells the third.
const SHUFFLED: &str = "shuffled-target";
const REPLACED: &str = "replaced-test-rows";
const FITS: &str = "fits";

/// The chosen solution. If it is suspect: the first other one that is not. If all are: the chosen one nevertheless.
pub(crate) async fn probe(ctx: &Ctx<'_>, chosen: Chosen, library: &Library) -> Result<Chosen, Stop> {
    if ctx.config().probes == Probes::Off {
        return Ok(chosen);
    }
    let probes = probes_of(ctx, 0, &chosen.best, library).await?;
    if !is_suspect(&probes) {
        return Ok(Chosen { probes, ..chosen });
    }
    for (index, other) in (1..).zip(&chosen.others.clone()) {
        ctx.warn(format!("{}; the next best solution is tried", words(&probes)));
        let next = probes_of(ctx, index, other, library).await?;
        if !is_suspect(&next) {
            let is_probed = next.iter().any(|probe| probe.verdict != ProbeVerdict::Skipped);
            let probed = if is_probed { "" } else { ", not probed" };
            let before = if leaks(ctx, &chosen.best) { "one with a suspected leak" } else { "a suspect one" };
            let rule = format!("{}, after {before}{probed}", chosen.choice.rule);
            return Ok(chosen.replaced(other, rule, next));
        }
    }
    ctx.warn(format!("{}; no other solution passes, so it is submitted nevertheless", words(&probes)));
    Ok(Chosen { probes, ..chosen })
}

/// Whether a solution has a leak that could not be corrected, which the gate takes seriously.
pub(super) fn leaks(ctx: &Ctx<'_>, solution: &Scored) -> bool {
    solution.leaks() && ctx.config().leakage_gate == LeakageGate::Block
}

fn is_suspect(probes: &[Probe]) -> bool {
    probes.iter().any(|probe| probe.verdict == ProbeVerdict::Suspect)
}

fn words(probes: &[Probe]) -> String {
    let suspect = probes.iter().find(|probe| probe.verdict == ProbeVerdict::Suspect);
    suspect.map_or_else(String::new, |probe| format!("the score is suspect: {}", probe.detail))
}

async fn probes_of(
    ctx: &Ctx<'_>,
    index: u32,
    solution: &Scored,
    library: &Library,
) -> Result<Vec<Probe>, Stop> {
    if leaks(ctx, solution) {
        let why = "the leakage agent found a leak in the script and could not correct it";
        return Ok(vec![new_probe("leakage-check", (ProbeVerdict::Suspect, why.to_owned()))]);
    }
    if !ctx.verifies() {
        let skipped = |name| new_probe(name, (ProbeVerdict::Skipped, super::UNVERIFIED.to_owned()));
        return Ok([SHUFFLED, REPLACED, FITS].map(skipped).into());
    }
    let [whole, one] = scripts(solution, library);
    let at = |name, data| ctx.below(|place| place.probe(index, name)).seeing(data);
    let shuffled = at(SHUFFLED, DataView::ShuffledTarget);
    let replaced = at(REPLACED, DataView::ReplacedTestRows);
    let runs = try_join(run(&shuffled, solution, whole), run(&replaced, solution, one));
    let (shuffled, replaced) = Box::pin(runs).await?;
    let told = |name, ran, when, judge: Judge| new_probe(name, told(ctx, solution, ran, when, judge));
    Ok(vec![
        told(SHUFFLED, &shuffled, "on changed data", shuffled_target),
        told(REPLACED, &replaced, "on changed data", replaced_test_rows),
        told(FITS, &replaced, "while it was watched", |_, _, outcome| fits_of(outcome)),
    ])
}

/// The scripts for the two runs, the preferred one first.
fn scripts<'a>(solution: &'a Scored, library: &'a Library) -> [[Option<&'a Scored>; 2]; 2] {
    let member = fastest_member(solution, library);
    // The script of a combination has its final weights. Its score is from weights that were fitted on other rows.
    [[Some(solution), member], [Some(member.unwrap_or(solution)), None]]
}

/// How long the runs of the probes are expected to take, in seconds, without those that there is no time for now.
pub(super) fn expected(ctx: &Ctx<'_>, solution: &Scored, library: &Library) -> Vec<f64> {
    if ctx.config().probes == Probes::Off || leaks(ctx, solution) || !ctx.verifies() {
        return Vec::new();
    }
    let allowed = ctx.run.limits.probe_time(&Step::Finalization.place(), ctx.run.journal.elapsed());
    let seconds = |scripts: [Option<&Scored>; 2]| {
        let mut seconds = scripts.into_iter().flatten().map(|one| one.facts().seconds);
        seconds.find(|seconds| seconds * LONGER <= allowed)
    };
    scripts(solution, library).into_iter().filter_map(seconds).collect()
}

/// The member of a combination that ran in the shortest time.
fn fastest_member<'a>(solution: &Scored, library: &'a Library) -> Option<&'a Scored> {
    let composition = solution.composition()?;
    let is_member = |one: &&Scored| composition.solutions().any(|member| member == one.solution());
    let members = library.iter().filter(is_member);
    let seconds = |one: &Scored| one.facts().seconds;
    members.min_by(|one, two| seconds(one).total_cmp(&seconds(two)).then(one.step().cmp(&two.step())))
}

/// The script that ran for a probe with its outcome, or why none did.
type Ran<'a> = Result<(&'a Scored, ScriptOutcome), String>;

/// Runs the first of these scripts that there is time for.
async fn run<'a>(
    ctx: &Ctx<'_>,
    solution: &Scored,
    scripts: [Option<&'a Scored>; 2],
) -> Result<Ran<'a>, Stop> {
    let time = TimePlan::for_probe(ctx, solution.facts().seconds, LONGER).await?;
    let seconds = |one: &Scored| one.facts().seconds;
    let mut scripts = scripts.into_iter().flatten();
    let least = scripts.clone().map(seconds).fold(f64::INFINITY, f64::min);
    match scripts.find(|one| time.refusal(seconds(one)).is_none()) {
        Some(probed) => Ok(Ok((probed, ctx.run(probed.text(), Purpose::Probe).await?.value))),
        None => Ok(Err(time.refusal(least).unwrap_or_default())),
    }
}

/// What a probe tells of a solution, and why.
type Told = (ProbeVerdict, String);

/// What the outcome of a run tells of the solution that ran.
type Judge = fn(&Ctx<'_>, &Scored, &ScriptOutcome) -> Told;

/// What the run of a probe tells of the solution. `when` says in which way the run was unusual.
fn told(ctx: &Ctx<'_>, solution: &Scored, ran: &Ran<'_>, when: &str, judge: Judge) -> Told {
    let (probed, outcome) = match ran {
        Ok(ran) => ran,
        Err(why) => return (ProbeVerdict::Skipped, why.clone()),
    };
    let (verdict, detail) = match outcome.is_error() {
        true => (ProbeVerdict::Skipped, failure_text(when, outcome)),
        false => judge(ctx, probed, outcome),
    };
    let of = || format!(" (the member of {}, the fastest of the combination)", probed.step());
    let of = (probed.place() != solution.place()).then(of);
    (verdict, detail + &of.unwrap_or_default())
}

fn new_probe(name: &str, (verdict, detail): Told) -> Probe {
    Probe { name: name.to_owned(), verdict, detail }
}

fn failure_text(when: &str, outcome: &ScriptOutcome) -> String {
    if outcome.end == ScriptEnd::TimedOut {
        let seconds = outcome.duration_seconds;
        return format!("it took longer than its share of the time, and was stopped after {seconds:.0} s");
    }
    format!("the script failed {when}: {}", outcome.headline())
}

fn shuffled_target(ctx: &Ctx<'_>, solution: &Scored, outcome: &ScriptOutcome) -> Told {
    let Some(chance) = outcome.chance else {
        return match outcome.score == Some(solution.score().value()) {
            true => (ProbeVerdict::Suspect, "with a permuted target, the score is the same".to_owned()),
            false => (ProbeVerdict::Skipped, "the script left no predictions for validation rows".to_owned()),
        };
    };
    let better = ctx.score(chance.score).zip(ctx.score(chance.mean)).map(|(own, mean)| own.gain_over(mean));
    let detail = format!(
        "with a permuted target, the score is {}; by chance, it is {} (standard deviation {})",
        number(chance.score),
        number(chance.mean),
        number(chance.standard_deviation)
    );
    (verdict(better, chance.standard_deviation), detail)
}

fn replaced_test_rows(ctx: &Ctx<'_>, solution: &Scored, outcome: &ScriptOutcome) -> Told {
    if solution.composition().is_some() {
        let why = "the program scores a combination with weights fitted on other rows, and its script has only the final weights";
        return (ProbeVerdict::Skipped, why.to_owned());
    }
    let known = solution.measured().zip(outcome.measured.as_ref());
    let same_rows = known.filter(|(before, after)| before.rows_digest == after.rows_digest);
    let Some((before, after)) = same_rows else {
        return (ProbeVerdict::Skipped, "the validation rows are not known, or are others".to_owned());
    };
    if after.score.total_cmp(&before.score).is_eq() {
        return (ProbeVerdict::Pass, "with other test rows, the validation score is the same".to_owned());
    }
    let Some(difference) = after.difference(before) else {
        let (now, then) = (number(after.score), number(before.score));
        let why = format!(
            "with other test rows, the validation score is {now} instead of {then}; the standard error of the difference is not known"
        );
        return (ProbeVerdict::Skipped, why);
    };
    let gain =
        ctx.score(before.score).zip(ctx.score(after.score)).map(|(own, other)| own.gain_over(other).abs());
    let detail = format!(
        "with other test rows, the validation score is {} instead of {} (standard error of the difference {})",
        number(after.score),
        number(before.score),
        number(difference.standard_error)
    );
    (verdict(gain, difference.standard_error), detail)
}

fn fits_of(outcome: &ScriptOutcome) -> Told {
    match &outcome.fits {
        None => (ProbeVerdict::Skipped, "the script left no report of its fits".to_owned()),
        Some(Fits::Unknown { why }) => (ProbeVerdict::Skipped, why.clone()),
        Some(Fits::Clean { rows, of }) => {
            let text = format!(
                "{rows} of {of} validation predictions are by models that were watched, and none is seen to be for a row that its model was fitted on"
            );
            (ProbeVerdict::Pass, text)
        }
        Some(Fits::Leak { estimator, by, line, rows, of }) => {
            let place = if *line == 0 { String::new() } else { format!(" in line {line}") };
            let whose = match by {
                Fitted::Model => "their model",
                Fitted::Transformer => "what makes their features",
            };
            let text = format!(
                "{rows} of {of} validation predictions are for rows that {whose}, {estimator}{place}, was fitted on with their labels"
            );
            (ProbeVerdict::Suspect, text)
        }
    }
}

/// Whether a gain is too large for its standard deviation.
fn verdict(gain: Option<f64>, deviation: f64) -> ProbeVerdict {
    let is_suspect = gain.is_some_and(|gain| gain > MAX_Z_SCORE * deviation);
    if is_suspect { ProbeVerdict::Suspect } else { ProbeVerdict::Pass }
}

impl Chosen {
    /// Another solution in place of the suspect one.
    fn replaced(self, other: &Scored, rule: String, probes: Vec<Probe>) -> Self {
        let mut chosen = Self::by_validation(other, &[]);
        let is_other = |place: &mle_star_domain::place::Place| place == other.place();
        chosen.choice.candidates = self.choice.candidates;
        chosen.choice.candidates.sort_by_key(|candidate| !is_other(&candidate.place));
        chosen.choice.rule = rule;
        Self { predictions: Predictions::of(other), reports: self.reports, probes, ..chosen }
    }
}
