//! The model of a finished run, which predicts other rows, in words.

use mle_star::result::{ModelKind, ModelRecord};

use crate::figures::size;
use crate::sanitize::first_line;

/// A reason may be so long, in characters.
const MAX_REASON_CHARS: usize = 160;

/// What predicts other rows: `a fitted model of 9.3 MB, 0.1 ms a row`; `None` if nothing does, or if that is not known.
pub fn words(model: &ModelRecord) -> Option<String> {
    match model.kind {
        ModelKind::Fitted => {
            let size = model.bytes.map(|bytes| format!(" of {}", size(bytes))).unwrap_or_default();
            let speed = model.milliseconds_per_row.map(|time| format!(", {} ms a row", two_digits(time)));
            let whose = kept_model_note(model).map(|whose| format!(", {whose}")).unwrap_or_default();
            Some(format!("a fitted model{size}{}{whose}", speed.unwrap_or_default()))
        }
        ModelKind::Refit => Some(format!("by fitting again: {}", first_line(&model.why, MAX_REASON_CHARS))),
        ModelKind::None => None,
    }
}

/// The solution whose fitted model is kept, and why, if it is not that of the submission.
pub fn kept_model_note(model: &ModelRecord) -> Option<String> {
    let is_other = model.kind == ModelKind::Fitted && !model.why.is_empty();
    is_other.then(|| first_line(&model.why, MAX_REASON_CHARS))
}

fn two_digits(value: f64) -> f64 {
    format!("{value:.1e}").parse().unwrap_or(value)
}
