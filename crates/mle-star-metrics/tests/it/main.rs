//! Scores agree with scikit-learn and scipy, and weights with repetition.

#[cfg(test)]
mod data;
#[cfg(test)]
mod scikit_learn;
#[cfg(test)]
mod weights;
