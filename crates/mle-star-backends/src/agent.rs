//! Agents: rules built in (`offline`).
