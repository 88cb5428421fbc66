//! Running scripts, and checking what they submit.

mod attacks;
mod cgroups;
mod environment;
mod runner;
mod submission;
mod target;
mod warm;
mod world;
