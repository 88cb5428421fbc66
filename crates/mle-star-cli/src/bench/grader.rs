//! A grader of the user: a program that gets the path of a submission and prints a grade as JSON, such as
//! `mlebench grade-sample`.

use std::io;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use mle_star_domain::trouble::Trouble;
use mle_star_process::{ProcessTree, Streams};
use mle_star_run::runtime::wait_for;
use serde_json::{Map, Value};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Command;
use tokio::time::timeout;

use super::scale::{Grade, Medal};

/// What stands for the submission and the task in an argument. Without the first, the path is the last argument.
const SUBMISSION: &str = "{submission}";
const TASK: &str = "{task}";
/// Limits of one call.
const LONGEST: Duration = Duration::from_secs(3600);
const MOST_BYTES: u64 = 4 << 20;

/// Calls the grader.
///
/// # Errors
/// It does not run, does not end in time, fails, or prints no grade.
pub fn grade(command: &[String], task: &str, submission: &Path) -> Result<Grade, Trouble> {
    let trouble = |why: String| {
        let program = command.first().map_or("", String::as_str);
        Trouble::new(
            format!("the grader {program} {why}"),
            "correct the grader, then run the same command again",
        )
    };
    let called = async { timeout(LONGEST, call(command, task, submission)).await };
    let called = wait_for(called).map_err(|failure| failure.trouble)?;
    let late = |_| trouble(format!("did not end within {} s", LONGEST.as_secs()));
    let printed = called.map_err(late)?.map_err(trouble)?;
    let report = printed.iter().find_map(|text| last_object(text));
    let report =
        report.ok_or_else(|| trouble("printed no JSON object with `score` or `valid`".to_owned()))?;
    Ok(read(&report))
}

/// What the grader prints to stdout and to stderr.
async fn call(command: &[String], task: &str, submission: &Path) -> Result<[String; 2], String> {
    let Some((program, arguments)) = command.split_first() else {
        return Err("is empty".to_owned());
    };
    let submission = submission.display().to_string();
    let mut child = Command::new(program);
    child.args(arguments.iter().map(|word| word.replace(SUBMISSION, &submission).replace(TASK, task)));
    if !arguments.iter().any(|word| word.contains(SUBMISSION)) {
        child.arg(&submission);
    }
    let cannot = |error: io::Error| format!("does not run: {error}");
    // Dropping the tree ends everything that the grader started.
    let (mut tree, Streams { stdout, stderr, .. }) =
        ProcessTree::spawn(child, Stdio::null()).map_err(cannot)?;
    let (printed, said) = tokio::join!(all(stdout), all(stderr));
    let ending = tree.ended().await.map_err(cannot)?;
    let texts = [printed.map_err(cannot)?, said.map_err(cannot)?];
    if ending.status.is_some_and(|status| status.success()) {
        return Ok(texts);
    }
    let last = texts[1].lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no error message");
    let how = ending.status.map_or_else(|| "was killed".to_owned(), |status| format!("failed ({status})"));
    Err(format!("{how}: {}", last.trim()))
}

async fn all(stream: impl AsyncRead + Unpin) -> io::Result<String> {
    let mut bytes = Vec::new();
    let mut limited = stream.take(MOST_BYTES);
    limited.read_to_end(&mut bytes).await?;
    // The rest is not wanted, but a full pipe would stop the grader.
    tokio::io::copy(&mut limited.into_inner(), &mut tokio::io::sink()).await?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The last JSON object with a grade in a text. Loggers may write before and after it.
fn last_object(text: &str) -> Option<Map<String, Value>> {
    let is_grade = |object: &Map<String, Value>| {
        ["score", "valid", "valid_submission"].iter().any(|key| object.contains_key(*key))
    };
    let (mut rest, mut last) = (text, None);
    while let Some(at) = rest.find('{') {
        rest = &rest[at..];
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Map<String, Value>>();
        let read = match values.next() {
            // What is inside a grade is a part of it.
            Some(Ok(object)) if is_grade(&object) => {
                last = Some(object);
                values.byte_offset()
            }
            _ => 1,
        };
        rest = &rest[read..];
    }
    last
}

/// The grade in a report, with the keys of MLE-bench or shorter ones.
fn read(report: &Map<String, Value>) -> Grade {
    let flag = |key: &str| report.get(key).and_then(Value::as_bool);
    let score = report.get("score").and_then(Value::as_f64).filter(|score| score.is_finite());
    let by_name = || serde_json::from_value(report.get("medal")?.clone()).ok();
    let flags =
        [("gold_medal", Medal::Gold), ("silver_medal", Medal::Silver), ("bronze_medal", Medal::Bronze)];
    let won = flags.into_iter().find(|(key, _)| flag(key) == Some(true)).map(|(_, medal)| medal);
    let valid = flag("valid_submission").or(flag("valid")).unwrap_or(score.is_some());
    let why = report.get("error").or(report.get("why")).and_then(Value::as_str);
    Grade {
        valid,
        score: score.filter(|_| valid),
        medal: won.or_else(by_name).filter(|_| valid),
        has_medals: report.contains_key("medal") || flags.iter().any(|(key, _)| report.contains_key(*key)),
        above_median: flag("above_median"),
        why: match valid {
            true => String::new(),
            false => why.unwrap_or("the grader calls the submission invalid").to_owned(),
        },
    }
}
