//! The algorithms of the MLE-STAR paper, line by line: comments name the lines of the listings in its Appendix B.
//!
//! Nothing else stands here. What the program adds are stages around the algorithms (`beyond`); what happens around
//! every step and every effect is the context's (`ctx`).

pub(crate) mod checks;
pub(crate) mod ensemble;
pub(crate) mod finalize;
pub(crate) mod initial;
pub(crate) mod refine;
