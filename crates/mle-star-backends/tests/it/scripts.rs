//! Running scripts, and checking what they submit.

mod runner;
mod submission;
mod world;
