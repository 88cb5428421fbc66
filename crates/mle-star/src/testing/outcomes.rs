//! Outcomes of scripts.

use mle_star_domain::effects::{Captured, ScriptEnd, ScriptOutcome, Submission};
use mle_star_domain::measure::{Measurement, standard_deviation};

/// A script that ran and printed this score.
pub fn ran(score: Option<f64>) -> ScriptOutcome {
    ScriptOutcome {
        stdout: Captured::whole("output"),
        score,
        ..ScriptOutcome::of(ScriptEnd::Exited { code: 0 })
    }
}

/// A measured score, followed by its bootstrap replicates.
pub fn measurement(scores: &[f64]) -> Measurement {
    let (score, replicates) =
        (scores.first().copied().unwrap_or_default(), scores.get(1..).unwrap_or_default());
    let standard_error = standard_deviation(replicates).unwrap_or_default();
    let interval = Some([score - 1.96 * standard_error, score + 1.96 * standard_error]);
    let (replicates, measured) = (replicates.to_vec(), Measurement::of(score, "rows".to_owned()));
    Measurement { rows: 100, standard_error: Some(standard_error), interval, replicates, ..measured }
}

/// A script that ran, and whose predictions have this measured score and replicates.
pub fn measured(scores: &[f64]) -> ScriptOutcome {
    let measured = measurement(scores);
    ScriptOutcome { measured: Some(measured.clone()), ..ran(Some(measured.score)) }
}

/// A script that ended with this exception.
pub fn failed(exception: &str) -> ScriptOutcome {
    let traceback =
        format!("Traceback (most recent call last):\n  File \"solution.py\", line 1\n{exception}");
    ScriptOutcome { end: ScriptEnd::Exited { code: 1 }, traceback: Some(traceback), ..ran(None) }
}

/// A script that printed this score and wrote a valid submission.
pub fn scored_with_submission(score: f64) -> ScriptOutcome {
    ScriptOutcome { score: Some(score), ..submitted(&[]) }
}

/// A script that wrote a submission with these findings.
pub fn submitted(findings: &[&str]) -> ScriptOutcome {
    let findings = findings.iter().map(|finding| (*finding).to_owned()).collect();
    ScriptOutcome { submission: Some(Submission { bytes: 20, rows: Some(2), findings }), ..ran(None) }
}
