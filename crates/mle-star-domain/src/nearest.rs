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

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn the_nearest_key_is_the_one_meant() {
        let keys = [
            "outer_loop_steps",
            "inner_loop_steps",
            "time_limit_seconds",
            "model",
            "max_budget_usd",
            "agents",
        ];
        let check = |word: &str, expected: &str| assert_eq!(nearest(word, keys), Some(expected), "{word}");
        check("outer_steps", "outer_loop_steps");
        check("time_limit", "time_limit_seconds");
        check("Model", "model");
        check("budget", "max_budget_usd");
        check("agent", "agents");
        assert_eq!(nearest("x", []), None);
    }
}
