//! Running scripts, and checking what they submit.

mod environment;
mod runner;
mod submission;
mod warm;
mod world;
