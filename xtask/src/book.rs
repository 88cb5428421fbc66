//! The book: mdBook makes it of `docs/`, and every link in it leads somewhere.
//!
//! mdBook comes from crates.io and is installed below `target/`. The links are checked in the pages that it made. Link
//! checkers of their own would be larger than the program: they ask servers, which the gate must not.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};

use crate::command::{cargo, root, say};
use crate::{files, packages};

/// The release of mdBook.
const VERSION: &str = "0.5.4";
/// Attributes whose values are addresses.
const ADDRESSES: [&str; 2] = [" href=\"", " src=\""];

/// The executable, installed when it is not there yet.
///
/// # Errors
/// It cannot be installed; in words.
pub fn prepare() -> Result<PathBuf, String> {
    let folder = root().join("target/mdbook");
    let executable = folder.join("bin/mdbook");
    if is_right(&executable) {
        return Ok(executable);
    }
    say(&format!("installing mdbook {VERSION} with cargo"));
    // Of its features, the book needs the search alone.
    let mut install =
        cargo("install mdbook --locked --quiet --force --no-default-features --features search");
    install.args(["--version", VERSION, "--root"]).arg(&folder);
    packages::succeeds(&mut install)?;
    if is_right(&executable) {
        Ok(executable)
    } else {
        Err("mdbook was installed and does not run".to_owned())
    }
}

/// Installs mdBook if it is missing, and builds the book.
pub fn make() -> bool {
    match prepare() {
        Ok(mdbook) => build(&mdbook),
        Err(why) => {
            say(&why);
            false
        }
    }
}

/// Builds the book in `target/book`; `true` if it could be built and every link leads somewhere.
pub fn build(mdbook: &Path) -> bool {
    say("--- mdbook build");
    let folder = root().join("target/book");
    let built = Command::new(mdbook).arg("build").current_dir(root()).status();
    if !built.is_ok_and(|status| status.success()) {
        return false;
    }
    let broken = broken_links(&folder);
    broken.iter().for_each(|line| say(line));
    say(&format!("the book is in {}", folder.join("index.html").display()));
    broken.is_empty()
}

fn is_right(executable: &Path) -> bool {
    let output = Command::new(executable).arg("--version").stderr(Stdio::null()).output();
    output.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).trim() == format!("mdbook v{VERSION}"))
}

/// The addresses in the pages of this folder that lead nowhere, one line each.
fn broken_links(folder: &Path) -> Vec<String> {
    let read = |file: PathBuf| Some((file.clone(), fs::read_to_string(file).ok()?));
    // The page for errors is at no fixed place, so its links start from the server's root.
    let is_page = |file: &PathBuf| file.file_name().is_some_and(|name| name != "404.html");
    let files = files::files(folder, "html").into_iter().filter(is_page);
    let pages: BTreeMap<PathBuf, String> = files.filter_map(read).collect();
    let anchors: BTreeMap<&Path, BTreeSet<&str>> =
        pages.iter().map(|(file, text)| (file.as_path(), values(text, " id=\"").collect())).collect();
    let mut broken = Vec::new();
    for (file, text) in &pages {
        for address in ADDRESSES.iter().flat_map(|attribute| values(text, attribute)) {
            if !leads_somewhere(file, address, &anchors) {
                let shown = file.strip_prefix(folder).unwrap_or(file).display();
                broken.push(format!("{shown}: the link ({address}) leads nowhere"));
            }
        }
    }
    broken
}

/// Addresses on other servers are not checked.
fn leads_somewhere(page: &Path, address: &str, anchors: &BTreeMap<&Path, BTreeSet<&str>>) -> bool {
    let is_elsewhere =
        address.contains("://") || ["mailto:", "data:"].iter().any(|kind| address.starts_with(kind));
    if is_elsewhere {
        return true;
    }
    let (path, anchor) = address.split_once('#').unwrap_or((address, ""));
    let folder = page.parent().unwrap_or(page);
    let target = if path.is_empty() { page.to_owned() } else { plain(&folder.join(path)) };
    let has_anchor = || anchors.get(target.as_path()).is_some_and(|known| known.contains(anchor));
    target.is_file() && (anchor.is_empty() || has_anchor())
}

/// The values of an attribute that is written with double quotes.
fn values<'a>(text: &'a str, attribute: &'a str) -> impl Iterator<Item = &'a str> {
    text.split(attribute).skip(1).filter_map(|rest| rest.split('"').next())
}

/// The path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut plain, part| {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            part => plain.push(part),
        }
        plain
    })
}
