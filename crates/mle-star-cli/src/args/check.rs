//! The arguments of `check`, which finds data leakage in scripts.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use mle_star_domain::task::Targets;
use mle_star_leakage::Rule;

/// What `check` looks at, and for what; [`crate::check::pyproject`] fills in what a project sets.
#[derive(Clone, Debug, Default, Args)]
pub struct CheckArgs {
    /// Python script, notebook, or folder with both; - is standard input. In folders, files that git ignores are left out
    #[arg(value_name = "SCRIPT", required_unless_present = "explain")]
    pub scripts: Vec<PathBuf>,
    /// Infer target, row ID and split from this data folder or task file
    #[arg(long, value_name = "FOLDER")]
    pub data: Option<PathBuf>,
    /// Set the target column
    #[arg(short, long, value_name = "COLUMN")]
    pub target: Option<Targets>,
    /// Use this column as the row ID
    #[arg(long, value_name = "COLUMN")]
    pub id_column: Option<String>,
    /// Look for these rules alone, separated by commas
    #[arg(long, value_name = "RULE", value_delimiter = ',', hide_possible_values = true, value_parser = rules())]
    pub select: Vec<Rule>,
    /// Leave out these rules, separated by commas
    #[arg(long, value_name = "RULE", value_delimiter = ',', hide_possible_values = true, value_parser = rules())]
    pub ignore: Vec<Rule>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Print SARIF 2.1.0, the format of code scanning
    #[arg(long, conflicts_with = "json")]
    pub sarif: bool,
    /// Hide the findings of this file, which --write-baseline made
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Write the findings to this file, and exit with 0, or with 2 if a file cannot be checked
    #[arg(long, value_name = "FILE", conflicts_with_all = ["baseline", "json", "sarif"])]
    pub write_baseline: Option<PathBuf>,
    /// Exit with 1 if there are warnings, too
    #[arg(long)]
    pub strict: bool,
    /// Explain a rule, with a script that leaks and one that does not
    #[arg(long, value_name = "RULE", exclusive = true, hide_possible_values = true, value_parser = rules())]
    pub explain: Option<Rule>,
}

impl CheckArgs {
    /// Whether findings of a rule are shown.
    pub fn looks_for(&self, rule: Rule) -> bool {
        (self.select.is_empty() || self.select.contains(&rule)) && !self.ignore.contains(&rule)
    }
}

/// Reads the name of a rule.
fn rules() -> impl TypedValueParser<Value = Rule> {
    PossibleValuesParser::new(Rule::ALL.map(Rule::id)).try_map(|name| Rule::named(&name).ok_or("no rule"))
}
