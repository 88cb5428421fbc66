//! Which scores a script reports: those of its final line, or all but the scores of training rows.

use crate::info::{Dependencies, Dependency, How, Kind, Score};
use crate::machine::{Final, Machine};
use crate::rows::RowsId;
use crate::value::Value;

/// A reported score, and what else the printed number depends on.
pub(crate) type Reported = (Score, Dependencies);

/// The scores that the script reports, with what else the printed number depends on.
pub(crate) fn reported_scores(machine: &mut Machine<'_>) -> Vec<Reported> {
    // The first score of the final line is the reported one; further ones only accompany it.
    let first = |line: &Final| {
        let scored = line.values.iter().find(|value| !machine.scores_of(value, 3).is_empty());
        scored.cloned()
    };
    let finals: Vec<Value> = machine.seen.finals.iter().filter_map(first).collect();
    let reported = scores_in(machine, &finals);
    if !reported.is_empty() {
        return reported;
    }
    // The origin of the final number is not known, so it may be any score. Scores of training rows are often printed
    // next to it, and scores that are not printed may belong to a search.
    let printed = std::mem::take(&mut machine.seen.printed);
    let printed = scores_in(machine, &printed);
    let mut printed = but_of_spreads(machine, printed);
    // The scores of the steps are often printed, too.
    let in_loops = std::mem::take(&mut machine.seen.printed_in_loops);
    printed.extend(scores_in(machine, &in_loops).into_iter().map(|(score, deps)| {
        let [own, more] = [&score.deps, &deps].map(|deps| {
            machine.infos.map_kinds(deps, |kind| match kind {
                Kind::Choice(How::Steps) => Some(Kind::Choice(How::Setting)),
                _ => Some(kind),
            })
        });
        (Score { deps: own, ..score }, more)
    }));
    let others: Vec<Score> = machine.infos.all_scores().cloned().collect();
    let others = others.into_iter().map(|score| {
        let deps = machine.infos.map(&score.deps, |dep| match dep.kind {
            Kind::Choice(_) => None,
            // A model that watches rows to stop by them does not report their score.
            Kind::Stopping if dep.site == score.site => None,
            _ => Some(dep),
        });
        (Score { deps, ..score }, Dependencies::default())
    });
    let all: Vec<_> = printed.iter().cloned().chain(others).collect();
    let all = but_of_searches(machine, all);
    let claimed = std::mem::take(&mut machine.seen.claimed);
    let claimed = scores_in(machine, &claimed).into_iter();
    let claimed = claimed.filter(|(score, _)| on_training_rows(machine, score)).collect::<Vec<_>>();
    let apart: Vec<_> = all.into_iter().filter(|(score, _)| !on_training_rows(machine, score)).collect();
    if !apart.is_empty() {
        // Others are told beside them, unless the text says that they are scores of rows which were held out.
        return apart.into_iter().chain(claimed).collect();
    }
    printed.into_iter().filter(|(score, _)| beside_unread_rows(machine, score)).chain(claimed).collect()
}

/// The scores without the choices of searches that are over: their result is fitted again on their rows as well, and scored on
/// other ones that were held back.
fn but_of_searches(machine: &mut Machine<'_>, scores: Vec<Reported>) -> Vec<Reported> {
    let from = |machine: &Machine<'_>, deps: &Dependencies, is: fn(&Dependency) -> bool| {
        machine.infos.deps(deps).filter(is).map(|dep| dep.from).collect()
    };
    let apart = |machine: &Machine<'_>, one: RowsId, other: RowsId| {
        !machine.rows.overlap(one, other) && machine.rows.common(one, other).is_some()
    };
    let mut results: Vec<(RowsId, Vec<RowsId>)> = Vec::new();
    for (score, more) in &scores {
        let chosen: Vec<RowsId> = from(machine, &score.deps.and(more), is_choice);
        if !on_training_rows(machine, score) && chosen.iter().all(|rows| apart(machine, *rows, score.rows)) {
            results.push((score.rows, from(machine, &score.deps, |dep| dep.kind == Kind::Model)));
        }
    }
    let mut left = Vec::new();
    for (score, more) in scores {
        let is_over = |(rows, fits): &(RowsId, Vec<RowsId>)| {
            apart(machine, *rows, score.rows) && fits.iter().any(|fit| machine.rows.overlap(*fit, score.rows))
        };
        left.push(match results.iter().any(is_over) {
            true => {
                let (deps, more) = (without_choices(machine, &score.deps), without_choices(machine, &more));
                (Score { deps, ..score }, more)
            }
            false => (score, more),
        });
    }
    left
}

fn without_choices(machine: &mut Machine<'_>, deps: &Dependencies) -> Dependencies {
    machine.infos.map(deps, |dep| (!is_choice(&dep)).then_some(dep))
}

fn is_choice(dep: &Dependency) -> bool {
    matches!(dep.kind, Kind::Choice(_))
}

/// The scores without choices, if the mean of the same scores is printed, too: the smallest and the largest tell how far
/// they lie apart.
fn but_of_spreads(machine: &mut Machine<'_>, scores: Vec<Reported>) -> Vec<Reported> {
    let means = scores.iter().filter(|(_, more)| !machine.infos.any(more, is_choice));
    let means: Vec<Score> = means.map(|(score, _)| score.clone()).collect();
    let but = |(score, more): (Score, Dependencies)| match means.contains(&score) {
        true => (score, without_choices(machine, &more)),
        false => (score, more),
    };
    scores.into_iter().map(but).collect()
}

/// Whether a score is one of training rows, although others were held out that the script does not look at again.
fn beside_unread_rows(machine: &Machine<'_>, score: &Score) -> bool {
    let mut deps = machine.infos.deps(&score.deps);
    deps.any(|dep| dep.kind == Kind::Model && machine.leaves_unread(dep))
}

fn scores_in(machine: &Machine<'_>, values: &[Value]) -> Vec<Reported> {
    let mut reported = Vec::new();
    for value in values {
        let scores = machine.scores_of(value, 3);
        let deps = machine.deps_of(value);
        reported.extend(machine.infos.scores(&scores).map(|score| (score.clone(), deps.clone())));
    }
    reported
}

/// Whether a score is meant as one of training rows: a model was fitted on the rows, and they are not kept apart.
fn on_training_rows(machine: &Machine<'_>, score: &Score) -> bool {
    let rows = &machine.rows;
    let trains = |dep: Dependency| {
        let kept_apart = || dep.site != score.site && rows.kept_apart(dep.on, dep.from);
        dep.kind == Kind::Model && rows.overlap(dep.from, dep.on) && !kept_apart()
    };
    score.with_itself || machine.infos.deps(&score.deps).any(trains)
}
