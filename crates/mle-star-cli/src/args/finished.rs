//! Options of the commands for a finished run.

use std::path::PathBuf;

use clap::Args;

use super::RunRef;

#[derive(Debug, Args)]
pub struct PredictArgs {
    #[command(flatten)]
    pub run: RunRef,
    /// Table with the rows to predict, in any format (CSV, Parquet, Excel and others)
    #[arg(value_name = "TABLE")]
    pub rows: PathBuf,
    /// Write the predictions to this file instead of stdout
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Compare the predictions with the target in the table, and print the metric with its interval
    #[arg(long)]
    pub score: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(group(clap::ArgGroup::new("what").required(true).multiple(true).args(["notebook", "mlflow"])))]
pub struct ExportArgs {
    #[command(flatten)]
    pub run: RunRef,
    /// Write the final solution as a Jupyter notebook that runs from top to bottom
    #[arg(long, value_name = "FILE")]
    pub notebook: Option<PathBuf>,
    /// Log the run to MLflow: `sqlite:///mlflow.db`, the address of a server, or a folder
    #[arg(long, value_name = "URI")]
    pub mlflow: Option<String>,
    /// Replace files that exist
    #[arg(long)]
    pub force: bool,
}
