//! A finished run for other tools: as a notebook, as a model card, and as a run of MLflow.

mod mlflow;
mod model_card;
mod notebook;

pub use mlflow::{MlflowExport, mlflow};
pub use model_card::model_card;
pub use notebook::notebook;

/// The notebook among the downloads of a run.
pub const NOTEBOOK: &str = "solution.ipynb";
/// The model card among them.
pub const MODEL_CARD: &str = "model-card.md";
