//! Suggestions for misspelled words.

/// The known word most similar to `word`, which may be very different; `None` without any known word. Known words are in lower
/// case.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let close = |candidate: &str| {
        let whole = strsim::normalized_damerau_levenshtein(&word, candidate);
        // "time_limit" should match time_limit_seconds although much is missing.
        let part = if candidate.contains(&word) || word.contains(candidate) { 0.4 } else { 0.0 };
        whole + part
    };
    // The first of equals.
    known.into_iter().min_by(|a, b| close(b).total_cmp(&close(a)))
}

/// The known word that `word` is a slip of the hand away from. Known words are in lower case.
pub fn misspelt<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let (lower, allowed) = (word.to_lowercase(), 1 + word.len() / 8);
    nearest(word, known).filter(|known| strsim::damerau_levenshtein(&lower, known) <= allowed)
}
