//! Watches which rows a script fits and predicts.
//!
//! `python/watch/sitecustomize.py` does it inside the script's process, which imports it before the script. It leaves a
//! report, which nobody has to believe: a script could write one itself.

use std::fs::File;
use std::io::Read;

use mle_star_domain::effects::{DataView, Fits, Purpose, ScriptRequest};
use mle_star_domain::layout;
use serde_json::json;

use super::evaluation::EvaluationSetup;

/// The report, in the script's output folder.
pub(crate) const REPORT: &str = "fits.json";
const MODULES: [(&str, &str); 3] = [
    ("sitecustomize.py", include_str!("../../python/watch/sitecustomize.py")),
    ("mle_star_rows.py", include_str!("../../python/watch/mle_star_rows.py")),
    ("mle_star_verdict.py", include_str!("../../python/watch/mle_star_verdict.py")),
];
/// The largest report, in bytes.
pub(crate) const MAX_REPORT_BYTES: u64 = 16 << 10;
/// The longest name of a class or reason, in characters.
const MAX_CHARS: usize = 200;

/// Whether the fits of this script are watched: as a probe whose training rows are unchanged.
pub(crate) fn is_watched(request: &ScriptRequest) -> bool {
    request.purpose == Purpose::Probe && request.data == DataView::ReplacedTestRows
}

/// The modules, with their settings. Paths are those in the script's folder.
pub(crate) fn modules(evaluation: &EvaluationSetup) -> Vec<(String, String)> {
    let id = evaluation.id_column.as_ref();
    let columns: Vec<_> = evaluation.header.iter().filter(|name| Some(*name) != id).collect();
    let settings = json!({
        "columns": columns,
        "predictions": format!("{}/{}", layout::FINAL, layout::VALIDATION_PREDICTIONS),
        "report": format!("{}/{REPORT}", layout::FINAL),
    });
    let modules = MODULES.map(|(name, text)| (name.to_owned(), text.to_owned()));
    modules.into_iter().chain([("watch.json".to_owned(), settings.to_string())]).collect()
}

/// What the report says.
pub(crate) fn fits(report: Option<File>) -> Fits {
    let unknown = |why: &str| Fits::Unknown { why: why.to_owned() };
    let Some(report) = report else { return unknown("the script left no report of its fits") };
    let mut text = String::new();
    let read = report.take(MAX_REPORT_BYTES).read_to_string(&mut text).map(|_| serde_json::from_str(&text));
    let Ok(Ok(fits)) = read else { return unknown("the report of the fits cannot be read") };
    let short = |text: String| text.chars().filter(|letter| !letter.is_control()).take(MAX_CHARS).collect();
    match fits {
        Fits::Unknown { why } => Fits::Unknown { why: short(why) },
        Fits::Leak { estimator, by, line, rows, of } => {
            Fits::Leak { estimator: short(estimator), by, line, rows, of }
        }
        clean @ Fits::Clean { .. } => clean,
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Seek, Write};

    use super::*;

    fn read(text: &str) -> Fits {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        file.rewind().unwrap();
        fits(Some(file))
    }

    #[test]
    fn a_report_is_read_up_to_a_limit() {
        let check = |text: &str, expected: &str| {
            assert_eq!(
                serde_json::to_value(read(text)).unwrap(),
                serde_json::from_str::<serde_json::Value>(expected).unwrap()
            );
        };
        let clean = r#"{"verdict":"clean","rows":3,"of":4}"#;
        check(clean, clean);
        let leak = r#"{"verdict":"leak","estimator":"Ridge","by":"transformer","line":7,"rows":3,"of":4}"#;
        check(leak, leak);
        check(&leak.replace("Ridge", &"x\\u001b".repeat(500)), &leak.replace("Ridge", &"x".repeat(200)));
        let unreadable = r#"{"verdict":"unknown","why":"the report of the fits cannot be read"}"#;
        for wrong in ["", "{}", "[1]", &leak.replace("transformer", "ghost"), &leak.replace('7', "-7")] {
            check(wrong, unreadable);
        }
        check(&format!("{}{clean}", " ".repeat(20_000)), unreadable);
    }
}
