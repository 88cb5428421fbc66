//! The data without the held-out rows, in the run folder, and what the program needs to compute scores itself.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use mle_star_backends::script::evaluation::{EvaluationSetup, HoldoutSetup};
use mle_star_domain::layout;
use mle_star_domain::protocol::{Holdout, Protocol, Split, SplitKind};
use mle_star_domain::trouble::Trouble;
use mle_star_metrics::names::Metric;
use mle_star_tables::holdout;

use crate::open_run::OpenRun;
use crate::prepare::intake::Record;
use crate::protocol::{id_column, planned_again, verified_columns};

/// The folder of a run with held-out rows.
pub struct HeldOut {
    /// The data as scripts of the search see it.
    pub input: PathBuf,
    setup: HoldoutSetup,
}

/// Makes the data that scripts of the search see, once per run; `None` if no rows are held out.
///
/// # Errors
/// The tables cannot be read or written, or other rows would be held out than those of the run.
pub fn folder(run: &OpenRun, all_rows: &Path) -> Result<Option<HeldOut>, Trouble> {
    let (frozen, profile) = (&run.frozen, run.profile.as_ref());
    let Some(protocol) = &frozen.protocol else { return Ok(None) };
    let (Holdout::On { seed, .. }, Some(split)) = (&protocol.holdout, &protocol.split) else {
        return Ok(None);
    };
    let other = || {
        let message = "the rows that the run keeps from its scripts cannot be found again".to_owned();
        Trouble::new(message, "use the version of mle-star that started the run")
    };
    let profile = profile.ok_or_else(other)?;
    let sample = &profile.sample.as_ref().ok_or_else(other)?.file;
    let folder = run.folder.join(layout::HOLDOUT);
    let (input, labels) = (folder.join(layout::INPUT), folder.join(layout::LABELS));
    let compared = folder.join(layout::COMPARED);
    if !(input.is_dir() && labels.is_file()) {
        let again = || planned_again(&frozen.task, &frozen.config, split, *seed, profile).ok();
        let plan = run.held_out.clone().or_else(again);
        let plan = plan.filter(|plan| plan.holdout() == protocol.holdout).ok_or_else(other)?;
        fs::create_dir_all(&folder).map_err(|error| Trouble::io("create", &folder, &error))?;
        holdout::labels(profile, &plan, &labels)?;
        holdout::write(profile, &plan, &input)?;
    }
    let test = &profile.test.as_ref().ok_or_else(other)?.file;
    let tables = [(&profile.train.file, input.as_path()), (test, all_rows)];
    link_tables(&compared, &tables).map_err(|error| Trouble::io("create", &compared, &error))?;
    let (data_dir, sample) = (all_rows.to_owned(), all_rows.join(sample));
    let is_period = protocol.holdout.is_period();
    let setup = HoldoutSetup { data_dir, sample, is_period, labels, compared };
    Ok(Some(HeldOut { input, setup }))
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
    // With a file, the metric is only needed for what is left out.
    let metric = match &task.metric_file {
        Some(_) => Metric::Rmse,
        None => Metric::parse(&task.evaluation_metric)?,
    };
    let group =
        protocol.split.as_ref().filter(|split| split.kind == SplitKind::Groups).and_then(Split::cluster);
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
        folds: None,
        periods: protocol.periods.clone(),
        test_labels: protocol.holdout.is_test().then(|| run.folder.join(layout::TEST_LABELS)),
        holdout: held_out.map(|held_out| held_out.setup),
        closed: given.into_iter().chain([task.data_dir.clone()]).filter(|path| path.exists()).collect(),
    })
}
