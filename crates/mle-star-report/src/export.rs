//! A finished run for other tools: as a notebook, and as a run of MLflow.

mod mlflow;
mod notebook;

pub use mlflow::{MlflowExport, mlflow};
pub use notebook::notebook;

/// The notebook among the downloads of a run.
pub const NOTEBOOK: &str = "solution.ipynb";
