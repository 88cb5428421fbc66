//! The `claude` client: the real command line against a Messages API on loopback, and a fake one that
//! replays recordings of the real one.

#[cfg(test)]
mod api;
#[cfg(test)]
mod closed;
#[cfg(test)]
mod fake_claude;
#[cfg(test)]
mod isolated;
#[cfg(test)]
mod real_claude;
#[cfg(test)]
mod recordings;
#[cfg(test)]
mod scenarios;
#[cfg(test)]
mod table;
#[cfg(test)]
mod world;
