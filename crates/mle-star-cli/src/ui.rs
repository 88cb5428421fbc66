//! The runs directory as a web page, for people who would rather look than type.
//!
//! Pages are made on this side, of the same parts as a run's report, and read without JavaScript; with it they follow a
//! run as it goes. [`server`] listens, [`access`] says who may ask, [`live`] renders what changed once for everyone who
//! looks. The pages are [`list`] and the ones beside it. Nothing here writes into a run: stop, resume and start are
//! signals to, and beginnings of, processes of their own.

mod access;
mod act;
mod answer;
mod compare;
mod completion;
mod files;
mod list;
mod live;
mod logs;
mod peer;
mod processes;
mod run;
mod server;
mod site;
mod start;

pub use server::{Asked, Bound, bind, serve};
pub use site::Site;
