//! Earlier plans and their scores, formatted for the planners.

/// A plan that was tried.
pub(super) struct Tried<'a> {
    pub plan: &'a str,
    /// `None` if it failed.
    pub score: Option<f64>,
}

/// The plans of a history.
pub(super) fn plans<'a>(tried: &[Tried<'a>]) -> Vec<&'a str> {
    tried.iter().map(|tried| tried.plan).collect()
}

/// The scores of a history.
pub(super) fn scores(tried: &[Tried<'_>]) -> Vec<Option<f64>> {
    tried.iter().map(|tried| tried.score).collect()
}

/// Plans with their scores under a heading; a plan without a score failed.
pub(super) fn history(heading: &str, tried: &[Tried<'_>]) -> String {
    let one = |Tried { plan, score }: &Tried<'_>| {
        // As Python prints floats: 0.82, 1.0.
        let score = score.map_or("N/A (evaluation failed)".to_owned(), |score| format!("{score:?}"));
        format!("## Plan: {plan}\n## Score: {score}")
    };
    std::iter::once(heading.to_owned()).chain(tried.iter().map(one)).collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::Tried;

    #[test]
    fn failed_plans_stay_in_the_history() {
        let tried = [("plan A", Some(0.82)), ("plan B", None), ("plan C", Some(1.0))];
        let text = super::history(
            "# Improvement plans you have tried",
            &tried.map(|(plan, score)| Tried { plan, score }),
        );
        let expected = "# Improvement plans you have tried\n\n## Plan: plan A\n## Score: 0.82\n\n\
                        ## Plan: plan B\n## Score: N/A (evaluation failed)\n\n## Plan: plan C\n## Score: 1.0";
        assert_eq!(text, expected);
    }
}
