//! The reported score does not come from predictions.

use crate::info::Scores;
use crate::machine::{Final, Machine};
use crate::report::{Cause, Report};
use crate::site::Site;
use crate::value::{Number, Value};

pub(super) fn find(report: &Report<'_>) -> Vec<Cause> {
    let mut causes = final_lines(report);
    let with_itself = report.scores.iter().map(|(score, _)| score).filter(|score| score.with_itself);
    let text = |site| format!("{} compares the true values with themselves", report.code(site));
    causes.extend(with_itself.map(|score| (score.site, text(score.site))));
    causes
}

/// Printed scores that no prediction feeds.
fn final_lines(report: &Report<'_>) -> Vec<Cause> {
    let constant = |line: &Final| {
        let values = !line.values.is_empty() && line.values.iter().all(is_constant);
        line.literal || (values && !set_elsewhere(report.machine, line.site))
    };
    let lines = &report.machine.seen.finals;
    if !lines.iter().all(constant) {
        return Vec::new();
    }
    let text = |site| format!("line {} prints a score that no prediction feeds", report.line(site));
    lines.iter().map(|line| (line.site, text(line.site))).collect()
}

/// Whether a function that the script does not call itself, such as a callback, names what is printed.
fn set_elsewhere(machine: &Machine<'_>, line: Site) -> bool {
    let split = |letter: char| !letter.is_alphanumeric() && letter != '_';
    let names_variable = |word: &&str| {
        let number = word.starts_with(|letter: char| letter.is_ascii_digit());
        !number && !word.is_empty() && !COMMON.split(' ').any(|common| common == *word)
    };
    let printed: Vec<&str> = machine.text(line.expression).split(split).filter(names_variable).collect();
    machine.uncalled().any(|text| printed.iter().any(|name| text.contains(name)))
}

/// Words of a line with the score that name no variable.
const COMMON: &str = "print f format Final Validation Performance round float str self";

/// Whether a printed value is a constant or drawn at random.
fn is_constant(value: &Value) -> bool {
    match value {
        Value::Int(_) | Value::Float(_) => true,
        Value::Number(number) => {
            let Number { random, truth, scores, .. } = &**number;
            (*random || *truth) && *scores == Scores::default()
        }
        _ => false,
    }
}
