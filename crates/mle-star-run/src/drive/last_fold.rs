//! The rows of the last validation fold, which are held out after the search to tell how much the answer depends on each column.

use mle_star_backends::script::evaluation::{FoldFiles, LastFold};
use mle_star_domain::protocol::{Holdout, Protocol};
use mle_star_domain::task::Task;
use mle_star_domain::trouble::Trouble;
use mle_star_tables::folds::{self, FoldBasis};
use mle_star_tables::holdout::{self, Off, plan_last_fold};
use mle_star_tables::own_folds::OwnFolds;
use mle_star_tables::profile::Profile;

use crate::open_run::OpenRun;
use crate::protocol::timeline_again;

/// What the rows depend on.
struct Inputs {
    task: Task,
    seed: u64,
    protocol: Protocol,
    profile: Profile,
}

/// Makes the data without these rows; `None` if others are held out, or if the program wrote no folds.
pub fn last_fold(run: &OpenRun) -> Option<LastFold> {
    let protocol = run.frozen.protocol.as_ref().filter(|protocol| protocol.has_folds_file)?;
    if !matches!(protocol.holdout, Holdout::Off { .. }) {
        return None;
    }
    let profile = run.profile.as_ref()?;
    let sample = profile.sample.as_ref()?.file.clone();
    let inputs = Inputs {
        task: run.frozen.task.clone(),
        seed: u64::from(run.frozen.config.seed),
        protocol: protocol.clone(),
        profile: profile.clone(),
    };
    Some(LastFold::new(sample, move |files| inputs.write(files)))
}

impl Inputs {
    fn write(&self, files: &FoldFiles) -> Result<(), Trouble> {
        let Self { task, seed, protocol, profile } = self;
        let lacks = |why: &str| Trouble::new(format!("no rows are held out, and {why}"), "");
        let (target, split) =
            task.target().zip(protocol.split.as_ref()).ok_or_else(|| lacks("the target is not known"))?;
        let id = task.id_column.as_deref();
        let own = task.folds.as_deref().map(|from| OwnFolds::read(profile, target, id, from)).transpose()?;
        let periods = protocol.periods.as_ref();
        let timeline = periods.and_then(|_| timeline_again(task, *seed, protocol, profile));
        let by = FoldBasis { target, id, split, timeline: timeline.as_ref(), own: own.as_ref(), seed: *seed };
        let plan = plan_last_fold(profile, task.weight_column.as_deref(), &by)
            .map_err(|Off(why)| lacks(&format!("nor can those of the last fold be: {why}")))?;
        holdout::labels(profile, &plan, &files.labels)?;
        holdout::write_with(profile, &plan, &files.input, |folder| {
            folds::write(profile, &by, Some(&plan), folder)
        })?;
        profile.tables.forget();
        Ok(())
    }
}
