//! Tests on a kernel of their own: Debian's, in a virtual machine that sees this system's files read-only.
//!
//! Limits by control groups need a group that was delegated, which hardly any machine that builds has. In the virtual
//! machine there are groups of every kind (`xtask/kernel/job.sh`). The processor is emulated: nothing there is fast, and
//! no device of the host is needed. QEMU and BusyBox come from the system, the kernel from Debian's package.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::command::{cargo, root, say, watched};
use crate::packages::succeeds;

/// Debian's package that depends on its newest kernel.
const PACKAGE: &str = "linux-image-amd64";
/// Where in a kernel's modules those lie that bring the host's files.
const MODULES: [&str; 8] = [
    "drivers/virtio",
    "drivers/block/virtio_blk.ko",
    "fs/9p",
    "fs/fscache",
    "fs/netfs",
    "fs/overlayfs",
    "lib",
    "net/9p",
];
/// What is done in the virtual machine.
const JOB: &str = include_str!("../kernel/job.sh");
/// Seconds that all of it may take.
const LIMIT: &str = "900";

/// Why this system cannot: the kernel is a package of Debian's for one kind of processor.
pub fn not_here() -> Option<&'static str> {
    let has_packages = || Command::new("apt-cache").arg("--version").output().is_ok();
    (std::env::consts::ARCH != "x86_64" || !has_packages()).then_some("only on Debian and x86_64")
}

/// Boots the kernel and runs the tests; how many scenarios passed and failed.
///
/// # Errors
/// Something is missing, or cannot be started; in words.
pub fn run() -> Result<(usize, usize), String> {
    let folder = root().join("target/kernel");
    fs::create_dir_all(folder.join("job")).map_err(|error| broken(&folder, &error))?;
    let kernel = kernel(&folder)?;
    let initial = initial_files(&folder, &kernel)?;
    copy(&tests()?, &folder.join("job/tests"))?;
    write(&folder.join("job/job.sh"), JOB)?;
    let (_, said) = watched(machine(&kernel, &initial, &folder.join("job"))).map_err(|error| {
        format!("qemu-system-x86_64: {error} (Debian: apt-get install qemu-system-x86 busybox-static)")
    })?;
    // Those that were not come to have failed.
    let all = JOB.lines().filter(|line| line.starts_with("scenario \"")).count();
    let is_ok = |line: &&str| line.starts_with("scenario ") && line.trim_end().ends_with(": ok");
    let passed = said.lines().filter(is_ok).count();
    Ok((passed, all.saturating_sub(passed)))
}

/// What a Debian package unpacked, below `folder`: the newest kernel.
fn kernel(folder: &Path) -> Result<PathBuf, String> {
    let output = Command::new("apt-cache").args(["depends", "--important", PACKAGE]).output();
    let output = output.map_err(|error| format!("apt-cache: {error}; the kernel is Debian's"))?;
    let listed = String::from_utf8_lossy(&output.stdout).into_owned();
    let names = listed.lines().filter_map(|line| line.trim().strip_prefix("Depends: "));
    let package = names.into_iter().find(|name| name.starts_with("linux-image-"));
    let package = package.ok_or_else(|| format!("Debian's package {PACKAGE} is not known here"))?;
    let unpacked = folder.join(package);
    if unpacked.join("boot").is_dir() {
        return Ok(unpacked);
    }
    say(&format!("fetching {package}"));
    let part = folder.join("part");
    let _ = fs::remove_dir_all(&part);
    fs::create_dir_all(&part).map_err(|error| broken(&part, &error))?;
    succeeds(Command::new("apt-get").args(["download", "--quiet", package]).current_dir(&part))?;
    let archive = only_entry(&part, ".deb")?;
    succeeds(Command::new("dpkg-deb").arg("-x").arg(&archive).arg(part.join("kernel")))?;
    fs::rename(part.join("kernel"), &unpacked).map_err(|error| broken(&unpacked, &error))?;
    Ok(unpacked)
}

/// The archive of what the kernel finds when it starts: BusyBox, some modules, the first process.
fn initial_files(folder: &Path, kernel: &Path) -> Result<PathBuf, String> {
    let (tree, archive) = (folder.join("initial"), folder.join("initial.cpio"));
    let _ = fs::remove_dir_all(&tree);
    let modules = only_entry(&kernel.join("lib/modules"), "")?;
    let version = modules.file_name().unwrap_or_default();
    let target = tree.join("lib/modules").join(version).join("kernel");
    for name in MODULES {
        let from = modules.join("kernel").join(name);
        if from.exists() {
            let to = target.join(name);
            let above = to.parent().unwrap_or(&target);
            fs::create_dir_all(above).map_err(|error| broken(above, &error))?;
            succeeds(Command::new("cp").arg("-r").arg(&from).arg(above))?;
        }
    }
    fs::create_dir_all(tree.join("bin")).map_err(|error| broken(&tree, &error))?;
    succeeds(
        Command::new("sh").args(["-c", "cp \"$(command -v busybox)\" \"$0\""]).arg(tree.join("bin/busybox")),
    )
    .map_err(|_| "busybox is not installed (Debian: apt-get install busybox-static)".to_owned())?;
    write(&tree.join("init"), include_str!("../kernel/init.sh"))?;
    succeeds(Command::new("chmod").arg("755").arg(tree.join("init")))?;
    let pack = "find . | busybox cpio -o -H newc > ../initial.cpio";
    succeeds(Command::new("sh").args(["-c", pack]).current_dir(&tree).stderr(Stdio::null()))?;
    Ok(archive)
}

/// The test program of the backends, built.
fn tests() -> Result<PathBuf, String> {
    let mut command = cargo("test --package mle-star-backends --test it --no-run --message-format json");
    let output = command.stderr(Stdio::inherit()).output().map_err(|error| format!("cargo: {error}"))?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let messages = said.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let mut programs = messages.filter_map(|message| message.get("executable")?.as_str().map(PathBuf::from));
    programs.next_back().ok_or_else(|| "the tests cannot be built".to_owned())
}

fn machine(kernel: &Path, initial: &Path, job: &Path) -> Command {
    let share = |tag: &str, path: &Path| {
        let path = path.display();
        format!("local,path={path},mount_tag={tag},security_model=none,readonly=on,multidevs=remap")
    };
    let image = only_entry(&kernel.join("boot"), "vmlinuz").unwrap_or_default();
    let mut command = Command::new("timeout");
    command.args([
        LIMIT,
        "qemu-system-x86_64",
        "-machine",
        "q35",
        "-accel",
        "tcg,thread=multi",
        "-cpu",
        "max",
    ]);
    command.args([
        "-smp",
        "2",
        "-m",
        "3072",
        "-display",
        "none",
        "-no-reboot",
        "-serial",
        "stdio",
        "-nic",
        "none",
    ]);
    command.arg("-kernel").arg(image).arg("-initrd").arg(initial);
    command.args(["-append", "console=ttyS0 quiet panic=-1"]);
    command.arg("-virtfs").arg(share("host", Path::new("/"))).arg("-virtfs").arg(share("job", job));
    command.stdin(Stdio::null());
    command
}

/// The entry of `folder` whose name has `part` in it.
fn only_entry(folder: &Path, part: &str) -> Result<PathBuf, String> {
    let entries = fs::read_dir(folder).map_err(|error| broken(folder, &error))?;
    let mut names = entries.flatten().map(|entry| entry.path());
    let found = names.find(|path| path.file_name().is_some_and(|name| name.to_string_lossy().contains(part)));
    found.ok_or_else(|| format!("{}: nothing there", folder.display()))
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    fs::copy(from, to).map(drop).map_err(|error| broken(to, &error))
}

fn write(to: &Path, text: &str) -> Result<(), String> {
    fs::write(to, text).map_err(|error| broken(to, &error))
}

fn broken(path: &Path, error: &io::Error) -> String {
    format!("{}: {error}", path.display())
}
