//! The web page over HTTP.

mod actions;
mod reading;
mod security;
pub mod served;
