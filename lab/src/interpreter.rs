//! The interpreter of the data plane.

use std::env;
use std::ffi::OsString;

/// The one that `MLE_STAR_DATA_PYTHON` names, else `python3`.
pub fn interpreter() -> OsString {
    env::var_os("MLE_STAR_DATA_PYTHON").unwrap_or_else(|| "python3".into())
}
