//! Child processes by themselves: real processes, no Python.
//!
//! That isolation holds against hostile scripts, and that workers confine like cold starts, is tested where scripts are
//! run: in the tests of `mle-star-backends`.

#[cfg(test)]
mod confined;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod world;
