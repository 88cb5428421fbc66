//! Agents: a language model behind the `claude` command line ([`claude`]), or rules built in ([`offline`]).

pub mod claude;
pub mod offline;
