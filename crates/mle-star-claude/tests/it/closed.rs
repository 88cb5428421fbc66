//! Tests in a process of their own that has no network but its own loopback.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use tokio::runtime::Runtime;

/// Names the file that a test in its closed network leaves when it has passed.
const PASSED: &str = "MLE_STAR_TEST_PASSED";
/// Brings the loopback up, then becomes the command.
const ENTER: &str = r#"
python3 -c '
import fcntl, socket, struct
flags = struct.pack("16sh", b"lo", 0x49)
fcntl.ioctl(socket.socket(), 0x8914, flags)
' && exec "$0" "$@""#;

/// The real `claude`. `cargo xtask verify` installs it, and leaves its tests out where it cannot.
pub fn real_claude() -> PathBuf {
    env::var_os("MLE_STAR_TEST_CLAUDE").expect("MLE_STAR_TEST_CLAUDE names the real claude").into()
}

/// Runs a test again by its full name, with nothing to reach but what it serves itself on loopback.
pub fn in_closed_network(name: &str, test: impl Future<Output = ()>) {
    if let Some(passed) = env::var_os(PASSED) {
        Runtime::new().unwrap().block_on(test);
        fs::write(passed, "").unwrap();
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let passed = folder.path().join("passed");
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", "--net", "sh", "-c", ENTER]).arg(env::current_exe().unwrap());
    command.args(["--exact", name, "--include-ignored", "--nocapture"]).env(PASSED, &passed);
    let output = command.output().unwrap();
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    // Without the file, no test of this name was run.
    let has_passed = output.status.success() && passed.exists();
    assert!(has_passed, "{name}: {}\n{}", said(&output.stdout), said(&output.stderr));
}
