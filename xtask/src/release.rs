//! `cargo xtask release`: everything that is published for one version, in one folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::{complain, root, say};
use crate::dist::tools::{self, Builders};
use crate::dist::wheel::{self, Built, Target};
use crate::dist::{archive, crates, folder, has_good_dependencies, version};
use crate::packages::succeeds;

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Build and check; tag nothing.
    dry_run: bool,
    /// The profile of the programs.
    profile: String,
    /// The targets; all if empty.
    targets: Vec<String>,
}

impl Options {
    /// Reads the options; `None` for an unknown one.
    pub fn parse(words: &[&str]) -> Option<Self> {
        let mut options = Self { dry_run: false, profile: "dist".to_owned(), targets: Vec::new() };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match *word {
                "--dry-run" => options.dry_run = true,
                "--profile" => options.profile = (*words.next()?).to_owned(),
                "--target" => {
                    let triple = *words.next()?;
                    Target::ALL.iter().find(|target| target.triple == triple)?;
                    options.targets.push(triple.to_owned());
                }
                _ => return None,
            }
        }
        Some(options)
    }
}

/// Checks and builds a release; `true` if it is complete.
pub fn release(options: &Options) -> bool {
    match all_of_it(options) {
        Ok(()) => true,
        Err(why) => {
            complain(&format!("error: {why}"));
            false
        }
    }
}

fn all_of_it(options: &Options) -> Result<(), String> {
    let version = version::of_workspace();
    let changes = version::changes(&version)?;
    version::crates_agree(&version)?;
    let tag = format!("v{version}");
    if !options.dry_run {
        can_be_tagged(&tag)?;
    }
    say("--- licences and sources of all dependencies");
    if !has_good_dependencies(&tools::cargo_deny()?) {
        return Err("a dependency is not allowed".to_owned());
    }
    let release = folder().join(&tag);
    let _ = fs::remove_dir_all(&release);
    fs::create_dir_all(&release).map_err(|error| format!("{}: {error}", release.display()))?;
    write(&release.join("CHANGES.md"), &changes)?;
    let builders = tools::builders()?;
    for target in Target::ALL {
        if options.targets.is_empty() || options.targets.iter().any(|triple| triple == target.triple) {
            programs(&builders, &target, options, &version, &release)?;
        }
    }
    for package in crates::package()? {
        copy(&package, &release)?;
    }
    archive::write_sums(&release)?;
    say(&format!("\n{} is complete:", release.display()));
    list(&release);
    if options.dry_run {
        say("nothing was tagged or published (--dry-run)");
        return Ok(());
    }
    succeeds(&mut git(&[
        "tag",
        "--annotate",
        &tag,
        "--message",
        &format!("mle-star {version}\n\n{changes}"),
    ]))?;
    say(&format!(
        "tagged {tag}; `git push origin {tag}` starts .github/workflows/release.yml, which publishes it"
    ));
    Ok(())
}

/// The wheel, the archive and the bill of materials for one target.
fn programs(
    builders: &Builders,
    target: &Target,
    options: &Options,
    version: &str,
    release: &Path,
) -> Result<(), String> {
    let built = wheel::build(builders, target, &options.profile, &folder().join(target.triple))?;
    built.has_all_tags()?;
    if target.is_here() {
        works(&built, version)?;
    }
    archive::pack(&built, target, version, release)?;
    copy(&built.wheel, release)?;
    archive::bill_of_materials(
        &built.wheel,
        &release.join(format!("mle-star-{version}-{}.cdx.json", target.triple)),
    )
}

fn works(built: &Built, version: &str) -> Result<(), String> {
    wheel::runs_alone(&built.program)?;
    wheel::Installed::from(&built.wheel)?.has_version(version)
}

/// A tag names what was committed, and never moves.
fn can_be_tagged(tag: &str) -> Result<(), String> {
    let output = git(&["status", "--porcelain"]).output().map_err(|error| format!("git: {error}"))?;
    if !output.stdout.is_empty() {
        return Err(
            "there are changes that are not committed; `--dry-run` builds them all the same".to_owned()
        );
    }
    let known = git(&["tag", "--list", tag]).output().map_err(|error| format!("git: {error}"))?;
    if known.stdout.is_empty() {
        Ok(())
    } else {
        Err(format!("{tag} is released already: raise the version"))
    }
}

fn git(words: &[&str]) -> Command {
    let mut git = Command::new("git");
    git.args(words).current_dir(root());
    git
}

fn copy(file: &Path, folder: &Path) -> Result<(), String> {
    let to: PathBuf = folder.join(file.file_name().unwrap_or_default());
    fs::copy(file, &to).map(drop).map_err(|error| format!("{}: {error}", to.display()))
}

fn write(file: &Path, text: &str) -> Result<(), String> {
    fs::write(file, text).map_err(|error| format!("{}: {error}", file.display()))
}

fn list(release: &Path) {
    for file in crates::files(release, "").unwrap_or_default() {
        let size = fs::metadata(&file).map_or(0, |file| file.len());
        say(&format!("{:>8.1} MB  {}", megabytes(size), file.file_name().unwrap_or_default().display()));
    }
}

#[expect(clippy::cast_precision_loss, reason = "files are far smaller than 2^52 bytes")]
fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_and_unknown_ones_refused() {
        let options = Options::parse(&["--dry-run", "--target", "x86_64-unknown-linux-musl"]).unwrap();
        assert!(options.dry_run && options.profile == "dist" && options.targets.len() == 1);
        assert_eq!(Options::parse(&["--profile", "release"]).unwrap().profile, "release");
        for unknown in [["--dry"].as_slice(), &["--target", "wasm32"], &["--profile"]] {
            assert_eq!(Options::parse(unknown), None, "{unknown:?}");
        }
    }
}
