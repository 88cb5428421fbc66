//! The script at a place of a run, and its difference from the script that it was made from.

use mle_star_domain::place::Place;
use similar::TextDiff;

use super::context::Context;
use super::steps::{ScriptRun, Step, StepKind};
use crate::at_work::AtWork;
use crate::run_view::RunView;

/// A script and its parent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    /// The place of its run.
    pub place: String,
    /// The whole text.
    pub script: String,
    /// Place and text of its parent: the failed run before a repair, otherwise the solution that its step started
    /// from.
    pub parent: Option<(String, String)>,
}

/// The script at a place of `run`: a step or a script run. For a step it is the script with the score, otherwise
/// the last one. `Err` has the existing places.
pub fn at(run: &RunView, place: &str) -> Result<Code, Vec<String>> {
    let at_work = AtWork::of(run);
    let context = Context::of(run, &at_work);
    let wanted = Place::from(place.trim_matches('/'));
    for step in context.steps.iter() {
        let chosen = if step.place == wanted {
            step.scored().or(step.runs.last()).or_else(|| submitted(&context, step))
        } else {
            step.runs.iter().find(|run| *run.place == wanted || run.place.parent() == wanted)
        };
        if let Some(run) = chosen {
            let parent = parent(&context, step, run);
            return Ok(Code { place: run.place.to_string(), script: run.script.to_owned(), parent });
        }
    }
    Err(context
        .steps
        .iter()
        .filter(|step| !step.runs.is_empty())
        .map(|step| step.place.to_string())
        .collect())
}

/// The run of the solution whose own submission counts, so that no other script ran in the last step.
fn submitted<'a>(context: &'a Context<'_>, step: &Step<'_>) -> Option<&'a ScriptRun<'a>> {
    let from = (step.kind == StepKind::Submission).then(|| context.descent.from(step.step))?;
    context.steps.at(*from.first()?)?.scored()
}

fn parent(context: &Context<'_>, step: &Step<'_>, run: &ScriptRun<'_>) -> Option<(String, String)> {
    let text = |run: &ScriptRun<'_>| (run.place.to_string(), run.script.to_owned());
    if let Some(before) = step.runs.iter().take_while(|other| other.place != run.place).last() {
        return Some(text(before));
    }
    let origin = context.steps.at(*context.descent.from(step.step).first()?)?;
    origin.scored().or(origin.runs.last()).map(text)
}

impl Code {
    /// The diff from the parent in the format of `patch`; empty if there is no parent or no difference.
    pub fn diff(&self) -> String {
        let Some((place, before)) = &self.parent else { return String::new() };
        let diff = TextDiff::from_lines(before, &self.script);
        diff.unified_diff().context_radius(3).header(place, &self.place).to_string()
    }
}
