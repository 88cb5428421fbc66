//! Child processes that can neither harm nor outlive the program.
//!
//! ```
//! use std::process::Stdio;
//!
//! use mle_star_process::ProcessTree;
//! use tokio::io::AsyncReadExt as _;
//! use tokio::process::Command;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> std::io::Result<()> {
//! let mut command = Command::new("sh");
//! command.args(["-c", "sleep 600 & echo started; exit 3"]);
//! let (mut tree, mut streams) = ProcessTree::spawn(command, Stdio::null())?;
//! let ending = tree.ended().await?;
//! assert_eq!(ending.status.and_then(|status| status.code()), Some(3));
//! assert_eq!(ending.left_behind, 1, "what the child left running was killed");
//! let mut said = String::new();
//! streams.stdout.read_to_string(&mut said).await?;
//! assert_eq!(said, "started\n");
//! # Ok(())
//! # }
//! ```
//!
//! Times are [`Duration`](std::time::Duration)s, memory and disk space are in MiB where a name or a comment does not say otherwise. How a
//! child ends, and which limit it exceeded ([`Excess`]), are values; an [`Error`] is what is not the child's doing.
//!
//! # Parts
//!
//! - [`ProcessTree`] is a child with everything it starts, behind a supervisor that ends all of it when the child ends,
//!   when the tree is dropped and when the program dies.
//! - [`Talk`] is a child that is talked to over its standard streams.
//! - [`sandbox`] says what the kernel offers to confine a child, and confines one.
//! - [`enforce`] stops a child that exceeds a limit on time, memory, processes or disk space; [`cgroup`] lets the kernel
//!   enforce some of them.
//! - [`warm`] starts Python scripts as forks of a process that has already imported their libraries.
//! - [`stream`], [`variables`], [`short_links`], [`remove`] and [`machine`] are what running untrusted scripts needs
//!   besides: capped output, an environment without secrets, short temporary paths, safe removal, and what to share.
//!
//! All of it needs Linux.

#[cfg(not(target_os = "linux"))]
compile_error!("mle-star runs on Linux");

pub mod cgroup;
pub mod disk;
pub mod enforce;
mod error;
mod excess;
pub mod machine;
pub mod memory;
pub mod open_file_limit;
mod proc;
mod process_tree;
pub mod remove;
pub mod sandbox;
pub mod short_links;
mod spawn;
pub mod stream;
mod talk;
pub mod variables;
pub mod warm;

pub use error::Error;
pub use excess::{Excess, Resource};
pub use proc::ignores_hangup;
pub use process_tree::{Ending, ProcessTree, Streams};
pub use spawn::{Confinement, Namespaces, handle_child_signals, in_own_session};
pub use talk::Talk;
