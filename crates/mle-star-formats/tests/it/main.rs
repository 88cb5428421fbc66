//! Tables in all formats, as files on disk.

#[cfg(test)]
mod delimited;
#[cfg(test)]
mod files;
#[cfg(test)]
mod typed;
