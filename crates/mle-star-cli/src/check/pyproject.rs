//! `[tool.mle-star]` in `pyproject.toml`: what `check` uses where the command line says nothing else.

use std::path::{self, Path, PathBuf};
use std::slice;

use mle_star_domain::nearest::nearest;
use mle_star_domain::trouble::Trouble;
use mle_star_leakage::Rule;
use mle_star_run::settings::document::Document;
use serde_json::{Map, Value};

use crate::args::CheckArgs;

const TABLE: &str = "tool.mle-star";
const KEYS: [&str; 4] = ["target", "select", "ignore", "strict"];

/// The arguments, and what the project of the scripts says where they say nothing: the nearest `pyproject.toml` with the
/// table, in the folder that holds all scripts or above it.
///
/// # Errors
/// The file cannot be read, or its table has an unknown key, an unknown rule or a value of another kind.
pub fn with_project(args: &CheckArgs) -> Result<CheckArgs, Trouble> {
    let mut args = args.clone();
    let Some(document) = project_of(&args.scripts)? else { return Ok(args) };
    for (key, value) in table(&document).into_iter().flatten() {
        let at = document.position(&[TABLE, key]);
        let must_be = |kind: &str| Trouble::new(format!("{at}: {key} must be {kind}"), "change the value");
        let texts = || {
            let values = value.as_array().map_or(slice::from_ref(value), Vec::as_slice);
            let texts: Option<Vec<_>> = values.iter().map(|text| Some(text.as_str()?.to_owned())).collect();
            texts.ok_or_else(|| must_be("a text or a list of texts"))
        };
        let rules = || texts()?.iter().map(|name| rule(name, &at)).collect::<Result<Vec<_>, _>>();
        match key.as_str() {
            "target" => args.target = args.target.or(Some(texts()?.into())),
            "select" => fill(&mut args.select, rules()?),
            "ignore" => fill(&mut args.ignore, rules()?),
            "strict" => args.strict |= value.as_bool().ok_or_else(|| must_be("true or false"))?,
            unknown => {
                let near = nearest(unknown, KEYS).unwrap_or_default();
                let hint = format!("did you mean {near}? The keys are {}", KEYS.join(", "));
                return Err(Trouble::new(format!("{at}: [{TABLE}] has no key `{unknown}`"), hint));
            }
        }
    }
    Ok(args)
}

fn project_of(scripts: &[PathBuf]) -> Result<Option<Document>, Trouble> {
    let absolute = |script: &PathBuf| {
        // Standard input belongs to the current folder.
        let script = if script == Path::new("-") { Path::new(".") } else { script };
        script.canonicalize().or_else(|_| path::absolute(script)).unwrap_or_default()
    };
    let scripts: Vec<PathBuf> = scripts.iter().map(absolute).collect();
    let above = scripts.first().into_iter().flat_map(|first| first.ancestors());
    let common = above.filter(|folder| scripts.iter().all(|script| script.starts_with(folder)));
    let files = common.map(|folder| folder.join("pyproject.toml")).filter(|file| file.is_file());
    let is_foreign = |document: &Document| table(document).is_none();
    let mut documents = files.map(|file| Document::read(&file));
    documents.find(|document| !document.as_ref().is_ok_and(is_foreign)).transpose()
}

fn table(document: &Document) -> Option<&Map<String, Value>> {
    document.values.get("tool")?.get("mle-star")?.as_object()
}

fn fill<T>(given: &mut Vec<T>, project: Vec<T>) {
    if given.is_empty() {
        *given = project;
    }
}

fn rule(name: &str, at: &str) -> Result<Rule, Trouble> {
    Rule::named(name).ok_or_else(|| {
        let near = nearest(name, Rule::ALL.map(Rule::id)).unwrap_or_default();
        Trouble::new(format!("{at}: there is no rule `{name}`"), format!("did you mean {near}?"))
    })
}
