//! The rules in words.

use mle_star_leakage::Rule;

/// What the rule finds, as the title of a finding.
pub fn title(rule: Rule) -> String {
    let sentence = rule.description().trim_end_matches('.');
    let mut letters = sentence.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

/// The severity in one word.
pub fn word(rule: Rule) -> &'static str {
    if rule.blocks() { "leak" } else { "warning" }
}

/// What is right instead, for any script.
pub fn instead(rule: Rule) -> &'static str {
    match rule {
        Rule::TargetStatistics => {
            "Compute what depends on the target from the training rows of each split alone."
        }
        Rule::ResampledBeforeSplit => "Split first, then resample the training rows.",
        Rule::SelectedBeforeSplit => "Split first, then select features with the training rows.",
        Rule::TargetAsFeature => "Drop the target from the features.",
        Rule::SameRows => "Keep the validation rows out of the training rows.",
        Rule::ScoredOnTrainingRows => "Score rows that the model was not fitted on.",
        Rule::ChosenOnScoredRows => {
            "Choose thresholds, weights and seeds on other rows than those of the reported score."
        }
        Rule::ReadsLabels => "Read only the files of the task.",
        Rule::ConstantScore => "Compute the score from predictions for validation rows.",
        Rule::UnsupervisedBeforeSplit => {
            "Split first, then fit scalers, imputers and the like on the training rows."
        }
        Rule::RowsInFoldsOfGroups => {
            "Split the training rows as the test rows were split off: by groups, or by time."
        }
        Rule::ShuffledTime => "Validate on rows that are later than those of the fit.",
        Rule::IdAsFeature => "Drop the column from the features.",
        Rule::StoppedOnScoredRows => "Stop training by rows that are taken from the training rows.",
        Rule::ChosenAmongModels => "Score the chosen model on rows that did not choose it.",
    }
}
