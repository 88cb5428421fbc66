//! Agents behind an endpoint on loopback, which speaks both formats and fails in many ways.

#[cfg(test)]
mod answers;
#[cfg(test)]
mod api;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod retriever;
#[cfg(test)]
mod world;
