//! The web page as the network sees it.

mod actions;
mod reading;
mod security;
pub mod served;
