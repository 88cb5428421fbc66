//! The last lines of a run that has a result.

use std::path::Path;

use mle_star::result::{FinalResult, StoppedBy};
use mle_star_domain::layout;
use mle_star_domain::protocol::Holdout;
use mle_star_domain::task::Task;
use mle_star_domain::trust::Trust;
use mle_star_report::cuts;
use mle_star_report::figures::duration;
use mle_star_report::usage;
use mle_star_run::runs::resume_command;

use crate::output::sanitize::first_line;
use crate::watch::{interval, number};

/// The last lines of the run in `folder`: scores, cost, what limits cut, and where the files are.
pub fn last_lines(folder: &Path, task: &Task, result: &FinalResult) -> Vec<String> {
    let mut lines = vec![String::new()];
    let (score, time) = (result.validation_score(), duration(result.total_duration_seconds));
    match &result.trust {
        Some(trust) => {
            lines.extend(score_lines(&task.evaluation_metric, score, trust));
            lines.push(format!("time: {time}"));
        }
        None => lines.push(format!("{}: {} (validation), {time}", task.evaluation_metric, number(score))),
    }
    lines.extend(usage::line(&usage::of_result(result)).map(|line| format!("cost: {line}")));
    if result.answer_is_earlier {
        lines
            .push("nothing better was found since the limit was raised: the earlier answer stays".to_owned());
    }
    if let Some(limit) = result.stopped_by {
        let (which, option) = match limit {
            StoppedBy::Time => ("time", "--time-limit"),
            StoppedBy::Budget => ("money", "--max-budget-usd"),
        };
        lines.push(format!(
            "the {which} limit cut the run short; continue with: {} {option} N",
            resume_command(folder)
        ));
    }
    if result.stopped_by.is_none() && result.cuts.iter().any(|cut| cut.open) {
        lines.push(format!(
            "the time shares of phases cut steps short; more time would go on with {}: {} --time-limit N",
            cuts::in_words(&cuts::of(&result.cuts, cuts::More { time: true, money: false })),
            resume_command(folder)
        ));
    }
    if result.leakage_suspected {
        lines.push("note: the solution may use data that leaks the target; see the report".to_owned());
    }
    if let Some(why) = &result.not_run {
        let file = format!("{}/{}", layout::FINAL, layout::SOLUTION);
        lines.push(format!("note: {file} did not write the submission: {}", first_line(why, 300)));
    }
    if result.submission_path.is_empty() {
        lines.push(format!(
            "no valid submission; the best solution is {}",
            folder.join(layout::FINAL).join(layout::SOLUTION).display()
        ));
    } else {
        lines.push(format!("submission: {}", result.submission_path));
    }
    lines.push(format!("report: {}", folder.join(layout::REPORT).display()));
    lines
}

/// A score with its interval: `0.81230 validated [0.801, 0.823]`.
fn score_words(score: f64, kind: &str, bounds: Option<[f64; 2]>) -> String {
    let bounds = bounds.map_or_else(String::new, |bounds| format!(" {}", interval(bounds)));
    format!("{} {kind}{bounds}", number(score))
}

/// The scores of the final solution, or the reason for having none on held-out rows. `score` is its validation score.
pub fn score_lines(metric: &str, score: f64, trust: &Trust) -> Vec<String> {
    let score = trust.validation_score.unwrap_or(score);
    let validated = format!("{metric}: {}", score_words(score, "validated", trust.validation_interval));
    let mut lines = match (trust.holdout_score, &trust.holdout) {
        (Some(score), _) => {
            vec![format!("{validated}, {}", score_words(score, "held out", trust.holdout_interval))]
        }
        (None, Some(Holdout::Off { why })) => {
            vec![validated, format!("no held-out rows: {}", first_line(why, 300).trim_end_matches('.'))]
        }
        (None, Some(Holdout::On { .. })) => vec![validated, "no score on the held-out rows".to_owned()],
        (None, None) => vec![validated, "no held-out rows".to_owned()],
    };
    lines.extend(few_clusters(trust));
    if let Some(why) = trust.suspicion() {
        lines.push(format!("note: this score is suspect: {}", first_line(why, 300)));
    }
    lines
}

/// That the interval is about few groups or times.
fn few_clusters(trust: &Trust) -> Option<String> {
    let (rows, clusters) = match (trust.holdout_clusters, trust.validation_clusters) {
        (Some(clusters), _) => ("held-out", clusters),
        (None, clusters) => ("validation", clusters?),
    };
    let column = trust.split.as_ref()?.column.as_deref()?;
    let values = if clusters == 1 { "value" } else { "values" };
    Some(format!(
        "note: the {rows} rows have {clusters} {values} of `{}`; with other values, the score may be outside the interval",
        first_line(column, 100)
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_last_lines_name_both_scores_or_why_there_is_one() {
        let check = |more: serde_json::Value, expected: &[&str]| {
            let mut trust = json!({
                "validation_score": 0.8123, "validation_interval": [0.801, 0.823], "verified": true,
                "holdout_looks": 0, "choice": {"rule": "best validation score", "candidates": []},
            });
            trust.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            let trust = serde_json::from_value(trust).unwrap();
            assert_eq!(score_lines("ROC-AUC", 0.7, &trust), expected);
        };
        let validated = "ROC-AUC: 0.81230 validated [0.801, 0.823]";
        check(
            json!({"holdout_score": 0.8098, "holdout_interval": [0.790, 0.829]}),
            &["ROC-AUC: 0.81230 validated [0.801, 0.823], 0.80980 held out [0.790, 0.829]"],
        );
        check(
            json!({"holdout": {"state": "off", "why": "The task has 800 labelled rows.\nMore."}}),
            &[validated, "no held-out rows: The task has 800 labelled rows"],
        );
        let on = json!({"state": "on", "rows": 300, "of": 2000, "seed": 1, "digest": "d"});
        check(json!({"holdout": on}), &[validated, "no score on the held-out rows"]);
        let split = json!({"kind": "time", "column": "year", "why": ""});
        let few = |rows: &str, values: &str| {
            format!(
                "note: the {rows} rows have {values} of `year`; with other values, the score may be outside the interval"
            )
        };
        check(
            json!({"split": split, "holdout_clusters": 1, "validation_clusters": 3}),
            &[validated, "no held-out rows", &few("held-out", "1 value")],
        );
        check(
            json!({"split": split, "validation_clusters": 3}),
            &[validated, "no held-out rows", &few("validation", "3 values")],
        );
        let probe =
            json!({"name": "shuffled-target", "verdict": "suspect", "detail": "it is better than chance"});
        let suspect = "note: this score is suspect: it is better than chance";
        check(json!({"probes": [probe]}), &[validated, "no held-out rows", suspect]);
        check(
            json!({"validation_score": null, "validation_interval": null, "verified": null}),
            &["ROC-AUC: 0.70000 validated", "no held-out rows"],
        );
    }
}
