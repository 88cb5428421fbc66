//! Python environments and the processes that run scripts.
//!
//! [`environment`] finds or makes the interpreter, [`machine`] says what the machine offers, [`local`] is the
//! [`ScriptRunner`](mle_star::effects::ScriptRunner) of this machine, [`submission`] checks what a script
//! submits, [`warm`] starts scripts in processes that have their libraries, [`sandbox`] binds them. The rest is how
//! the local runner keeps its promises: `stream` keeps output within bounds, `workplace` is the folder a script runs
//! in, `watch` ends what takes too much.

#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "there are none"))]
mod cgroup;
mod disk;
pub mod environment;
pub mod local;
pub mod machine;
mod memory;
mod open_files;
mod out_of_memory;
pub mod sandbox;
mod short_links;
mod stream;
pub mod submission;
mod traceback;
pub mod variables;
pub mod warm;
mod watch;
pub(crate) mod workplace;
