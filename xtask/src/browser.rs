//! The browser for the tests of the web page, and the accessibility audit.
//!
//! Chromium and its driver are the system's (`chromium` and `chromium-driver` on Debian). The audit is axe-core, from
//! its npm package; where npm is missing, a Python package carries the same file.

use std::fs;
use std::path::{Path, PathBuf};

use crate::command::{on_path, root};
use crate::packages::{npm, obtain, pip};

/// The release of the audit.
const AXE: &str = "4.12.1";
/// The release of the Python package that carries it.
const PYTHON_PACKAGE: &str = "axe-playwright-python==0.1.8";

/// What tests of pages need.
pub struct Browser {
    /// Chromium.
    pub chromium: PathBuf,
    /// Its driver.
    pub driver: PathBuf,
    /// `axe.min.js`.
    pub axe: PathBuf,
}

/// All of it; the audit is installed when it is not there yet.
///
/// # Errors
/// Something is missing; in words.
pub fn prepare() -> Result<Browser, String> {
    let folder = root().join("target/axe");
    let ways = [
        npm(&folder, "axe-core", AXE, "axe.min.js"),
        pip(&folder, PYTHON_PACKAGE, "axe_playwright_python/axe.min.js"),
    ];
    Ok(Browser {
        chromium: installed(&["chromium", "chromium-browser", "google-chrome"])?,
        driver: installed(&["chromedriver"])?,
        axe: obtain(&format!("axe {AXE}"), &folder, ways, is_right)?,
    })
}

fn is_right(file: &Path) -> bool {
    fs::read_to_string(file).is_ok_and(|text| text.starts_with(&format!("/*! axe v{AXE}\n")))
}

fn installed(names: &[&str]) -> Result<PathBuf, String> {
    let missing =
        || format!("{} is not installed (Debian: apt-get install chromium chromium-driver)", names[0]);
    on_path(names).ok_or_else(missing)
}
