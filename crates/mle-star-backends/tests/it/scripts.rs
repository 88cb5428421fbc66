//! Running scripts, and checking what they submit.

mod attacks;
mod environment;
mod runner;
mod submission;
mod warm;
mod world;
