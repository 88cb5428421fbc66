//! Scores agree with scikit-learn and scipy, and weights with repetition.

mod data;
mod scikit_learn;
mod weights;
