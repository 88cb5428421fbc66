//! Tests of what lies outside: real processes, real files.

#[cfg(test)]
mod claude;
#[cfg(test)]
mod offline;
#[cfg(test)]
mod scripts;
