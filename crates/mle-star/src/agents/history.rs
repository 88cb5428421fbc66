//! Earlier plans and their scores, as the planners read them.

/// Plans with their scores under a heading; a plan without a score failed.
pub(super) fn history(heading: &str, plans: &[String], scores: &[Option<f64>]) -> String {
    let pairs = plans.iter().zip(scores).map(|(plan, score)| {
        // Like Python prints floats: 0.82, 1.0.
        let score = score.map_or("N/A (evaluation failed)".to_owned(), |score| format!("{score:?}"));
        format!("## Plan: {plan}\n## Score: {score}")
    });
    std::iter::once(heading.to_owned()).chain(pairs).collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests {
    #[test]
    fn failed_plans_stay_in_the_history() {
        let plans = ["plan A".to_owned(), "plan B".to_owned(), "plan C".to_owned()];
        let text =
            super::history("# Improvement plans you have tried", &plans, &[Some(0.82), None, Some(1.0)]);
        let expected = "# Improvement plans you have tried\n\n## Plan: plan A\n## Score: 0.82\n\n\
                        ## Plan: plan B\n## Score: N/A (evaluation failed)\n\n## Plan: plan C\n## Score: 1.0";
        assert_eq!(text, expected);
    }
}
