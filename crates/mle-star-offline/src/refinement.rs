//! Refinement of one block: the next plan, and the block changed by a plan.

use mle_star_domain::metric::{Direction, Score};

use crate::catalogue::{self, Block, Strategy};
use crate::inputs::{Inputs, fenced};
use crate::problem::Problem;

/// A plan that was tried on the block, with its score.
struct TriedPlan<'a> {
    strategies: Vec<&'static Strategy>,
    plan: &'a str,
    score: Option<Score>,
}

/// The next plan: an untried strategy or, from time to time, the two best ones together. `path` is the number of the
/// refinement path: paths begin with different strategies.
pub(crate) fn planner(problem: &Problem, direction: Direction, inputs: Inputs<'_>, path: usize) -> String {
    let block = Block::read(problem, inputs.text("code_block"));
    let history = history(direction, inputs);
    let fitting = catalogue::applicable(&block, path);
    let was_tried = |strategy: &&&'static Strategy| {
        history.iter().any(|tried| tried.strategies.iter().any(|one| one.name == strategy.name))
    };
    // Every third plan builds on earlier ones.
    let pair = if history.len() % 3 == 2 { best_pair(&block, &history) } else { None };
    if let Some(plan) = pair {
        return plan;
    }
    match fitting.iter().find(|strategy| !was_tried(strategy)) {
        Some(strategy) => format!("{} {}", strategy.plan(), lesson(&history)).trim_end().to_owned(),
        None => best_pair(&block, &history).unwrap_or_else(|| nothing_left(&history)),
    }
}

fn history(direction: Direction, inputs: Inputs<'_>) -> Vec<TriedPlan<'_>> {
    let scores = inputs.scores("scores");
    let plans = inputs.texts("plans").into_iter().enumerate();
    plans
        .map(|(position, plan)| TriedPlan {
            strategies: catalogue::named(plan),
            plan,
            score: scores.get(position).copied().flatten().and_then(|value| Score::new(value, direction)),
        })
        .collect()
}

/// The two best single strategies together, if both edits fit.
fn best_pair(block: &Block<'_>, history: &[TriedPlan<'_>]) -> Option<String> {
    let mut single: Vec<(&'static Strategy, Score)> = history
        .iter()
        .filter_map(|tried| match tried.strategies.as_slice() {
            [one] => Some((*one, tried.score?)),
            _ => None,
        })
        .collect();
    mle_star_domain::metric::sort_best_first(&mut single, |(_, score)| *score);
    let [(first, _), (second, _), ..] = single.as_slice() else { return None };
    let plan = format!(
        "Strategy: {}. Strategy: {}. Each of the two scored best among the plans so far, and they change \
         different things, so that their gains may add up. Carry out both in the same block.",
        first.name, second.name
    );
    let together = follow(block, &plan);
    let apart = [first, second].map(|strategy| (strategy.edit)(block));
    let is_new = !apart.iter().any(|text| text.as_deref() == Some(together.as_str()));
    let is_repeat = history.iter().any(|tried| tried.plan == plan);
    (is_new && !is_repeat && together != block.text).then_some(plan)
}

fn lesson(history: &[TriedPlan<'_>]) -> String {
    let names = |tried: &TriedPlan<'_>| {
        let names: Vec<String> =
            tried.strategies.iter().map(|strategy| format!("\"{}\"", strategy.name)).collect();
        (!names.is_empty()).then(|| names.join(" with "))
    };
    let scored = history.iter().filter_map(|tried| Some((names(tried)?, tried.score?)));
    match mle_star_domain::metric::last_best(scored, |(_, score)| *score) {
        Some((names, score)) => format!("The best so far is {names} with {}.", score.value()),
        None => String::new(),
    }
}

fn nothing_left(history: &[TriedPlan<'_>]) -> String {
    let tried = history.len();
    format!(
        "Keep the block as it is. All known strategies for it have been tried ({tried} plans). Nothing else is changed."
    )
}

/// The block changed by the plan; unchanged if the plan names no known strategy.
pub(crate) fn coder(problem: &Problem, inputs: Inputs<'_>) -> String {
    let block = Block::read(problem, inputs.text("code_block"));
    fenced(&follow(&block, inputs.text("plan")))
}

fn follow(block: &Block<'_>, plan: &str) -> String {
    let mut text = block.text.to_owned();
    for strategy in catalogue::named(plan) {
        if let Some(edited) = (strategy.edit)(&Block::read(&block.problem, &text)) {
            text = edited;
        }
    }
    text
}
