//! The wheel, and the static program in it, which needs nothing of the system that it runs on.

use std::env::consts::ARCH;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::crates::files;
use super::tools::{Builders, add_target};
use crate::command::{self, root, say};
use crate::packages;

/// A system that the program is built for.
pub struct Target {
    /// Rust's name.
    pub triple: &'static str,
    /// The processor's name in wheels.
    processor: &'static str,
}

/// What a build made.
pub struct Built {
    /// The wheel.
    pub wheel: PathBuf,
    /// The program in it.
    pub program: PathBuf,
    processor: &'static str,
}

impl Target {
    /// Every system that programs are published for.
    pub const ALL: [Self; 2] = [
        Self { triple: "x86_64-unknown-linux-musl", processor: "x86_64" },
        Self { triple: "aarch64-unknown-linux-musl", processor: "aarch64" },
    ];

    /// Whether this machine runs its programs.
    pub fn is_here(&self) -> bool {
        self.processor == ARCH
    }
}

/// Builds program and wheel into an empty folder.
///
/// # Errors
/// The build fails; in words.
pub fn build(builders: &Builders, target: &Target, folder: &Path) -> Result<Built, String> {
    add_target(target.triple)?;
    let _ = fs::remove_dir_all(folder);
    let mut maturin = Command::new(&builders.maturin);
    maturin.args(["build", "--zig", "--target", target.triple, "--release"]);
    // A static program runs with either C library, so one wheel is for both.
    maturin.args(["--compatibility", "manylinux2014", "--compatibility", "musllinux_1_1"]);
    maturin.arg("--out").arg(folder).current_dir(root());
    maturin.env("CARGO_ZIGBUILD_ZIG_PATH", &builders.zig);
    say(&format!("building for {}", target.triple));
    packages::succeeds(&mut maturin)?;
    let wheel = files(folder, ".whl")?.pop().ok_or("maturin made no wheel")?;
    let program = command::target().join(target.triple).join("release/mle-star");
    Ok(Built { wheel, program, processor: target.processor })
}

impl Built {
    /// Whether pip installs the wheel on systems with either C library.
    ///
    /// # Errors
    /// A tag is missing; in words.
    pub fn has_all_tags(&self) -> Result<(), String> {
        let name = self.wheel.file_name().unwrap_or_default().to_string_lossy();
        let tags = ["manylinux_2_17", "musllinux_1_1"].map(|tag| format!("{tag}_{}", self.processor));
        match tags.iter().find(|tag| !name.contains(tag.as_str())) {
            Some(tag) => Err(format!("{name} lacks the tag {tag}")),
            None => Ok(()),
        }
    }
}

/// Runs the program in a folder that holds nothing but it and a script to check: no C library, no `/proc`, no `/etc`.
///
/// # Errors
/// It does not run; in words.
pub fn runs_alone(program: &Path) -> Result<(), String> {
    let folder = super::folder().join("alone");
    let _ = fs::remove_dir_all(&folder);
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    fs::create_dir_all(folder.join("tmp")).map_err(failed)?;
    fs::copy(program, folder.join("mle-star")).map_err(failed)?;
    fs::write(folder.join("train.py"), "import pandas\n").map_err(failed)?;
    let mut command = Command::new("unshare");
    command.arg("--map-root-user").arg("--root").arg(&folder);
    command.args(["/mle-star", "check", "/train.py"]);
    packages::succeeds(command.stderr(Stdio::inherit()))
}

/// A wheel in an environment of its own.
pub struct Installed {
    program: PathBuf,
    python: PathBuf,
}

impl Installed {
    /// Installs the wheel into an empty environment, without a package registry.
    ///
    /// # Errors
    /// venv or pip fails; in words.
    pub fn from(wheel: &Path) -> Result<Self, String> {
        let environment = super::folder().join("environment");
        let _ = fs::remove_dir_all(&environment);
        packages::succeeds(Command::new("python3").args(["-m", "venv"]).arg(&environment))?;
        let python = environment.join("bin/python");
        let mut pip = Command::new(&python);
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index"]).arg(wheel);
        packages::succeeds(&mut pip)?;
        Ok(Self { program: environment.join("bin/mle-star"), python })
    }

    /// Checks what it prints for `--version`, but for the commit.
    ///
    /// # Errors
    /// It is something else; in words.
    pub fn has_version(&self, version: &str) -> Result<(), String> {
        let output =
            Command::new(&self.program).arg("--version").output().map_err(|error| error.to_string())?;
        let printed = String::from_utf8_lossy(&output.stdout);
        let expected = format!("mle-star {version}");
        if printed.trim().split('+').next() == Some(&*expected) {
            Ok(())
        } else {
            Err(format!("it printed {printed:?}, not {expected:?}"))
        }
    }

    /// Whether Python imports the package, of this version, and it starts the program of its environment.
    ///
    /// # Errors
    /// It does not; in words.
    pub fn has_package(&self, version: &str) -> Result<(), String> {
        let program = format!(
            "import mle_star; assert mle_star.__version__ == {version:?}; assert mle_star.check('import os') == []"
        );
        let mut python = Command::new(&self.python);
        packages::succeeds(python.args(["-c", &program]).env_remove("MLE_STAR_BIN").env("PATH", ""))
    }

    /// Solves the task of `doctor --e2e` with the offline agents.
    ///
    /// # Errors
    /// It does not; in words.
    pub fn solves_a_task(&self) -> Result<(), String> {
        packages::succeeds(Command::new(&self.program).args(["doctor", "--e2e"]).current_dir(super::folder()))
    }
}
