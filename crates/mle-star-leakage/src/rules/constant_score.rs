//! The reported score does not come from predictions.

use ruff_python_ast::visitor::Visitor;

use crate::effects::{self, Receiver};
use crate::info::Scores;
use crate::machine::{Final, Machine};
use crate::report::{Cause, Report};
use crate::site::Site;
use crate::syntax::Mentioned;
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
    let mut printed = Mentioned::default();
    if let Some(call) = machine.syntax.call(line.expression) {
        printed.visit_arguments(&call.arguments);
    }
    let is_variable = |name: &&str| effects::of(&[Receiver::Builtin], name).is_none();
    let uncalled = machine.uncalled_names();
    printed.0.into_iter().filter(is_variable).any(|name| uncalled.contains(name))
}

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
