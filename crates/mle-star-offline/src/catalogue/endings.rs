//! Refinement strategies for predictions: the scale of the target, blending and postprocessing.

use serde_json::json;

use super::{Block, Strategy};
use crate::sections;
use crate::templates::render;
use mle_star_tables::metrics::Metric;

pub(super) const ENDINGS: &[Strategy] = &[
    Strategy {
        name: "logarithm of the target",
        part: "Target",
        reason: "A target with a long right tail makes a few rows dominate the loss.",
        how: "Let the models learn the logarithm and turn predictions back.",
        edit: |block| scale(block, "log", block.problem.target_range.0 >= 0.0),
    },
    Strategy {
        name: "target as it is",
        part: "Target",
        reason: "The metric counts errors in the target's own unit.",
        how: "Let the models learn the plain target.",
        edit: |block| scale(block, "plain", true),
    },
    Strategy {
        name: "weights fitted on out-of-fold predictions",
        part: "Blend",
        reason: "A stronger model deserves a larger weight, and a similar one a smaller.",
        how: "Choose convex weights greedily on out-of-fold predictions, fold by fold, so that the score stays honest.",
        edit: |block| blend(block, "blends/weights", true),
    },
    Strategy {
        name: "stacking with a linear judge",
        part: "Blend",
        reason: "A second model can correct what all models get wrong in the same way.",
        how: "Fit a regularised linear model on the out-of-fold predictions, fold by fold.",
        edit: |block| blend(block, "blends/stacking", true),
    },
    Strategy {
        name: "plain mean of the predictions",
        part: "Blend",
        reason: "Fitted weights can follow noise.",
        how: "Let every model count the same.",
        edit: |block| blend(block, "blends/mean", true),
    },
    Strategy {
        name: "tuned decision threshold",
        part: "Postprocessing",
        reason: "The metric's best threshold is rarely one half.",
        how: "Choose the threshold by the metric on out-of-fold predictions, fold by fold.",
        edit: |block| {
            let problem = &block.problem;
            post(block, "posts/thresholds", problem.metric.labels && problem.classes == 2)
        },
    },
    Strategy {
        name: "tuned factors of the classes",
        part: "Postprocessing",
        reason: "The most probable class is not what the metric rewards when classes are of different sizes.",
        how: "Multiply each class's probability by a factor tuned on out-of-fold predictions, fold by fold.",
        edit: |block| {
            let problem = &block.problem;
            post(block, "posts/class_factors", problem.metric.labels && (3..=30).contains(&problem.classes))
        },
    },
    Strategy {
        name: "tuned limits between classes",
        part: "Postprocessing",
        reason: "Expected classes crowd in the middle, so rounding names the outer classes too rarely.",
        how: "Tune the limits between neighbouring classes on out-of-fold predictions, fold by fold.",
        edit: |block| post(block, "posts/cuts", block.problem.metric.ordinal),
    },
    Strategy {
        name: "most probable class",
        part: "Postprocessing",
        reason: "A rule tuned on few rows follows their noise, and a rounded expectation misses likely classes far from the others.",
        how: "Name the class with the largest probability.",
        edit: |block| {
            let metric = &block.problem.metric;
            post(block, "posts/most_probable", metric.ordinal || metric.id == Metric::F1)
        },
    },
];

fn scale(block: &Block<'_>, scale: &str, wanted: bool) -> Option<String> {
    (wanted && block.text.contains("def to_model_scale"))
        .then(|| sections::target(scale).ok().map(|s| s.text))
        .flatten()
}

fn blend(block: &Block<'_>, template: &str, wanted: bool) -> Option<String> {
    (wanted && block.problem.can_use(template) && block.text.contains("def blend("))
        .then(|| whole(block, template))
        .flatten()
}

fn post(block: &Block<'_>, template: &str, wanted: bool) -> Option<String> {
    (wanted && block.problem.can_use(template) && block.text.contains("def postprocess("))
        .then(|| whole(block, template))
        .flatten()
}

fn whole(block: &Block<'_>, template: &str) -> Option<String> {
    render(template, &json!({ "p": &*block.problem })).ok()
}
