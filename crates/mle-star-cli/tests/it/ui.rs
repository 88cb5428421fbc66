//! The web page over HTTP.

mod actions;
mod compare;
mod long_list;
mod reading;
mod security;
pub mod served;
