//! The runs directory as a web page.
//!
//! Pages are rendered on the server from the same parts as a run's report and can be read without JavaScript; with it, they
//! update while a run goes on. [`server`] listens, [`access`] decides who may use the page, [`live`] renders each change
//! once for all viewers. [`pages`] has what is served for each address. Viewing writes nothing: stop sends a
//! signal, resume and start create separate processes, [`sources`] keeps files that are sent beside the runs, and
//! [`mod@delete`] deletes runs.

mod access;
mod actions;
mod compare;
mod delete;
mod files;
mod folder;
mod list;
mod live;
mod logs;
mod pages;
mod response;
mod run;
mod server;
mod site;
mod sources;
mod start;
mod try_row;

pub use server::{BoundServer, bind, serve};
pub use site::Site;
