//! What the data of `--data` says: target, row ID, split, and columns that know the target.

use std::path::Path;

use mle_star_domain::config::{Config, HoldoutShare};
use mle_star_domain::protocol::Split;
use mle_star_domain::task::{Roles, Targets, TaskKeys};
use mle_star_domain::trouble::Trouble;
use mle_star_leakage::Facts;
use mle_star_run::error::RunError;
use mle_star_run::prepare::intake::Reader;
use mle_star_run::prepare::task_source;
use mle_star_run::prepare::{InferredFolder, infer_without_metric};
use mle_star_run::runs;
use mle_star_tables::profile::{Profile, Table};
use mle_star_tables::relations::Relations;
use serde::Serialize;
use serde_json::json;

use crate::args::CheckArgs;
use crate::output;

/// What a data folder says.
#[derive(Debug, Serialize)]
pub struct DataFacts {
    /// The folder with the tables.
    folder: String,
    /// The columns to predict.
    targets: Vec<String>,
    /// Why these, or why none.
    target_reason: String,
    /// The column with the row IDs.
    id: Option<String>,
    /// How test rows differ from training rows; `None` without a test table.
    split: Option<Split>,
    /// Columns of the training table that the test table lacks, beside the targets.
    only_in_training: Vec<String>,
    /// Columns from which the target follows in all training rows that were read.
    knows_target: Vec<String>,
}

/// What the options and the data folder say, for the checker.
pub fn facts(args: &CheckArgs, known: Option<&DataFacts>) -> Facts {
    match known {
        Some(known) => known.facts(),
        None => Facts {
            targets: args.target.iter().flat_map(Targets::all).cloned().collect(),
            ids: args.id_column.clone().into_iter().collect(),
            split: None,
        },
    }
}

/// What the data says, as a run would infer it.
///
/// # Errors
/// The folder has no training table, or a table or a given column is wrong.
pub fn data_facts(args: &CheckArgs, folder: &Path) -> Result<DataFacts, RunError> {
    let roles = Roles { target: args.target.clone(), id: args.id_column.clone(), ..Roles::default() };
    let source = task_source::find(folder)?.with(TaskKeys { roles, ..TaskKeys::default() });
    let config = Config { holdout: HoldoutShare::Off, ..Config::default() };
    let reader = Reader { config: &config, say: &output::talk };
    let found = infer_without_metric(&source, reader)?;
    let split = found.protocol(&config)?.and_then(|protocol| protocol.split);
    let none = || Trouble::new("there is no training table", "check the folder");
    let InferredFolder { data, inferred, intake, .. } = found;
    let (profile, folder) = (data.profile.ok_or_else(none)?, runs::absolute(&intake.folder())?);
    let asked = json!({ "question": "relations", "folder": folder, "facts": data.facts });
    let related: Relations = intake.plane.ask(asked)?;
    let (target, id) = (inferred.roles.first_target(), inferred.roles.id.as_deref());
    let targets = match &args.target {
        Some(Targets::Several(names)) => names.clone(),
        _ => target.iter().flat_map(|target| profile.targets(target, id)).map(str::to_owned).collect(),
    };
    let reason = inferred.target_unknown.as_ref().map(|why| why.message.as_str());
    let target_reason = reason.or(inferred.reason("target_column")).unwrap_or("as given").to_owned();
    Ok(DataFacts {
        folder: source.data_dir.display().to_string(),
        only_in_training: only_in_training(&profile, &targets),
        knows_target: related.determinants,
        id: inferred.roles.id.clone(),
        targets,
        target_reason,
        split,
    })
}

fn only_in_training(profile: &Profile, targets: &[String]) -> Vec<String> {
    let lacks = |table: &Option<Table>, name: &String| {
        table.as_ref().is_some_and(|table| table.column(name).is_none())
    };
    let names = profile.train.columns.iter().map(|column| &column.name);
    names.filter(|name| !targets.contains(name) && lacks(&profile.test, name)).cloned().collect()
}

impl DataFacts {
    /// A few lines for people.
    pub fn lines(&self) -> Vec<String> {
        let quoted =
            |names: &[String]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let target = match self.targets.as_slice() {
            [] => format!("target: unknown ({}); name it with --target", self.target_reason),
            targets => format!("target: {} ({})", quoted(targets), self.target_reason),
        };
        let id = self.id.as_ref().map(|id| format!("ID: `{id}`"));
        let split = self.split.as_ref().map(|split| format!("split: {} ({})", split.words(), split.why));
        let missing = (!self.only_in_training.is_empty())
            .then(|| format!("only in the training table: {}", quoted(&self.only_in_training)));
        let knows = (!self.knows_target.is_empty()).then(|| {
            format!("know the target: {} (it follows from their values)", quoted(&self.knows_target))
        });
        let rest = [id, split, missing, knows].into_iter().flatten();
        [format!("data: {}", self.folder), target].into_iter().chain(rest).collect()
    }

    fn facts(&self) -> Facts {
        let split = self.split.as_ref().and_then(mle_star::findings::split_for_checker);
        Facts { targets: self.targets.clone(), ids: self.id.clone().into_iter().collect(), split }
    }
}
