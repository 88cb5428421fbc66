//! The evaluation protocol: how the test rows differ, and which rows no script sees before the final choice.

mod evaluated;
mod own_folds;
mod times;
mod told;
mod verified;

use mle_star_domain::config::{Acceptance, Config, HoldoutShare, Preset};
use mle_star_domain::protocol::LabelColumns;
use mle_star_domain::protocol::{Holdout, Periods, Protocol, Split};
use mle_star_domain::task::Task;
use mle_star_domain::trouble::Trouble;
use mle_star_tables::comparison;
use mle_star_tables::folds;
use mle_star_tables::holdout::{Off, Plan, Roles, Share, plan, plan_period};
use mle_star_tables::intake::Drawn;
use mle_star_tables::metrics::{Kind, Metric};
use mle_star_tables::periods::Timeline;
use mle_star_tables::profile::{Column, Profile};
use mle_star_tables::split::describe;

pub use evaluated::Evaluated;
use own_folds::{own_folds, without_time};
pub use times::timeline_again;
use times::{with_new_series, with_timeline};
pub use told::{details, lines, opening};
pub use verified::{id_column, verified_columns};

/// The evaluation protocol of a new run, and the rows that it holds out.
#[derive(Debug)]
pub struct Decided {
    /// The protocol.
    pub protocol: Protocol,
    /// The held-out rows; `None` if there are none.
    pub held_out: Option<Plan>,
}

/// The evaluation protocol of a new run, with the folds that the user gives, and for the test rows that the program took from
/// a single table, if it did; `None` if the run evaluates as in the paper.
///
/// # Errors
/// The user's folds do not fit the labelled rows, or another setting contradicts them.
pub fn decide_for<'a>(
    task: impl Into<Evaluated<'a>>,
    config: &Config,
    profile: Option<&Profile>,
    drawn: Option<&Drawn>,
) -> Result<Option<Decided>, Trouble> {
    let task = task.into();
    let own_folds = own_folds(task, config, profile)?;
    let decided = of_drawn(decide(task, config, profile), task, profile.zip(drawn));
    Ok(decided.map(|decided| Decided { protocol: Protocol { own_folds, ..decided.protocol }, ..decided }))
}

/// The evaluation protocol of a new run; `None` if the run evaluates as in the paper.
pub fn protocol<'a>(
    task: impl Into<Evaluated<'a>>,
    config: &Config,
    profile: Option<&Profile>,
) -> Option<Protocol> {
    decide(task, config, profile).map(|decided| decided.protocol)
}

/// The evaluation protocol of a new run with the held-out rows; `None` if the run evaluates as in the paper.
pub fn decide<'a>(
    task: impl Into<Evaluated<'a>>,
    config: &Config,
    profile: Option<&Profile>,
) -> Option<Decided> {
    let task = task.into();
    // Only the program calls a metric file.
    if is_papers(config) && !task.by_file && !task.names_columns() {
        return None;
    }
    let Some(profile) = profile else {
        let protocol = without_scores("there is no training table");
        return Some(Decided { protocol, held_out: None });
    };
    let metric = task.built_in();
    let Evaluated { target, id, .. } = task;
    let classification = is_classification(task, profile);
    let split = split_of(task, profile, classification);
    let (split, timeline) = with_timeline(task, profile, split);
    let verified = verified_columns(task, profile, split.as_ref());
    let plan = |timeline: Option<&Timeline>| {
        let sought = Sought { task, profile, split: split.as_ref(), timeline };
        planned(&sought, config, verified.as_ref().err())
    };
    let (planned, timeline, new_series) = with_new_series((task, config, profile), timeline, plan);
    let holdout = match &planned {
        Ok(plan) => plan.holdout(),
        Err(off) => off.clone().into(),
    };
    let script = target.zip(split.as_ref()).and_then(|(target, split)| {
        let left_out: Vec<&str> = task.ignored.iter().map(String::as_str).chain(task.weight).collect();
        let profile = compared(profile, planned.as_ref().ok());
        comparison::script(&profile, target, id, split, (classification, &left_out))
    });
    let targets =
        target.into_iter().flat_map(|target| profile.targets(target, id)).map(str::to_owned).collect();
    let held_rows = planned.as_ref().ok().map(Plan::rows);
    let is_known = split.is_some() && target.is_some_and(|target| profile.train.column(target).is_some());
    let has_folds_file = is_known && config.preset != Preset::Paper;
    let has_folds_file = has_folds_file && (task.folds.is_some() || !folds::has_file(profile));
    let periods = timeline.and_then(|timeline| timeline.periods(profile, held_rows).ok());
    let periods = periods.map(|periods| Periods { new_series, ..periods });
    let protocol = Protocol {
        mean_over_periods: depends_on_all(metric) && verified.is_ok() && has_folds_file && periods.is_some(),
        split,
        holdout,
        rows: profile.train.rows as u64,
        verifies: verified.is_ok(),
        formula: metric.map_or_else(String::new, |metric| metric.formula().to_owned()),
        by_order: metric.is_some_and(Metric::is_by_order),
        class_scores: verified.as_ref().is_ok_and(|columns| has_class_scores(metric, columns, profile)),
        periods,
        has_folds_file,
        own_folds: None,
        like_rows: has_folds_file,
        unverified: verified.err(),
        comparison: script.unwrap_or_default(),
        baselines: Vec::new(),
        is_papers: false,
        targets,
    };
    Some(Decided { protocol, held_out: planned.ok() })
}

/// How the test rows differ; `None` if there are none, and no column or folds that say how rows are validated.
fn split_of(task: Evaluated<'_>, profile: &Profile, classification: bool) -> Option<Split> {
    let is_given = task.group.or(task.time).or(task.folds).is_some();
    let split =
        (profile.test.is_some() || is_given).then(|| describe(profile, &task.known(), classification))?;
    Some(if task.folds.is_some() { without_time(split, classification) } else { split })
}

/// The evaluation protocol of a task whose test rows the program took from a single table: their score is the held-out score,
/// and no further rows are held out. `decided` is the protocol of a task with the same tables; `None` for the paper's way.
fn of_drawn<'a>(
    decided: Option<Decided>,
    task: impl Into<Evaluated<'a>>,
    drawn: Option<(&Profile, &Drawn)>,
) -> Option<Decided> {
    let Some((profile, drawn)) = drawn else { return decided };
    let task = task.into();
    let unverified = verified_columns(task, profile, Some(&drawn.split)).err();
    let (split, timeline) = with_timeline(task, profile, Some(drawn.split.clone()));
    let holdout = match &unverified {
        None => drawn.holdout.clone(),
        Some(why) => Holdout::Off { why: why.clone() },
    };
    let protocol = match decided {
        Some(decided) => {
            let periods = timeline.and_then(|timeline| timeline.periods(profile, None).ok());
            let mean_over_periods = decided.protocol.mean_over_periods && periods.is_some();
            let known = Protocol { periods, mean_over_periods, ..decided.protocol };
            Protocol { split, holdout, comparison: String::new(), ..known }
        }
        None => {
            let own = without_scores("solutions are evaluated as in the paper");
            Protocol { split, holdout, is_papers: true, ..own }
        }
    };
    Some(Decided { protocol, held_out: None })
}

/// The protocol of a run whose scores the program does not compute, for the reason `why`.
fn without_scores(why: &str) -> Protocol {
    Protocol {
        split: None,
        holdout: Holdout::Off { why: why.to_owned() },
        rows: 0,
        verifies: false,
        unverified: Some(why.to_owned()),
        formula: String::new(),
        by_order: false,
        class_scores: false,
        periods: None,
        has_folds_file: false,
        own_folds: None,
        like_rows: false,
        mean_over_periods: false,
        comparison: String::new(),
        baselines: Vec::new(),
        is_papers: false,
        targets: Vec::new(),
    }
}

/// What the choice of held-out rows depends on, beside the configuration.
struct Sought<'a> {
    task: Evaluated<'a>,
    profile: &'a Profile,
    split: Option<&'a Split>,
    /// The times, if a period is to be held out.
    timeline: Option<&'a Timeline>,
}

fn planned(sought: &Sought<'_>, config: &Config, unverified: Option<&String>) -> Result<Plan, Off> {
    let Sought { task, profile, split, .. } = *sought;
    let off = |why: &str| Err(Off(why.to_owned()));
    let plan = match (split, config.holdout) {
        (_, HoldoutShare::Off) => return off("`holdout` is off"),
        (None, _) => return off("there is no test table"),
        _ if let (None, Some(why)) = (task.built_in(), unverified) => return off(why),
        (Some(split), _) => plan_rows(sought, split, config, u64::from(config.seed)),
    };
    match plan {
        Ok(_) if let Some(why) = unverified => off(why),
        Ok(plan) if let Some(target) = with_a_rare_class(task, profile, plan.rows()) => {
            off(&format!("too few rows of a class of `{target}` would be held out"))
        }
        plan => plan,
    }
}

/// The first of several targets with a class that too few held-out rows would have. The draw is stratified by one target
/// only, so the others may lack classes.
fn with_a_rare_class<'a>(task: Evaluated<'a>, profile: &'a Profile, held: u64) -> Option<&'a str> {
    const FEWEST: f64 = 10.0;
    let targets = profile.targets(task.target?, task.id);
    let classes = task.built_in().is_some_and(|metric| !metric.is_for_regression());
    let rarest = |name: &str| profile.train.column(name).map(|column| column.rarest);
    let is_rare = |name: &&str| rarest(name).is_some_and(|share| share * (held as f64) < FEWEST);
    (classes && targets.len() > 1).then(|| targets.into_iter().find(is_rare)).flatten()
}

/// Whether the run evaluates as in the paper: with its preset, unless a key that was given needs more.
fn is_papers(config: &Config) -> bool {
    config.preset == Preset::Paper
        && config.holdout == HoldoutShare::Off
        && config.acceptance == Acceptance::Paper
}

/// The profile of the tables that the program's comparison script reads: without held-out rows.
fn compared(profile: &Profile, held_out: Option<&Plan>) -> Profile {
    let mut compared = profile.clone();
    let removed = held_out.map_or(0, Plan::removed);
    compared.train.rows -= usize::try_from(removed).unwrap_or_default().min(compared.train.rows);
    compared
}

/// The held-out rows of a run, chosen again. A run that an earlier version created holds out no period.
///
/// # Errors
/// No rows can be held out.
pub fn planned_again(
    task: &Task,
    config: &Config,
    (protocol, timeline): (&Protocol, Option<&Timeline>),
    profile: &Profile,
) -> Result<Plan, Off> {
    again(task.into(), config, (protocol, timeline), profile)
}

fn again(
    task: Evaluated<'_>,
    config: &Config,
    (protocol, timeline): (&Protocol, Option<&Timeline>),
    profile: &Profile,
) -> Result<Plan, Off> {
    let (Holdout::On { seed, period, .. }, Some(split)) = (&protocol.holdout, &protocol.split) else {
        return Err(Off("no rows are held out".to_owned()));
    };
    let timeline = timeline.filter(|_| *period);
    let sought = Sought { task, profile, split: Some(split), timeline };
    plan_rows(&sought, split, config, *seed)
}

fn plan_rows(sought: &Sought<'_>, split: &Split, config: &Config, seed: u64) -> Result<Plan, Off> {
    let Sought { task, profile, timeline, .. } = *sought;
    let most = u64::from(config.holdout_rows);
    let share = match config.holdout {
        HoldoutShare::Share(share) => Share::Of(share, most),
        HoldoutShare::Auto | HoldoutShare::Off => Share::Auto { most },
    };
    let roles = Roles { target: task.target, id: task.id, weight: task.weight };
    match timeline {
        Some(timeline) => plan_period(profile, &roles, (split, timeline), share, seed),
        None => plan(profile, &roles, split, share, seed),
    }
}

/// Whether the target has classes, by the metric or, without its formula, by the values.
fn is_classification(task: Evaluated<'_>, profile: &Profile) -> bool {
    match task.built_in() {
        Some(metric) => !metric.is_for_regression(),
        None => task.target.and_then(|target| profile.train.column(target)).is_some_and(has_classes),
    }
}

/// Whether a column may hold classes, rather than amounts.
fn has_classes(column: &Column) -> bool {
    const MOST: usize = 20;
    !column.kind.is_number() || column.distinct <= MOST
}

/// Whether the score depends on all rows together, as ROC-AUC does, and is no mean of a value for each row. A metric file may do
/// anything, so it counts as such.
fn depends_on_all(metric: Option<Metric>) -> bool {
    metric.is_none_or(|metric| !metric.is_mean_over_rows())
}

/// Whether scripts can leave the scores of classes beside the labels that they predict.
fn has_class_scores(metric: Option<Metric>, columns: &LabelColumns, profile: &Profile) -> bool {
    let predicted = profile.sample.as_ref().map_or(0, |sample| sample.columns.len());
    let is_of_labels = metric.is_some_and(|metric| metric.kind() == Kind::Labels);
    is_of_labels && columns.further.is_empty() && predicted <= 2
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;
    use std::fs;

    use mle_star_tables::profile;

    use super::*;

    /// The protocol of a task with 2,100 labelled rows of three classes.
    fn decided(metric: &str, sample: &str, config: &Config) -> Option<Protocol> {
        let dir = tempfile::tempdir().unwrap();
        let (mut train, mut test) = ("id,x,y\n".to_owned(), "id,x\n".to_owned());
        let mut rows = format!("{sample}\n");
        for id in 0..2130 {
            match id % 71 {
                0 => {
                    writeln!(test, "{id},{}", id % 13).unwrap();
                    writeln!(rows, "{id}{}", ",0".repeat(sample.matches(',').count())).unwrap();
                }
                _ => writeln!(train, "{id},{},{}", id % 13, ["a", "b", "c"][id % 3]).unwrap(),
            }
        }
        for (name, text) in [("train", train), ("test", test), ("sample_submission", rows)] {
            fs::write(dir.path().join(format!("{name}.csv")), text).unwrap();
        }
        let profile = profile::read(dir.path()).unwrap();
        let task = Evaluated { metric, target: Some("y"), id: Some("id"), ..Evaluated::default() };
        protocol(task, config, Some(&profile))
    }

    #[test]
    fn rows_are_held_out_where_the_program_can_score_them() {
        let check = |metric: &str, sample: &str, expected: Result<u64, &str>| {
            let Protocol { holdout, verifies, .. } = decided(metric, sample, &Config::default()).unwrap();
            let found = match &holdout {
                Holdout::On { rows, .. } | Holdout::Test { rows, .. } => Ok(*rows),
                Holdout::Off { why } => Err(why.as_str()),
            };
            assert_eq!((found, verifies), (expected, expected.is_ok()), "{metric} {sample}");
        };
        check("accuracy", "id,y", Ok(315));
        check("log loss", "id,a,b,c", Ok(315));
        let why = "sample_submission.csv has one column, which cannot hold the probabilities of 3 classes";
        check("log loss", "id,y", Err(why));
        check("word error rate", "id,y", Err("the program cannot compute the metric word error rate"));
    }

    #[test]
    fn the_rows_of_runs_with_and_without_periods_are_found_again() {
        let dir = tempfile::tempdir().unwrap();
        let row = |id: usize| format!("{id},{id},7");
        let train = (0..2_100).fold("id,week,x,y\n".to_owned(), |all, id| format!("{all}{},{id}\n", row(id)));
        let test = (2_100..2_140).fold("id,week,x\n".to_owned(), |all, id| format!("{all}{}\n", row(id)));
        let sample = (2_100..2_140).fold("id,y\n".to_owned(), |all, id| format!("{all}{id},0\n"));
        for (name, text) in [("train", train), ("test", test), ("sample_submission", sample)] {
            fs::write(dir.path().join(format!("{name}.csv")), text).unwrap();
        }
        let profile = profile::read(dir.path()).unwrap();
        let config = Config::default();
        let task = Evaluated { metric: "MAE", target: Some("y"), id: Some("id"), ..Evaluated::default() };
        let Decided { protocol, held_out } = decide(task, &config, Some(&profile)).unwrap();
        let (split, rows) = (protocol.split.clone().unwrap(), protocol.holdout.rows());
        assert_eq!((protocol.periods.as_ref().unwrap().folds.len(), rows), (5, Some(40)));
        let averages = |metric| {
            let decided = decide(Evaluated { metric, ..task }, &config, Some(&profile)).unwrap();
            (decided.protocol.mean_over_periods, decided.protocol.like_rows)
        };
        assert_eq!(
            (averages("MAE"), averages("RMSE"), averages("R2")),
            ((false, true), (true, true), (true, true))
        );
        let paper = Config { preset: Preset::Paper, ..config.clone() };
        let of_paper = decide(Evaluated { metric: "RMSE", ..task }, &paper, Some(&profile));
        assert!(
            of_paper.is_none_or(|decided| !decided.protocol.mean_over_periods && !decided.protocol.like_rows)
        );
        let before = plan(
            &profile,
            &Roles { target: Some("y"), id: Some("id"), weight: None },
            &split,
            Share::Auto { most: u64::from(config.holdout_rows) },
            u64::from(config.seed),
        );
        let earlier =
            Protocol { holdout: before.as_ref().unwrap().holdout(), periods: None, ..protocol.clone() };
        let times = times::timeline(task, &profile, Some(&split)).unwrap().unwrap();
        let again = |protocol: &Protocol| again(task, &config, (protocol, Some(&times)), &profile).unwrap();
        assert_eq!(Some(again(&protocol)), held_out);
        assert_eq!((again(&earlier).rows(), again(&earlier)), (315, before.unwrap()));
    }

    #[test]
    fn another_seed_holds_out_other_rows() {
        let digest = |seed| match decided("accuracy", "id,y", &Config { seed, ..Config::default() })
            .unwrap()
            .holdout
        {
            Holdout::On { digest, seed: used, .. } | Holdout::Test { digest, seed: used, .. } => {
                assert_eq!(used, u64::from(seed));
                digest
            }
            Holdout::Off { why } => panic!("{why}"),
        };
        assert_eq!(digest(7), digest(7));
        assert_ne!(digest(7), digest(42));
        let config = Config::default();
        let split = decided("accuracy", "id,y", &config).unwrap().split.unwrap();
        assert!(split.folds(7).contains("random_state=7") && split.folds(42).contains("random_state=42"));
    }

    #[test]
    fn the_papers_way_has_no_protocol_unless_a_key_needs_one() {
        let check = |change: fn(&mut Config), has_one: bool| {
            let mut config =
                Config { preset: Preset::Paper, holdout: HoldoutShare::Off, ..Config::default() };
            change(&mut config);
            assert_eq!(decided("accuracy", "id,y", &config).is_some(), has_one, "{config:?}");
        };
        check(|_| (), false);
        check(|config| config.holdout = HoldoutShare::Share(0.2), true);
        check(|config| config.acceptance = Acceptance::OneSigma, true);
        check(|config| config.preset = Preset::Default, true);
    }
}
