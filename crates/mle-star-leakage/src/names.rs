//! Names that say more than an effect: words among others, and settings of models.

use crate::info::How;
use memchr::memmem;

/// Names of settings of models that say for how many rounds they are trained.
const ROUNDS: &str = "
        n_estimators num_boost_round iterations num_iterations num_iteration n_rounds num_rounds nrounds
        epochs ntree_limit ntree_end iteration_range n_epochs";

/// Whether a name is one of several words.
pub(crate) fn is_one(words: &str, name: &str) -> bool {
    let is_space = |byte: Option<&u8>| byte.is_none_or(u8::is_ascii_whitespace);
    let (words, name) = (words.as_bytes(), name.as_bytes());
    !name.is_empty()
        && memmem::find_iter(words, name).any(|at| {
            is_space(at.checked_sub(1).map(|before| &words[before])) && is_space(words.get(at + name.len()))
        })
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
