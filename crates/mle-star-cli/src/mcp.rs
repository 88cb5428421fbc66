//! Runs as tools of other agents: a server of the Model Context Protocol on stdin and stdout.
//!
//! A tool is a command of this program with `--json`: [`tools`] lists them, and derives their inputs from the options of the
//! command. [`call`] runs the command as a child, tells the client what it says meanwhile, and answers its JSON.
//! [`protocol`] answers requests.

mod call;
mod caller;
pub mod command;
mod protocol;
mod shorten;
mod tools;

/// What clients tell their model about the server.
const INSTRUCTIONS: &str = "mle-star turns a machine-learning task on tables (train.csv, test.csv, sample_submission.csv, a \
description) into a checked submission and the script that makes it. Call `preview` to see what it infers and may cost, \
`run` to start, `watch` with until=\"end\" to wait, `result` for scores and files. A run takes minutes to hours in its own \
process and goes on when you leave; `list` finds it again, `resume` continues it. Report the held-out score if there is \
one, never a suspect one without saying so. `check` finds leaks of validation data in any Python script.";
