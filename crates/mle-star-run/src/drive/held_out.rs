//! The setup of the evaluation: with it, the program computes scores itself, also on held-out rows.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use mle_star_backends::script::evaluation::{EvaluationSetup, HoldoutSetup, LastFold};
use mle_star_domain::layout;
use mle_star_domain::protocol::{Holdout, Protocol, SplitKind};
use mle_star_domain::trouble::Trouble;
use mle_star_tables::metrics::Metric;
use mle_star_tables::profile::Profile;

use crate::data_folders::DataFolders;
use crate::open_run::OpenRun;
use crate::prepare::intake::MadeData;
use crate::protocol::{id_column, label_columns};

/// The held-out rows of a run; `None` if there are none.
///
/// # Errors
/// The folder of the run cannot be written.
fn holdout(
    folders: &DataFolders<'_>,
    profile: &Profile,
    protocol: &Protocol,
) -> Result<Option<HoldoutSetup>, Trouble> {
    let (test, sample) = (profile.test.as_ref(), profile.sample.as_ref());
    let Some((test, sample)) = test.zip(sample).filter(|_| folders.holds_out()) else { return Ok(None) };
    let (folder, all_rows) = (folders.held_out(), folders.all_rows());
    let compared = folder.join(layout::COMPARED);
    let tables = [(&profile.train.file, folders.for_search()), (&test.file, all_rows.clone())];
    link_tables(&compared, &tables).map_err(|error| Trouble::io("create", &compared, &error))?;
    Ok(Some(HoldoutSetup {
        sample: all_rows.join(&sample.file),
        data_dir: all_rows,
        is_period: protocol.holdout.is_period(),
        labels: folder.join(layout::LABELS),
        compared,
    }))
}

/// Makes a folder of links to these tables, each given with the folder that it is in.
fn link_tables(into: &Path, tables: &[(&PathBuf, PathBuf)]) -> io::Result<()> {
    if into.exists() {
        fs::remove_dir_all(into)?;
    }
    fs::create_dir(into)?;
    tables.iter().try_for_each(|(name, folder)| symlink(folder.canonicalize()?.join(name), into.join(name)))
}

/// The rows of the last validation fold, which are held out after the search to tell how much the answer depends on each column;
/// `None` if others are held out, or if the program wrote no folds.
fn last_fold(run: &OpenRun, profile: &Profile, protocol: &Protocol) -> Result<Option<LastFold>, Trouble> {
    let is_held_out = !matches!(protocol.holdout, Holdout::Off { .. });
    let sample = profile.sample.as_ref();
    let Some(sample) = sample.filter(|_| protocol.has_folds_file && !is_held_out) else {
        return Ok(None);
    };
    let question = DataFolders::of(run).question("last_fold", &run.data.facts)?;
    Ok(Some(LastFold { sample: sample.file.clone(), question }))
}

/// What the program needs to compute scores itself; `None` if it cannot.
///
/// # Errors
/// The folder of the run cannot be written.
pub fn evaluation(run: &OpenRun) -> Result<Option<EvaluationSetup>, Trouble> {
    let (task, folders) = (&run.frozen.task, DataFolders::of(run));
    let Some((profile, protocol)) = run.data.profile.as_ref().zip(folders.protocol()) else {
        return Ok(None);
    };
    let holdout = holdout(&folders, profile, protocol)?;
    let Some(sample) = profile.sample.as_ref().filter(|_| protocol.verifies || protocol.holdout.is_test())
    else {
        return Ok(None);
    };
    // A metric file computes the scores; nothing reads this one then.
    let metric = task.metric_file.as_ref().map(|_| Metric::Rmse);
    let Some(metric) = metric.or_else(|| Metric::parse(&task.evaluation_metric)) else { return Ok(None) };
    let header: Vec<String> = sample.columns.iter().map(|column| column.name.clone()).collect();
    let is_time = |cluster: &&str| {
        let split = protocol.split.as_ref().filter(|split| split.kind == SplitKind::Time);
        split.is_some_and(|split| !split.series.iter().any(|series| series == cluster))
    };
    let group = protocol.cluster().filter(|cluster| !is_time(cluster));
    let given = MadeData::of_run(&run.folder).map(|record| record.given);
    let data_dir = folders.for_search();
    Ok(Some(EvaluationSetup {
        metric,
        metric_file: task.metric_file.clone(),
        train: data_dir.join(&profile.train.file),
        columns: label_columns(task, profile, protocol.cluster()),
        id_column: id_column(task, &header),
        header,
        subsample_limit: run.frozen.config.subsample_limit as usize,
        split: protocol.split.clone(),
        test_rows: profile.test.as_ref().map(|test| test.rows as u64),
        test_groups: group.and_then(|column| profile.relations.test_groups.get(column).copied()),
        recomputes: protocol.verifies,
        seasonal_naive: Some(run.folder.join(layout::SEASONAL_NAIVE)).filter(|file| file.exists()),
        folds: protocol.has_folds_file.then(|| data_dir.join(layout::FOLDS)),
        periods: protocol.periods.clone(),
        mean_over_periods: protocol.mean_over_periods,
        last_fold: last_fold(run, profile, protocol)?,
        test_labels: protocol.holdout.is_test().then(|| run.folder.join(layout::TEST_LABELS)),
        holdout,
        closed: given.into_iter().chain([task.data_dir.clone()]).filter(|path| path.exists()).collect(),
    }))
}
