//! The archive with the static program, and what lies next to it in a release.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::notices;
use super::wheel::{Built, Target};
use crate::command::root;
use crate::packages::succeeds;

/// Files of the repository that the archive holds.
const FILES: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"];
/// The libraries that the program installs for scripts: for machines without a network.
const LOCK: &str = "crates/mle-star-backends/python/requirements.lock";

/// Packs the program with licences, manual pages and completions; returns the archive.
///
/// # Errors
/// A file cannot be written, or the program does not run; in words.
pub fn pack(built: &Built, target: &Target, version: &str, release: &Path) -> Result<PathBuf, String> {
    let name = format!("mle-star-{version}-{}", target.triple);
    let folder = super::folder().join(&name);
    let failed = |error: io::Error| format!("{}: {error}", folder.display());
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).map_err(failed)?;
    fs::copy(&built.program, folder.join("mle-star")).map_err(failed)?;
    for file in FILES {
        fs::copy(root().join(file), folder.join(file)).map_err(failed)?;
    }
    fs::copy(root().join(LOCK), folder.join("requirements.lock")).map_err(failed)?;
    fs::write(folder.join("THIRD-PARTY-LICENSES.txt"), notices::text(target.triple)?).map_err(failed)?;
    // They are the same for every processor. This machine's program writes them.
    if target.is_here() {
        write_documents(&built.program, &folder)?;
    }
    let archive = release.join(format!("{name}.tar.gz"));
    let mut tar = Command::new("tar");
    // The same files make the same archive, whoever packs them.
    tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mtime=@0", "--mode=u+w,go=rX"]);
    tar.args(["--use-compress-program", "gzip --no-name --best", "--create", "--file"]).arg(&archive);
    tar.arg("--directory").arg(super::folder()).arg(&name);
    succeeds(&mut tar)?;
    Ok(archive)
}

fn write_documents(program: &Path, folder: &Path) -> Result<(), String> {
    succeeds(Command::new(program).arg("man").arg(folder.join("man")))?;
    let completions = folder.join("completions");
    fs::create_dir_all(&completions).map_err(|error| error.to_string())?;
    for shell in ["bash", "zsh", "fish"] {
        let output =
            Command::new(program).args(["completions", shell]).output().map_err(|error| error.to_string())?;
        fs::write(completions.join(shell), output.stdout).map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// Takes the bill of materials, which maturin writes, out of a wheel.
///
/// # Errors
/// The wheel has none; in words.
pub fn bill_of_materials(wheel: &Path, to: &Path) -> Result<(), String> {
    const TAKE: &str = "import sys, zipfile\n\
        archive = zipfile.ZipFile(sys.argv[1])\n\
        [name] = [name for name in archive.namelist() if '/sboms/' in name]\n\
        open(sys.argv[2], 'wb').write(archive.read(name))";
    succeeds(Command::new("python3").args(["-c", TAKE]).arg(wheel).arg(to))
        .map_err(|why| format!("{} has no bill of materials: {why}", wheel.display()))
}

/// Writes `SHA256SUMS` for all other files of a folder.
///
/// # Errors
/// `sha256sum` fails; in words.
pub fn write_sums(folder: &Path) -> Result<(), String> {
    let line = "rm -f SHA256SUMS && sums=$(sha256sum -- *) && printf '%s\\n' \"$sums\" > SHA256SUMS";
    succeeds(Command::new("sh").args(["-c", line]).current_dir(folder))
}
