//! The web page as the network sees it.

mod actions;
mod security;
pub mod served;
