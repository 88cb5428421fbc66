//! Words that say that a script has a score, whether or not the checker follows it.

use ruff_python_ast::token::Tokens;
use ruff_text_size::Ranged;

/// What the line with the score begins with.
pub(crate) const FINAL: &str = "Final Validation Performance";

/// Words in names and texts of scores, and of searches that print their own.
const WORDS: &str = "
        score scores scored scorer scoring accuracy acc auc auroc roc rmse mse mae mape rmsle smape logloss loss losses error
        errors r2 f1 fbeta precision recall kappa qwk metric metrics evaluate eval evals confusion report dice iou ndcg gini
        perplexity bleu rouge correct performance deviance correlation corr cost costs truth early stopping watchlist
        gridsearchcv randomizedsearchcv";

/// Whether a name or a text of a script is called like a score.
pub(crate) fn are_in(source: &str, tokens: &Tokens) -> bool {
    let named = tokens.iter().filter(|token| !token.kind().is_comment());
    let mut texts = named.filter_map(|token| source.get(token.range().to_std_range()));
    texts.any(|text| {
        let mut words = text.split(|letter: char| !letter.is_alphanumeric());
        words.any(|word| WORDS.split_whitespace().any(|score| score.eq_ignore_ascii_case(word)))
    })
}
