//! Texts about the rules: title and severity.

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
