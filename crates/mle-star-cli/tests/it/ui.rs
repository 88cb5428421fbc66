//! The web page as the network sees it.

mod security;
pub mod served;
