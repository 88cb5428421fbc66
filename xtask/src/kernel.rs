//! The tests of control groups, on a kernel of their own: Debian's, in a virtual machine that sees this system's files
//! read-only.
//!
//! Limits by control groups need a delegated group, which hardly any build machine has. The virtual machine has groups
//! of every kind (`xtask/kernel/job.sh`). Its processor is emulated: nothing there is fast, and it needs no device of
//! the host. QEMU and BusyBox come from the system, the kernel from Debian's package.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::command::{on_path, root, say, watched};
use crate::packages::succeeds;
use crate::programs::Programs;

/// Debian's package that depends on its newest kernel.
const PACKAGE: &str = "linux-image-amd64";
/// The kernel modules that mount the host's files, with their dependencies.
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
/// What the virtual machine does.
const JOB: &str = include_str!("../kernel/job.sh");
/// A test that it runs, to find the program that has them all.
const TEST: &str = "where_nothing_is_delegated_it_is_said";
/// Seconds that all of it may take.
const LIMIT: &str = "900";

/// Why this system cannot run it: the kernel is a Debian package for one architecture.
pub fn not_here() -> Option<String> {
    if std::env::consts::ARCH != "x86_64" || on_path(&["apt-cache"]).is_none() {
        return Some("only on Debian and x86_64".to_owned());
    }
    let program = ["qemu-system-x86_64", "busybox"].into_iter().find(|name| on_path(&[name]).is_none())?;
    Some(format!("{program} is not installed (Debian: apt-get install qemu-system-x86 busybox-static)"))
}

/// Builds the tests and runs it.
pub fn alone() -> bool {
    Programs::build().is_ok_and(|programs| passes(&programs))
}

/// Do all scenarios pass?
pub fn passes(programs: &Programs) -> bool {
    say("--- virtual machine");
    match run(programs) {
        Ok((passed, failed)) => {
            say(&format!("{passed} scenarios passed, {failed} failed"));
            failed == 0 && passed > 0
        }
        Err(why) => {
            say(&why);
            false
        }
    }
}

/// Boots the kernel and runs the tests; how many scenarios passed and failed.
fn run(programs: &Programs) -> Result<(usize, usize), String> {
    let folder = root().join("target/kernel");
    fs::create_dir_all(folder.join("job")).map_err(|error| broken(&folder, &error))?;
    let kernel = kernel(&folder)?;
    let initial = initial_files(&folder, &kernel)?;
    copy(programs.with_test(TEST)?, &folder.join("job/tests"))?;
    write(&folder.join("job/job.sh"), JOB)?;
    let (_, said) = watched(machine(&kernel, &initial, &folder.join("job"))).map_err(|error| {
        format!("qemu-system-x86_64: {error} (Debian: apt-get install qemu-system-x86 busybox-static)")
    })?;
    // A scenario that was not reached has failed.
    let all = JOB.lines().filter(|line| line.starts_with("scenario \"")).count();
    let is_ok = |line: &&str| line.starts_with("scenario ") && line.trim_end().ends_with(": ok");
    let passed = said.lines().filter(is_ok).count();
    Ok((passed, all.saturating_sub(passed)))
}

/// The newest kernel of Debian, unpacked below `folder`.
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

/// The initial file system: BusyBox, some modules, the first process.
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

/// The entry of `folder` whose name contains `part`.
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
