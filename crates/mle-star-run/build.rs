//! Finds the commit of the source, for the version of the program.
//!
//! In a repository, `git` says it; in a crate from a registry, the file that `cargo package` adds. A build of anything else
//! has no commit. The script runs again after a commit and after a change of the source, which compiles the program
//! anyway.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Characters of a commit that are shown.
const SHOWN: usize = 12;
/// What the program is made of, in the folder of each crate.
const SOURCES: [&str; 6] = ["Cargo.toml", "src", "prompts", "python", "templates", "skill"];

fn main() {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    println!("cargo:rerun-if-changed=build.rs");
    let commit = packaged(&here).or_else(|| of_repository(&here));
    let commit = commit.map_or_else(String::new, |commit| format!("+{commit}"));
    let version = env::var("CARGO_PKG_VERSION").unwrap_or_default();
    println!("cargo:rustc-env=MLE_STAR_VERSION={version}{commit}");
}

/// The commit that `cargo package` noted.
fn packaged(here: &Path) -> Option<String> {
    let noted = fs::read_to_string(here.join(".cargo_vcs_info.json")).ok()?;
    let start = noted.split_once("\"sha1\"")?.1.split('"').nth(1)?;
    Some(named(start, noted.contains("\"dirty\": true")))
}

fn of_repository(here: &Path) -> Option<String> {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).current_dir(here).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
        output.status.success().then_some(text)
    };
    // The source may lie in a repository that it does not belong to.
    git(&["ls-files", "--error-unmatch", "build.rs"])?;
    for file in ["HEAD", "logs/HEAD"] {
        let path = here.join(git(&["rev-parse", "--git-path", file])?);
        // A missing file would count as changed each time.
        if path.exists() {
            println!("cargo:rerun-if-changed={}", path.display());
        }
    }
    let sources = sources(here.parent()?);
    for path in &sources {
        println!("cargo:rerun-if-changed={path}");
    }
    let mut changed = vec!["status", "--porcelain", "--untracked-files=no", "--"];
    changed.extend(sources.iter().map(String::as_str));
    let is_dirty = git(&changed).is_none_or(|changed| !changed.is_empty());
    Some(named(&git(&["rev-parse", "HEAD"])?, is_dirty))
}

/// The paths of all sources below the folder of the crates.
fn sources(crates: &Path) -> Vec<String> {
    let folders = fs::read_dir(crates).into_iter().flatten().flatten().map(|entry| entry.path());
    let paths = folders.flat_map(|folder| SOURCES.map(|name| folder.join(name)));
    let paths = paths.chain(crates.parent().map(|root| root.join("Cargo.lock")));
    paths.filter(|path| path.exists()).map(|path| path.display().to_string()).collect()
}

fn named(commit: &str, is_dirty: bool) -> String {
    let dirty = if is_dirty { "-dirty" } else { "" };
    format!("{}{dirty}", &commit[..SHOWN.min(commit.len())])
}
