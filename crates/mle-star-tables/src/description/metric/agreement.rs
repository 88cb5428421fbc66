//! Whether sentences name the same metric, and what they add to each other.

use crate::metrics::Metric;

use super::super::sentence::{Section, Sentence};
use super::assertion::Assertion;
use super::levels::{self, Level};

/// The assertions that differ. A later mention of a metric without the words that change it is the same metric.
pub(super) fn agreed(found: &[Assertion]) -> Vec<Assertion> {
    let mut agreed: Vec<Assertion> = Vec::new();
    let is_full = |one: &&Assertion| !found.iter().any(|full| is_short_for(one, full));
    for one in found.iter().filter(is_full) {
        let same = agreed.iter_mut().find(|other| is_same(other, one));
        match same {
            Some(other) if other.modifiers.iter().all(|modifier| one.modifiers.contains(modifier)) => {
                other.modifiers.clone_from(&one.modifiers);
                if one.modifiers.len() > other.modifiers.len() {
                    *other = one.clone();
                }
            }
            Some(other) if one.modifiers.iter().all(|modifier| other.modifiers.contains(modifier)) => {}
            _ => agreed.push(one.clone()),
        }
    }
    agreed
}

/// Whether two assertions are about one metric, whatever changes it.
pub(super) fn is_same(one: &Assertion, other: &Assertion) -> bool {
    match (one.metric, other.metric) {
        (Some(one), Some(other)) => one == other,
        (None, None) => one.name.contains(&other.name) || other.name.contains(&one.name),
        _ => false,
    }
}

/// Whether a name is short for a metric: `F1` for macro F1, `AUC` for the mean of columns.
fn is_short_for(short: &Assertion, full: &Assertion) -> bool {
    let Some(metric) = full.metric else { return false };
    match short.metric {
        Some(Metric::F1) => matches!(
            metric,
            Metric::MacroF1
                | Metric::MicroF1
                | Metric::WeightedF1
                | Metric::SampleF1
                | Metric::SetMacroF1
                | Metric::SetMicroF1
        ),
        Some(Metric::RocAuc) => {
            let is_bare = matches!(short.name.as_str(), "auc" | "auc score" | "area under the curve");
            metric == Metric::ColumnRocAuc
                || metric == Metric::AveragePrecision && full.name.contains("au") && is_bare
        }
        Some(Metric::Rmse) => matches!(metric, Metric::Rmsle | Metric::ColumnRmse),
        Some(Metric::Accuracy) => matches!(metric, Metric::BalancedAccuracy | Metric::TopAccuracy(_)),
        Some(Metric::LogLoss) => metric == Metric::ColumnLogLoss,
        Some(Metric::AveragePrecision) => matches!(metric, Metric::MapAt(_)),
        Some(_) => false,
        None => match short.name.as_str() {
            "kappa" | "cohen s kappa" | "cohen kappa" | "kappa score" => metric == Metric::QuadraticKappa,
            "map" | "mean average precision" | "precision" => matches!(metric, Metric::MapAt(_)),
            "correlation" | "correlation coefficient" => {
                matches!(metric, Metric::Pearson | Metric::Spearman | Metric::Mcc)
            }
            "f score" | "f measure" => full.name.contains("f1"),
            "squared error" => matches!(metric, Metric::Rmse | Metric::Mse),
            "absolute error" => metric == Metric::Mae,
            _ => false,
        },
    }
}

/// Adds what other sentences about the evaluation say of the same metric.
pub(super) fn refined(mut one: Assertion, all: &[Assertion], sentences: &[Sentence]) -> Assertion {
    let is_about = |other: &&Assertion| {
        let near =
            other.sentence.abs_diff(one.sentence) <= 2 && sentences[other.sentence].section != Section::Aside;
        (near || other.level <= Level::Below)
            && !sentences[other.sentence].text.starts_with('(')
            && is_same(&one, other)
            && one.modifiers.iter().all(|own| other.modifiers.contains(own))
    };
    let more: Vec<&String> = all
        .iter()
        .filter(is_about)
        .flat_map(|other| &other.modifiers)
        .filter(|word| levels::is_kept(word))
        .collect();
    one.modifiers.extend(more.into_iter().cloned());
    // Another sentence says which F1 it is.
    let is_full = |full: &&Assertion| {
        full.sentence.abs_diff(one.sentence) <= 2
            && sentences[full.sentence].section != Section::Aside
            && is_short_for(&one, full)
    };
    if one.metric == Some(Metric::F1)
        && let Some(full) = all.iter().find(is_full)
    {
        one = full.clone();
    }
    for (at, sentence) in sentences.iter().enumerate() {
        let is_near = at > one.sentence && at - one.sentence <= 3;
        if at != one.sentence && (is_near || sentence.section == Section::Evaluation) {
            one.modifiers.extend(levels::said_apart(sentence, one.metric));
        }
    }
    one.modifiers.sort();
    one.modifiers.dedup();
    one
}
