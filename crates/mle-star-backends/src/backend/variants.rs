//! The variants of an ablation study, scored by what each predicted for validation rows.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::PathBuf;
use std::time::Instant;

use mle_star_domain::effects::VariantScore;
use mle_star_domain::layout;
use mle_star_domain::question::{Comparison, FileStem};
use mle_star_domain::trouble::Trouble;
use serde_json::json;
use tokio::runtime::Handle;

use super::outputs::{Outputs, open_output};
use crate::script::evaluation::{Evaluator, MAX_PREDICTIONS_BYTES};

/// The scores of the variants that left predictions, each beside the unchanged solution. Predictions without a score are a note.
///
/// # Errors
/// A file cannot be written, or the data plane cannot be used.
pub(super) fn variants(
    outputs: &Outputs,
    study: &FileStem,
    (evaluation, ends): (&Evaluator, Instant),
    kept: impl Fn(&FileStem) -> PathBuf,
    notes: &mut Vec<String>,
) -> Result<Vec<VariantScore>, Trouble> {
    let scored = scored(outputs, study, (evaluation, ends), &kept, notes);
    // Nothing asks for their predictions later.
    for number in 0..layout::VARIANTS.len() {
        let _ = fs::remove_file(kept(&study.of_variant(number)));
    }
    scored
}

fn scored(
    outputs: &Outputs,
    study: &FileStem,
    (evaluation, ends): (&Evaluator, Instant),
    kept: &dyn Fn(&FileStem) -> PathBuf,
    notes: &mut Vec<String>,
) -> Result<Vec<VariantScore>, Trouble> {
    let mut variants: Vec<VariantScore> = Vec::new();
    for (number, name) in layout::VARIANTS.into_iter().enumerate() {
        let Some(written) = open_output(outputs, name, notes)? else { continue };
        let stem = study.of_variant(number);
        let file = kept(&stem);
        let copied = File::create(&file)
            .and_then(|mut copy| io::copy(&mut written.take(MAX_PREDICTIONS_BYTES), &mut copy));
        copied.map_err(|error| Trouble::io("write", &file, &error))?;
        let verified = Handle::current().block_on(evaluation.verify(&file, None, ends))?;
        let Some(measured) = verified.measured else {
            notes
                .extend(verified.mismatch.or(verified.note).map(|why| format!("{name} has no score: {why}")));
            continue;
        };
        let mut difference = None;
        if variants.first().is_some_and(|first| first.number == 0) {
            let question = json!({ "question": "compare", "one": stem, "other": study.of_variant(0) });
            match Handle::current().block_on(evaluation.ask::<Comparison>(question, ends)) {
                Ok(compared) => difference = compared.difference,
                Err(unanswered) => notes.push(format!("{name} is not compared: {}", unanswered.reason()?)),
            }
        }
        variants.push(VariantScore { number, score: measured.score, difference });
    }
    Ok(variants)
}
