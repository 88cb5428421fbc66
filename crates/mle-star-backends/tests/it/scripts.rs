//! Runs scripts and checks their submissions.

mod attacks;
mod cgroups;
mod environment;
mod evaluation;
mod input;
mod runner;
mod target;
mod warm;
mod world;
