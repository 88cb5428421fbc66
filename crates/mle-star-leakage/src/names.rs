//! Names that say more than an effect: words among others, and settings of models.

use crate::info::How;

/// Names of settings of models that say for how many rounds they are trained.
const ROUNDS: &str = "
        n_estimators num_boost_round iterations num_iterations num_iteration n_rounds num_rounds nrounds
        epochs ntree_limit ntree_end iteration_range n_epochs";

/// Whether a name is one of several words.
pub(crate) fn is_one(words: &str, name: &str) -> bool {
    words.split_ascii_whitespace().any(|word| word == name)
}

/// How candidates differ that set this parameter of a model. A few numbers of rounds are as good as other settings.
pub(crate) fn setting(name: &str, open: How) -> How {
    let name = name.rsplit("__").next().unwrap_or(name);
    if name.contains("seed") || name == "random_state" {
        How::Seed
    } else if open == How::Open && is_one(ROUNDS, name) {
        How::Rounds
    } else {
        How::Setting
    }
}
