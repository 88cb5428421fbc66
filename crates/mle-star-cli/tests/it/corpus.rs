//! Inputs as people have them, and what is right for each: `tests/corpus`.
//!
//! `run --estimate` and `init` read some of them; `python/tests/data` reads all.

mod case;
mod files;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Mutex;

use serde_json::Value;

use crate::exits::{SCORE, SMALL, SUBMIT, interpreter};
use crate::sealed::{Said, Sealed};
use case::Case;

/// The fields of a task file, with the kinds of facts that are about them.
const FIELDS: [(&str, &str); 8] = [
    ("target", "target_column"),
    ("id", "id_column"),
    ("type", "task_type"),
    ("positive", "positive_class"),
    ("group", "group_column"),
    ("time", "time_column"),
    ("weight", "weight_column"),
    ("ignored", "ignore_columns"),
];

/// What an input is read as.
struct Read {
    task: Value,
    /// What `init` and an estimate said.
    said: [String; 2],
}

/// One of each few inputs of text, and those about whole runs. Each that is wrong is told with the reason.
#[test]
fn inputs_are_read_right_or_refused() {
    const EACH: usize = 12;
    let mut cases = case::all();
    cases.retain(|_, case| case.files.iter().all(|file| files::bytes(file).is_some()));
    let of_runs =
        |case: &Case| case.right.iter().any(|(kind, _)| ["submits", "run refused"].contains(&kind.as_str()));
    let looked_at: VecDeque<&Case> = cases
        .values()
        .enumerate()
        .filter(|(at, case)| at % EACH == 0 || of_runs(case))
        .map(|(_, case)| case)
        .collect();
    assert!(looked_at.len() >= 15, "{}", looked_at.len());
    let (waiting, wrong) = (Mutex::new(looked_at), Mutex::new(Vec::new()));
    let next = || waiting.lock().unwrap().pop_front();
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(case) = next() {
                    if let Err(why) = check(case, &cases) {
                        wrong.lock().unwrap().push(format!("{}: {why}", case.name));
                    }
                }
            });
        }
    });
    let mut wrong = wrong.into_inner().unwrap();
    wrong.sort();
    assert!(wrong.is_empty(), "{} of {}\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

fn check(case: &Case, all: &BTreeMap<String, Case>) -> Result<(), String> {
    let of = |kind: &str| {
        case.right
            .iter()
            .filter(|(other, _)| other == kind)
            .map(|(_, text)| text.as_str())
            .collect::<Vec<_>>()
    };
    let (refused, run_refused) = (of("refused"), of("run refused"));
    if !refused.is_empty() {
        let sealed = written(case);
        for line in ["run", "init"] {
            is_refusal(&sealed, &said(&sealed, case, line), &refused)
                .map_err(|why| format!("{line}: {why}"))?;
        }
        return Ok(());
    }
    let read = read(case, run_refused.is_empty())?;
    if !run_refused.is_empty() {
        let sealed = written(case);
        is_refusal(&sealed, &said(&sealed, case, "run"), &run_refused)?;
    }
    for (kind, text) in &case.right {
        fact(case, all, &read, (kind, text))?;
    }
    Ok(())
}

/// Checks a fact about an input that is read.
fn fact(
    case: &Case,
    all: &BTreeMap<String, Case>,
    read: &Read,
    (kind, text): (&str, &str),
) -> Result<(), String> {
    if let Some((_, field)) = FIELDS.iter().find(|(name, _)| *name == kind) {
        return equal(field, &shown(&read.task[*field]), text);
    }
    let says = |text: &str| read.said.iter().all(|said| said.contains(text));
    match kind {
        "metric" => {
            let field = |name: &str| shown(&read.task[name]);
            equal("metric", &format!("{} {}", field("evaluation_metric"), field("metric_direction")), text)
        }
        "column" => {
            let in_words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
            let is_there = read.said[0].lines().any(|line| in_words(line).starts_with(text));
            is_there.then_some(()).ok_or_else(|| format!("no column {text}\n{}", read.said[0]))
        }
        "says" if says(text) => Ok(()),
        "says" => Err(format!("does not say {text}\n{}", read.said[1])),
        "silent" if read.said.iter().any(|said| said.contains(text)) => {
            Err(format!("says {text}\n{}", read.said[1]))
        }
        "submits" => submits(case, text),
        "same as" => same(read, &self::read(&all[text], true)?),
        // The tables that scripts see are checked with the data plane.
        kind if kind.starts_with("sees ") => Ok(()),
        "silent" | "run refused" => Ok(()),
        other => Err(format!("unknown fact: {other}")),
    }
}

/// A folder with the files of a case.
fn written(case: &Case) -> Sealed {
    let sealed = Sealed::empty();
    for file in &case.files {
        sealed.write(&format!("data/{}", file.name), &files::bytes(file).unwrap());
    }
    sealed
}

fn said(sealed: &Sealed, case: &Case, what: &str) -> Said {
    let more = if what == "run" { "--agents offline --estimate" } else { "" };
    sealed.say(&format!("{what} {} {more}", case.options))
}

/// Reads the input by an estimate and `init`.
fn read(case: &Case, runs: bool) -> Result<Read, String> {
    let sealed = written(case);
    let before = sealed.names("data");
    let fine = |said: Said| match said.code {
        0 => Ok(said.stderr),
        _ => Err(format!("{said:?}")),
    };
    let estimate = if runs { Some(fine(said(&sealed, case, "run"))?) } else { None };
    let init = fine(said(&sealed, case, "init"))?;
    let mut after = sealed.names("data");
    after.retain(|name| name != "task.yaml" || before.contains(name));
    if after != before {
        return Err(format!("the folder has {after:?} instead of {before:?}"));
    }
    let file = sealed.read("data/task.yaml");
    let task = serde_saphyr::from_str(&file).map_err(|error| format!("{error}\n{file}"))?;
    Ok(Read { task, said: [format!("{init}{file}"), estimate.unwrap_or_else(|| init.clone())] })
}

/// One sentence with all of these texts, a hint, and nothing that is left behind.
fn is_refusal(sealed: &Sealed, said: &Said, texts: &[&str]) -> Result<(), String> {
    let lines: Vec<&str> = said.stderr.lines().collect();
    let [.., error, hint] = lines.as_slice() else { return Err(format!("{said:?}")) };
    let both = format!("{error}\n{hint}");
    let is_one = said.code == 2 && error.starts_with("error: ") && hint.starts_with("hint: ");
    let missing = texts.iter().find(|text| !both.contains(**text));
    if !is_one || missing.is_some() || !sealed.names("runs").is_empty() {
        return Err(format!(
            "{} {}",
            missing.unwrap_or(&"no refusal"),
            if is_one { both } else { format!("{said:?}") }
        ));
    }
    Ok(())
}

/// A run whose scripts write the sample submission as it is gives a submission with this line.
fn submits(case: &Case, line: &str) -> Result<(), String> {
    let sealed = written(case);
    let python = interpreter(&sealed, &format!("{SUBMIT}; {SCORE}"));
    let said = sealed
        .say(&format!("run {} --run-id r --agents offline --set python={python} {SMALL}", case.options));
    if said.code != 0 {
        return Err(format!("{said:?}"));
    }
    let submission = sealed.read("runs/r/final/submission.csv");
    let is_there = submission.lines().any(|other| other == line);
    is_there.then_some(()).ok_or_else(|| format!("no line {line}\n{}", beginning(&submission)))
}

/// The same task, whatever files it comes from.
fn same(one: &Read, other: &Read) -> Result<(), String> {
    let fields = |read: &Read| {
        let mut task = read.task.clone();
        for name in ["data_dir", "competition_id", "sheet"] {
            task[name] = Value::Null;
        }
        task
    };
    equal("task", &fields(one).to_string(), &fields(other).to_string())
}

fn equal(what: &str, found: &str, expected: &str) -> Result<(), String> {
    (found == expected).then_some(()).ok_or_else(|| format!("{what} is {found}, not {expected}"))
}

/// A value of a task file as text; those of a list with commas.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(shown).collect::<Vec<_>>().join(", "),
        Value::Null => "none".to_owned(),
        other => other.to_string(),
    }
}

fn beginning(text: &str) -> String {
    text.lines().take(4).collect::<Vec<_>>().join("\n")
}
