//! The data without the held-out rows, in the run folder, and what the program needs to compute scores itself.

use std::cell::OnceCell;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use mle_star_backends::script::evaluation::{EvaluationSetup, HoldoutSetup};
use mle_star_domain::layout;
use mle_star_domain::protocol::LabelColumns;
use mle_star_domain::protocol::{Protocol, SplitKind};
use mle_star_domain::trouble::Trouble;
use mle_star_tables::folds::{self, FoldBasis};
use mle_star_tables::holdout::{self, Plan};
use mle_star_tables::metrics::Metric;
use mle_star_tables::own_folds::OwnFolds;
use mle_star_tables::periods::Timeline;
use mle_star_tables::profile::Profile;
use mle_star_tables::seasonal_naive;

use super::last_fold::last_fold;
use crate::open_run::OpenRun;
use crate::prepare::intake::Record;
use crate::protocol::{id_column, planned_again, timeline_again, verified_columns};
use crate::runs;

/// The folder of a run with held-out rows.
pub struct HeldOut {
    /// The data as scripts of the search see it.
    pub input: PathBuf,
    setup: HoldoutSetup,
}

/// The times of a run's rows, once they are read.
#[derive(Default)]
struct Times(OnceCell<Timeline>);

/// Makes the folder with all rows as scripts see them, and the one that scripts of the search see, if need be; the latter is
/// `None` if no rows are held out.
///
/// # Errors
/// The tables cannot be read or written, or other rows would be held out or validated than those of the run.
pub fn folders(run: &OpenRun) -> Result<(PathBuf, Option<HeldOut>), Trouble> {
    let times = Times::default();
    let all_rows = all_rows(run, &times)?;
    let held_out = folder(run, &times, &all_rows)?;
    Ok((all_rows, held_out))
}

/// Makes the data with all rows as scripts see it, unless it is there and its links lead somewhere: the task's own folder
/// or, with folds, links to it and the folds.
fn all_rows(run: &OpenRun, times: &Times) -> Result<PathBuf, Trouble> {
    let (data_dir, profile) = (runs::data_dir(&run.folder, &run.frozen.task), run.profile.as_ref());
    let Some((protocol, profile)) = with_folds(run).zip(profile) else { return Ok(data_dir) };
    let folder = run.folder.join(layout::ALL_ROWS);
    // A run that was moved has links that lead nowhere.
    if !folder.join(&profile.train.file).exists() {
        let own = own_folds(run, profile)?;
        let by = by(run, protocol, times.of(run, protocol, profile)?, own.as_ref()).ok_or_else(other)?;
        // First: once the folder is there, nothing is written again.
        if !protocol.holdout.is_on() {
            forecasts(run, profile, &by, None)?;
        }
        folds::link_all_rows(profile, &by, &folder)?;
    }
    Ok(folder)
}

/// Makes the data that scripts of the search see, unless it is there and its links lead somewhere; `None` if no rows are
/// held out.
fn folder(run: &OpenRun, times: &Times, all_rows: &Path) -> Result<Option<HeldOut>, Trouble> {
    let (frozen, profile) = (&run.frozen, run.profile.as_ref());
    let Some(protocol) = frozen.protocol.as_ref().filter(|protocol| protocol.holdout.is_on()) else {
        return Ok(None);
    };
    let profile = profile.ok_or_else(other)?;
    let sample = &profile.sample.as_ref().ok_or_else(other)?.file;
    let folder = run.folder.join(layout::HOLDOUT);
    let (input, labels) = (folder.join(layout::INPUT), folder.join(layout::LABELS));
    let compared = folder.join(layout::COMPARED);
    if !(input.is_dir() && labels.is_file() && leads_somewhere(&input)) {
        let timeline = times.of(run, protocol, profile)?;
        let again = || planned_again(&frozen.task, &frozen.config, (protocol, timeline), profile).ok();
        let plan = run.held_out.clone().or_else(again);
        let plan = plan.filter(|plan| plan.holdout() == protocol.holdout).ok_or_else(other)?;
        fs::create_dir_all(&folder).map_err(|error| Trouble::io("create", &folder, &error))?;
        holdout::labels(profile, &plan, &labels)?;
        let own = own_folds(run, profile)?;
        let by = by(run, protocol, timeline, own.as_ref()).filter(|_| protocol.has_folds_file);
        by.iter().try_for_each(|by| forecasts(run, profile, by, Some(&plan)))?;
        holdout::write_with(profile, &plan, &input, |folder| {
            by.iter().try_for_each(|by| folds::write(profile, by, Some(&plan), folder))
        })?;
    }
    let test = &profile.test.as_ref().ok_or_else(other)?.file;
    let tables = [(&profile.train.file, input.as_path()), (test, all_rows)];
    link_tables(&compared, &tables).map_err(|error| Trouble::io("create", &compared, &error))?;
    let (data_dir, sample) = (all_rows.to_owned(), all_rows.join(sample));
    let is_period = protocol.holdout.is_period();
    let setup = HoldoutSetup { data_dir, sample, is_period, labels, compared };
    Ok(Some(HeldOut { input, setup }))
}

/// Whether the links in a folder do. Those of a run that was moved may not.
fn leads_somewhere(folder: &Path) -> bool {
    fs::read_dir(folder)
        .is_ok_and(|mut entries| entries.all(|entry| entry.is_ok_and(|entry| entry.path().exists())))
}

/// Writes what a seasonal naive forecast of the validated rows is.
fn forecasts(
    run: &OpenRun,
    profile: &Profile,
    by: &FoldBasis<'_>,
    plan: Option<&Plan>,
) -> Result<(), Trouble> {
    let path = run.folder.join(layout::SEASONAL_NAIVE);
    seasonal_naive::write(profile, by, plan, &path)
        .map(drop)
        .map_err(|error| Trouble::io("write", &path, &error))
}

fn with_folds(run: &OpenRun) -> Option<&Protocol> {
    run.frozen.protocol.as_ref().filter(|protocol| protocol.has_folds_file)
}

/// What the folds of a run depend on.
fn by<'a>(
    run: &'a OpenRun,
    protocol: &'a Protocol,
    timeline: Option<&'a Timeline>,
    own: Option<&'a OwnFolds>,
) -> Option<FoldBasis<'a>> {
    let task = &run.frozen.task;
    let (target, id, seed) = (task.target()?, task.id_column.as_deref(), u64::from(run.frozen.config.seed));
    Some(FoldBasis { target, id, split: protocol.split.as_ref()?, timeline, own, seed })
}

/// The folds that the user gave, if any.
fn own_folds(run: &OpenRun, profile: &Profile) -> Result<Option<OwnFolds>, Trouble> {
    let task = &run.frozen.task;
    let given = task.folds.as_deref().zip(task.target());
    given.map(|(from, target)| OwnFolds::read(profile, target, task.id_column.as_deref(), from)).transpose()
}

impl Times {
    /// The times of a run with periods, which are read once.
    fn of(
        &self,
        run: &OpenRun,
        protocol: &Protocol,
        profile: &Profile,
    ) -> Result<Option<&Timeline>, Trouble> {
        if self.0.get().is_none() && protocol.periods.is_some() {
            let (task, seed) = (&run.frozen.task, u64::from(run.frozen.config.seed));
            let timeline = timeline_again(task, seed, protocol, profile).ok_or_else(other)?;
            return Ok(Some(self.0.get_or_init(|| timeline)));
        }
        Ok(self.0.get())
    }
}

fn other() -> Trouble {
    let message = "the rows that the run validates or keeps from its scripts cannot be found again";
    Trouble::new(message.to_owned(), "use the version of mle-star that started the run")
}

/// Makes a folder of links to these tables, each given with the folder that it is in.
fn link_tables(into: &Path, tables: &[(&PathBuf, &Path)]) -> io::Result<()> {
    if into.exists() {
        fs::remove_dir_all(into)?;
    }
    fs::create_dir(into)?;
    tables.iter().try_for_each(|(name, folder)| symlink(folder.canonicalize()?.join(name), into.join(name)))
}

/// What the program needs to compute scores itself; `None` if it cannot. Scripts see the data in `data_dir`.
pub fn evaluation(run: &OpenRun, data_dir: &Path, held_out: Option<HeldOut>) -> Option<EvaluationSetup> {
    let (task, profile) = (&run.frozen.task, run.profile.as_ref()?);
    let knows = |protocol: &&Protocol| protocol.verifies || protocol.holdout.is_test();
    let protocol = run.frozen.protocol.as_ref().filter(knows)?;
    let given = Record::of_run(&run.folder).map(|record| record.given);
    let columns = verified_columns(task, profile, protocol.split.as_ref()).ok()?;
    let header: Vec<String> =
        profile.sample.as_ref()?.columns.iter().map(|column| column.name.clone()).collect();
    let id_column = id_column(task, &header);
    // A metric file computes the scores; nothing reads this one then.
    let metric = match &task.metric_file {
        Some(_) => Metric::Rmse,
        None => Metric::parse(&task.evaluation_metric)?,
    };
    let columns = LabelColumns { cluster: protocol.cluster().map(str::to_owned), ..columns };
    let is_time = |cluster: &&str| {
        let split = protocol.split.as_ref().filter(|split| split.kind == SplitKind::Time);
        split.is_some_and(|split| !split.series.iter().any(|series| series == cluster))
    };
    let group = protocol.cluster().filter(|cluster| !is_time(cluster));
    Some(EvaluationSetup {
        metric,
        metric_file: task.metric_file.clone(),
        train: data_dir.join(&profile.train.file),
        columns,
        header,
        id_column,
        subsample_limit: run.frozen.config.subsample_limit as usize,
        split: protocol.split.clone(),
        test_rows: profile.test.as_ref().map(|test| test.rows as u64),
        test_groups: group.map(|column| profile.tables.sizes_of_test_groups(column)).unwrap_or_default(),
        verifies: protocol.verifies,
        seasonal_naive: Some(run.folder.join(layout::SEASONAL_NAIVE)).filter(|file| file.exists()),
        folds: protocol.has_folds_file.then(|| data_dir.join(layout::FOLDS)),
        periods: protocol.periods.clone(),
        mean_over_periods: protocol.mean_over_periods,
        last_fold: last_fold(run),
        test_labels: protocol.holdout.is_test().then(|| run.folder.join(layout::TEST_LABELS)),
        holdout: held_out.map(|held_out| held_out.setup),
        closed: given.into_iter().chain([task.data_dir.clone()]).filter(|path| path.exists()).collect(),
    })
}
