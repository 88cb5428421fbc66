//! The data of whole tasks; and the scripts that the program writes about data, run by a real Python.

#[cfg(test)]
mod comparison;
#[cfg(test)]
mod layouts;
#[cfg(test)]
mod miniatures;
