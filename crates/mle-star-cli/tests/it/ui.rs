//! The web page over HTTP.

mod actions;
mod long_list;
mod reading;
mod security;
pub mod served;
