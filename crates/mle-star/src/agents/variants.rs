//! The variants of an ablation study that score better than the solution: their scores and their code, for the agents that
//! plan and write the next solution.

use crate::evaluate::Execution;
use crate::lessons::{gain_text, number};
use crate::result::StepRecord;
use mle_star_domain::effects::VariantScore;
use mle_star_domain::metric::Direction;

/// The heading of the code of these variants.
const BETTER: &str = "Code of the variants that scored better than the unchanged solution, one of which may be the next plan as it is:";

/// The summary of a study, with what the program measured of its variants.
pub(crate) fn with_variants(summary: String, study: &Execution, direction: Direction) -> String {
    let Ok(outcome) = study.outcome() else { return summary };
    let gain = |variant: &VariantScore| {
        let difference = variant.difference?;
        Some((if direction == Direction::Maximize { difference.by } else { -difference.by }, difference))
    };
    let line = |variant: &VariantScore| {
        let (gain, difference) = gain(variant)?;
        let told = gain_text(gain, Some(difference.standard_error));
        Some(format!("- variant {}: {}, {told}", variant.number, number(variant.score)))
    };
    let lines: Vec<String> = outcome.variants.iter().filter_map(line).collect();
    if lines.is_empty() {
        return summary;
    }
    let is_better = |variant: &&VariantScore| gain(variant).is_some_and(|(gain, _)| gain > 0.0);
    let code = |variant: &VariantScore| {
        let code = code_of(study.solution.text(), variant.number)?;
        Some(format!("Variant {}:\n\n```python\n{code}\n```", variant.number))
    };
    let better: Vec<String> = outcome.variants.iter().filter(is_better).filter_map(code).collect();
    let measured = format!("Measured by the program, each on the rows of both:\n\n{}", lines.join("\n"));
    let better = (!better.is_empty()).then(|| format!("{BETTER}\n\n{}", better.join("\n\n")));
    [Some(summary), Some(measured), better].into_iter().flatten().collect::<Vec<_>>().join("\n\n")
}

/// T_abl of the MLE-STAR paper: the summaries of the studies in these steps, without code, which later solutions have or have
/// left out.
pub(super) fn summaries(steps: &[StepRecord]) -> Vec<&str> {
    let summaries = steps.iter().map(|step| without_code(&step.ablation_summary));
    summaries.filter(|summary| !summary.is_empty()).collect()
}

fn without_code(summary: &str) -> &str {
    summary.split_once(BETTER).map_or(summary, |(words, _)| words.trim_end())
}

/// The code of the better variants in such a summary.
pub(super) fn better_code(summary: &str) -> Option<&str> {
    summary.split_once(BETTER).map(|(_, code)| code.trim())
}

/// The lines of a study from `# variant N` to `# end of variant N`.
fn code_of(study: &str, number: usize) -> Option<String> {
    let is = |line: &str, words: &str| {
        let rest = line.trim().to_lowercase().strip_prefix(words)?.to_owned();
        (!rest.starts_with(|next: char| next.is_ascii_digit())).then_some(())
    };
    let (begin, end) = (format!("# variant {number}"), format!("# end of variant {number}"));
    let lines = study.lines().skip_while(|line| is(line, &begin).is_none());
    let code: Vec<&str> = lines.take_while(|line| is(line, &end).is_none()).collect();
    (!code.is_empty()).then(|| code.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_of_a_variant_stands_between_its_lines() {
        let study = "x = 1\n# variant 1: products\na()\n# end of variant 1\n# Variant 12: none\nb()";
        assert_eq!(code_of(study, 1).as_deref(), Some("# variant 1: products\na()"));
        assert_eq!(code_of(study, 12).as_deref(), Some("# Variant 12: none\nb()"));
        assert_eq!(code_of(study, 2), None);
        let summary = format!("Lags help.\n\n{BETTER}\n\nVariant 1:");
        assert_eq!((better_code(&summary), better_code("Lags help.")), (Some("Variant 1:"), None));
        assert_eq!((without_code(&summary), without_code("Lags help.")), ("Lags help.", "Lags help."));
    }
}
