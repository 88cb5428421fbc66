//! The evaluation protocol: how the test rows differ, and which rows no script sees before the final choice.

use mle_star::config::{Config, HoldoutShare, Preset};
use mle_star::protocol::{Holdout, Protocol, Split};
use mle_star::task::Task;
use mle_star_data::comparison;
use mle_star_data::holdout::{Off, Plan, Roles, Share, plan};
use mle_star_data::profile::Profile;
use mle_star_data::split::describe;
use mle_star_metrics::labels::Columns;
use mle_star_metrics::names::Metric;

/// The seed of the held-out rows: the same data has the same ones in every run.
const SEED: u64 = 42;

/// The evaluation protocol of a new run; `None` with `preset: paper`.
pub fn protocol(task: &Task, config: &Config, profile: Option<&Profile>) -> Option<Protocol> {
    if config.preset == Preset::Paper {
        return None;
    }
    let Some(profile) = profile else {
        let why = "there is no training table".to_owned();
        let holdout = Holdout::Off { why };
        return Some(Protocol { split: None, holdout, verifies: false, comparison: String::new() });
    };
    let metric = Metric::parse(&task.evaluation_metric);
    let classification = metric.is_none_or(|metric| !metric.is_for_regression());
    let (target, id) = (task.target_column.as_deref(), task.id_column.as_deref());
    let split = profile.test.is_some().then(|| describe(&task.data_dir, profile, target, id, classification));
    let verifies = verified_columns(task, profile, split.as_ref()).is_some();
    let holdout = match (&split, config.holdout) {
        (_, HoldoutShare::Off) => Holdout::Off { why: "`holdout` is off".to_owned() },
        (None, _) => Holdout::Off { why: "there is no test table".to_owned() },
        _ if metric.is_none() => {
            let metric = &task.evaluation_metric;
            Holdout::Off { why: format!("the program cannot compute the metric {metric}") }
        }
        (Some(split), share) => {
            let planned = plan_rows(task, profile, split, share, config.holdout_rows, SEED);
            planned.map_or_else(Holdout::from, |plan| plan.holdout())
        }
    };
    let seen = as_seen(profile, &holdout);
    let script = target.zip(split.as_ref());
    let script =
        script.and_then(|(target, split)| comparison::script(&seen, target, id, split, classification));
    Some(Protocol { split, holdout, verifies, comparison: script.unwrap_or_default() })
}

/// The tables as scripts of the search see them: the held-out rows are in the test table.
fn as_seen(profile: &Profile, holdout: &Holdout) -> Profile {
    let mut seen = profile.clone();
    if let (Holdout::On { rows, .. }, Some(test)) = (holdout, seen.test.as_mut()) {
        let rows = usize::try_from(*rows).unwrap_or_default();
        seen.train.rows -= rows.min(seen.train.rows);
        test.rows += rows;
    }
    seen
}

/// The held-out rows of a run, chosen again.
///
/// # Errors
/// No rows can be held out.
pub fn planned_again(
    task: &Task,
    config: &Config,
    split: &Split,
    seed: u64,
    profile: &Profile,
) -> Result<Plan, Off> {
    plan_rows(task, profile, split, config.holdout, config.holdout_rows, seed)
}

fn plan_rows(
    task: &Task,
    profile: &Profile,
    split: &Split,
    share: HoldoutShare,
    most: u32,
    seed: u64,
) -> Result<Plan, Off> {
    let share = match share {
        HoldoutShare::Share(share) => Share::Of(share, u64::from(most)),
        HoldoutShare::Auto | HoldoutShare::Off => Share::Auto { most: u64::from(most) },
    };
    let roles = Roles { target: task.target_column.as_deref(), id: task.id_column.as_deref() };
    plan(&task.data_dir, profile, &roles, split, share, seed)
}

/// The columns by which the program computes scores itself; `None` if it cannot.
pub fn verified_columns(task: &Task, profile: &Profile, split: Option<&Split>) -> Option<Columns> {
    let metric = Metric::parse(&task.evaluation_metric)?;
    let target = task.target_column.clone()?;
    let (classes, sample) = (profile.train.column(&target)?.distinct, profile.sample.as_ref()?);
    // One column cannot hold the probabilities of three classes.
    if metric.wants_probabilities() && classes > 2 && sample.columns.len() <= 2 {
        return None;
    }
    // A sample with several columns of the training table asks for several targets.
    let id = task.id_column.as_deref();
    let is_other_target =
        |name: &str| name != target && Some(name) != id && profile.train.column(name).is_some();
    if sample.columns.iter().any(|column| is_other_target(&column.name)) {
        return None;
    }
    let id = task.id_column.clone().filter(|id| profile.train.column(id).is_some());
    let cluster = split.and_then(|split| split.column.clone());
    Some(Columns { id, target, cluster })
}

/// What was decided, in lines for the terminal.
pub fn lines(protocol: &Protocol) -> Vec<String> {
    let split = protocol.split.as_ref().map(|split| format!("split: {} ({})", split.words(), split.why));
    let holdout = match &protocol.holdout {
        Holdout::On { rows, of, .. } => {
            format!("holdout: {rows} of {of} labelled rows are kept from all scripts until the final choice")
        }
        Holdout::Off { why } => format!("holdout: off ({why})"),
    };
    split.into_iter().chain([holdout]).collect()
}

#[cfg(test)]
mod tests {
    use mle_star_data::profile;

    use super::*;

    #[test]
    fn held_out_rows_count_as_rows_of_the_test_table() {
        let check = |holdout: Holdout, expected: [usize; 2]| {
            let dir = tempfile::tempdir().unwrap();
            std::fs::write(dir.path().join("train.csv"), "id,x,y\n1,1,0\n2,2,1\n3,3,0\n").unwrap();
            std::fs::write(dir.path().join("test.csv"), "id,x\n4,1\n").unwrap();
            let seen = as_seen(&profile::read(dir.path()).unwrap(), &holdout);
            assert_eq!([seen.train.rows, seen.test.unwrap().rows], expected);
        };
        check(Holdout::Off { why: String::new() }, [3, 1]);
        check(Holdout::On { rows: 2, of: 3, seed: 42, digest: String::new() }, [1, 3]);
    }
}
