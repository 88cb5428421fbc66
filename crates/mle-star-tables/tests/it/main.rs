//! The data of whole tasks; and the scripts that the program writes about data, run by a real Python.

#[cfg(test)]
mod comparison;
#[cfg(test)]
#[cfg(test)]
mod last_fold;
#[cfg(test)]
mod layouts;
#[cfg(test)]
mod miniatures;
#[cfg(test)]
mod new_series;
#[cfg(test)]
mod own_ends;
#[cfg(test)]
mod own_folds;
#[cfg(test)]
mod periods;
#[cfg(test)]
mod seasonal_naive;
