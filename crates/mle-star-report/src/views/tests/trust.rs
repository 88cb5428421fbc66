//! How far scores can be trusted: results with everything known about them, with less, and with hostile texts.

use mle_star::testing::{World, frozen, ran};
use mle_star_domain::config::LeakageGate;
use mle_star_domain::effects::ScriptOutcome;
use mle_star_domain::measure::Measurement;
use mle_star_domain::protocol::{GivenFolds, Protocol, Split};
use mle_star_domain::trust::Trust;
use serde_json::{Value, json};

use super::markup;
use super::notes;
use super::world::{Made, keep, made};
use crate::html::{self, Extent};

/// Scripts whose scores the program computed.
fn world() -> World {
    let scores = [
        ("phase1/candidate-0", 0.742),
        ("phase1/candidate-1", 0.761),
        ("phase1/merge-1", 0.778),
        ("phase2/path-0/t0/k0", 0.771),
        ("phase2/path-0/t0/k1", 0.803),
        ("phase2/path-1/t0/k0", 0.796),
        ("phase2/path-1/t0/k1", 0.784),
        ("phase3/r0", 0.8123),
        ("phase3/r1", 0.807),
    ];
    scores.iter().fold(World::new(), |world, (place, score)| {
        let measured = Measurement {
            rows: 2000,
            standard_error: Some(0.006),
            interval: Some([score - 0.0113, score + 0.0107]),
            ..Measurement::of(*score, "rows".to_owned())
        };
        let measured = Some(measured).filter(|_| *place != "phase1/candidate-1");
        world.script(&format!("{place}/run"), ScriptOutcome { measured, ..ran(Some(*score)) })
    })
}

/// A trust block with everything in it, and these changes.
fn trust(changes: &Value) -> Trust {
    let mut whole = json!({
        "validation_score": 0.8123, "validation_interval": [0.801, 0.823], "validation_rows": 8500, "verified": true,
        "holdout_score": 0.8098, "holdout_interval": [0.790, 0.829], "holdout_rows": 1500, "holdout_looks": 4,
        "split": {
            "kind": "groups", "column": "customer",
            "why": "No customer of the test table is in the training table",
        },
        "holdout": {"state": "on", "rows": 1500, "of": 10_000, "seed": 42, "digest": "5f0c"},
        "shift": {
            "auc": 0.634, "rows": 8000,
            "columns": [{"column": "signup_day", "auc": 0.61}, {"column": "region", "auc": 0.552}],
            "suspicious": [{"column": "refund_id", "why": "It is empty in the test table only"}],
        },
        "findings": [
            {"rule": "unsupervised-before-split", "severity": "warn", "place": "phase3/r0/run", "line": 17,
             "text": "The scaler is fitted to all rows before the split."},
            {"rule": "target-statistics", "severity": "block", "place": "phase2/path-0/t9/k0/run", "line": 8,
             "text": "Means of the target were computed before the split."},
        ],
        "probes": [
            {"name": "shuffled-target", "verdict": "pass", "detail": "with a permuted target, the score is 0.501"},
            {"name": "replaced-test-rows", "verdict": "suspect", "detail": "with other test rows, the validation score is 0.7"},
            {"name": "fits", "verdict": "skipped", "detail": "no fit was seen"},
        ],
        "choice": {"rule": "best score on one half of the held-out rows", "candidates": [
            {"place": "phase3/r0/run", "validation": 0.8123, "holdout": 0.8111},
            {"place": "phase3/r1/run", "validation": 0.807, "holdout": 0.8045},
            {"place": "phase2/path-0/t0/k1/run", "validation": 0.803, "holdout": 0.789},
        ]},
        "equivalence": "The finalized script gives the same predictions as the chosen one.",
    });
    whole.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    serde_json::from_value(whole).unwrap()
}

async fn with(changes: &Value) -> Made {
    let mut made = made(&world(), &frozen()).await;
    let result = made.view.result.as_mut().unwrap();
    (result.trust, result.config.leakage_gate) = (Some(trust(changes)), LeakageGate::Block);
    made
}

/// The report's section, kept as a page with this name.
fn section(name: &str, made: &Made) -> String {
    let page = html::render(&made.view, Extent::Full).unwrap();
    markup::check(&page);
    keep(&format!("trust-{name}"), &page);
    let (_, rest) = page.split_once("<section id=\"trust\"").unwrap();
    rest.split_once("</section>").unwrap().0.to_owned()
}

async fn check(name: &str, changes: &Value, expected: &[&str], absent: &[&str]) {
    holds(&section(name, &with(changes).await), expected, absent);
}

fn holds(section: &str, expected: &[&str], absent: &[&str]) {
    for text in expected {
        assert!(section.contains(text), "{text} is not in {section}");
    }
    for text in absent {
        assert!(!section.contains(text), "{text} is in {section}");
    }
}

#[tokio::test]
async fn all_that_is_known_about_a_score_is_shown() {
    let expected = [
        "<dd>0.8123</dd><dd class=\"soft\">95 % interval <span class=\"whole\">[0.801, 0.823]</span></dd><dd class=\"soft\">8,500 rows</dd>",
        "<dd>0.8098</dd><dd class=\"soft\">95 % interval <span class=\"whole\">[0.790, 0.829]</span></dd>",
        "<dd>1,500</dd><dd class=\"soft\">scored 4 times</dd>",
        "same score.",
        "The program kept 1,500 of 10,000 labelled rows from every script until the final choice.",
        "No customer of the test table is in the training table. The test rows belong to other values of &quot;customer&quot;",
        "with a ROC-AUC of 0.634 on 8,000 rows",
        "<code><bdi>signup_day</bdi></code> (0.610), <code><bdi>region</bdi></code> (0.552).",
        "<code><bdi>refund_id</bdi></code>. It is empty in the test table only.",
        "Rule: best score on one half of the held-out rows. The finalized script gives",
        "<a href=\"#at-phase3_r0\">round 1</a> <span class=\"good\">chosen</span></th><td class=\"n\">0.81230</td><td class=\"n\">0.81110</td>",
        "<bdi>unsupervised-before-split</bdi></th><td><span class=\"soft\">reported</span></td><td>round 1</td><td class=\"n\">17</td>",
        "<bdi>target-statistics</bdi></th><td><span class=\"bad\">no score</span></td><td>path 1, step 10, attempt 1</td><td class=\"n\">8</td>",
        "<span class=\"bad\">suspect</span>",
    ];
    check("whole", &json!({}), &expected, &["says nothing"]).await;
}

#[tokio::test]
async fn less_is_shown_if_less_is_known() {
    let none = json!(null);
    let off = json!({
        "holdout": {"state": "off", "why": "The task has 800 labelled rows, fewer than 2,000."},
        "holdout_score": none, "holdout_interval": none, "holdout_rows": none, "holdout_looks": 0,
        "choice": {"rule": "best validation score", "candidates": []},
        "shift": none, "findings": [], "probes": [], "equivalence": "",
    });
    let reason = "No held-out rows: The task has 800 labelled rows, fewer than 2,000.";
    let absent = ["Checks", "<h3>Solutions", "ROC-AUC", "says nothing"];
    let unknown = "They were not compared, so nobody has looked for columns";
    check("off", &off, &["<dd>none</dd>", reason, "Rule: best validation score.", unknown], &absent).await;

    let unverified = json!({"verified": none, "validation_interval": none, "validation_rows": none, "split": none, "shift": none});
    let words = "The validation score is not verified: the script wrote no validation predictions that can be scored.";
    check("unverified", &unverified, &[words], &["Training and test rows", "final solution on"]).await;

    let why = json!({"verified": none, "unverified": "the program cannot compute the metric MCRMSE"});
    let words = "The validation score is not verified: the program cannot compute the metric MCRMSE.";
    check("unknown metric", &why, &[words], &["wrote no validation predictions"]).await;

    let clusters = json!({"holdout_clusters": 1, "validation_clusters": 3});
    let words = [
        "The held-out rows have 1 value of",
        "The validation rows have 3 values of",
        "with other values, the score may be outside the interval",
    ];
    check("few clusters", &clusters, &words, &[]).await;

    let few = json!({
        "holdout": {"state": "on", "rows": 300, "of": 2000, "seed": 1, "digest": "d"},
        "holdout_interval": [0.768, 0.852],
    });
    check(
        "few",
        &few,
        &["With 300 held-out rows, a score on the test rows that differs by less than 0.042 says nothing."],
        &[],
    )
    .await;
}

#[tokio::test]
async fn the_overview_and_the_page_mark_scores_that_may_leak() {
    let leaks = "The solution may leak the answers it is scored on.";
    let suspect = "This score is suspect: with other test rows, the validation score is 0.7.";
    let found = "This score is suspect: the leakage agent found a leak.";
    let leakage_check =
        json!([{"name": "leakage-check", "verdict": "suspect", "detail": "the leakage agent found a leak"}]);
    for (leakage_suspected, probes, expected) in [
        (false, json!([]), vec![]),
        (true, json!([]), vec![leaks]),
        (false, json!(trust(&json!({})).probes), vec![suspect]),
        (true, leakage_check, vec![leaks, found]),
    ] {
        let mut made = with(&json!({ "probes": probes })).await;
        made.view.result.as_mut().unwrap().leakage_suspected = leakage_suspected;
        let (notes, page) = (notes(&made.view), html::render(&made.view, Extent::Full).unwrap());
        for note in [leaks, suspect, found] {
            assert_eq!(notes.iter().any(|one| one == note), expected.contains(&note), "{note} {notes:?}");
            assert_eq!(page.contains(note), expected.contains(&note), "{note}");
        }
    }
}

/// A protocol of a split by time with two validated periods of four weeks, a held-out one, and this gap in days.
fn in_periods(gap: u32) -> Protocol {
    const DAY: f64 = 86_400.0;
    let days = f64::from(gap);
    let period = |from: &str, to: &str, first: f64| json!({"from": from, "to": to, "rows": 280, "at": [first * DAY, (first + 27.0) * DAY]});
    let periods = json!({
        "train": {"from": "2023-01-01", "to": "2024-03-30", "rows": 4550, "at": [0.0, 454.0 * DAY]},
        "test": period("2024-03-31", "2024-04-27", 455.0 + days),
        "held_out": period("2024-03-03", "2024-03-30", 427.0),
        "folds": [
            period("2024-01-07", "2024-02-03", 371.0 - days), period("2024-02-04", "2024-03-02", 399.0 - days),
        ],
        "length": "28 days",
        "gap": if gap > 0 { format!("{gap} days") } else { String::new() },
        "gap_size": days * DAY,
    });
    let protocol = json!({
        "split": {"kind": "time", "column": "day", "why": "`day` goes on in test.csv"},
        "holdout": {"state": "on", "rows": 280, "of": 4550, "seed": 42, "digest": "5f0c", "period": true},
        "rows": 4550, "verifies": true, "comparison": "", "periods": periods,
    });
    serde_json::from_value(protocol).unwrap()
}

#[tokio::test]
async fn the_split_is_a_picture() {
    let shown = async |name: &str, protocol: Protocol, changes: Value| {
        let mut made = with(&changes).await;
        made.view.snapshot.frozen.protocol = Some(protocol);
        section(&format!("split-{name}"), &made)
    };
    let scored =
        |from: &str, to: &str, score: f64| json!({"from": from, "to": to, "rows": 280, "score": score});
    let scores = json!({"periods": [
        scored("2024-01-07", "2024-02-03", 12.25), scored("2024-02-04", "2024-03-02", 13.5),
        scored("2024-03-03", "2024-03-30", 12.75),
    ], "holdout_interval": [10.1, 15.6]});
    let parts = ["earlier", "fold 0", "fold 1", "held out", "test"];
    let with_scores = [
        "as long as that of the test table, 28 days, and is predicted",
        "<th scope=\"row\">fold 1</th><td>2024-02-04</td><td>2024-03-02</td><td class=\"n\">280</td><td class=\"n\">13.5",
        "interval for the score of one more period",
    ];
    let section = shown("time", in_periods(0), scores).await;
    holds(&section, &[&parts[..], &with_scores].concat(), &["gap"]);
    let unknown = json!({
        "periods": [], "holdout_interval": null, "validation_interval": null,
        "no_interval": "two periods are too few to tell how much their scores differ",
    });
    let words = ["There is no interval: two periods are too few", "each after a gap of 7 days"];
    holds(&shown("gap", in_periods(7), unknown).await, &words, &[]);
    let by_group = Protocol {
        periods: None,
        holdout: serde_json::from_value(
            json!({"state": "on", "rows": 1500, "of": 10_000, "seed": 42, "digest": "5"}),
        )
        .unwrap(),
        ..in_periods(0)
    };
    let words = ["training and validation", "8,500", "for other groups of \"customer\""];
    let split = json!({"kind": "groups", "column": "customer", "why": "No customer is in both"});
    let split: Option<Split> = serde_json::from_value(split).unwrap();
    let by_group = Protocol { split, ..by_group };
    holds(&shown("groups", by_group.clone(), json!({})).await, &words, &["fold 0"]);
    let own_folds = Some(GivenFolds { from: "mine".to_owned(), count: 3 });
    let section = shown("own-folds", Protocol { own_folds, ..by_group }, json!({})).await;
    holds(&section, &["The folds are those of &quot;mine&quot;."], &["belong to other values"]);
}
