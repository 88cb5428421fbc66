//! Agents: rules built in ([`offline`]).

pub mod offline;
