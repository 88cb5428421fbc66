//! Everything that is published for one version, in one folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::claude::networks_can_be_closed;
use crate::command::{complain, root, say};
use crate::dist::tools::{self, Builders};
use crate::dist::wheel::{self, Built, Target};
use crate::dist::{archive, crates, folder, has_good_dependencies, version};
use crate::packages::succeeds;

/// `verify --release`: builds and checks everything that is published, and publishes nothing; `true` if it is complete.
pub fn verify() -> bool {
    is_said(all_of_it(false))
}

/// The same from a clean tree, and tags the commit.
pub fn release() -> bool {
    is_said(all_of_it(true))
}

fn is_said(done: Result<(), String>) -> bool {
    done.map_err(|why| complain(&format!("error: {why}"))).is_ok()
}

fn all_of_it(is_tagged: bool) -> Result<(), String> {
    let version = version::of_workspace();
    let changes = version::changes(&version)?;
    version::crates_agree(&version)?;
    let tag = format!("v{version}");
    if is_tagged {
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
        programs(&builders, &target, &version, &release)?;
    }
    for package in crates::package()? {
        copy(&package, &release)?;
    }
    archive::write_sums(&release)?;
    say(&format!("\n{} is complete:", release.display()));
    list(&release);
    if !is_tagged {
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
fn programs(builders: &Builders, target: &Target, version: &str, release: &Path) -> Result<(), String> {
    let built = wheel::build(builders, target, &folder().join(target.triple))?;
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
    if networks_can_be_closed() {
        wheel::runs_alone(&built.program)?;
    }
    let installed = wheel::Installed::from(&built.wheel)?;
    installed.has_version(version)?;
    installed.has_package(version)?;
    installed.solves_a_task()
}

/// A tag names what was committed, and never moves.
fn can_be_tagged(tag: &str) -> Result<(), String> {
    let output = git(&["status", "--porcelain"]).output().map_err(|error| format!("git: {error}"))?;
    if !output.stdout.is_empty() {
        return Err("there are changes that are not committed; `verify --release` builds them all the same"
            .to_owned());
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
