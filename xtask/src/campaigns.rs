//! Campaigns: tests of minutes. They run only if the files that they test have changed since they last passed, or on
//! demand. `xtask/proven.txt` holds a digest of those files from the last time, in one line for each campaign.

use std::fs;
use std::path::Path;

use sha2::{Digest as _, Sha256};

use crate::command::{root, say};

/// A campaign, and the files that it tests.
type Campaign = (&'static str, &'static [&'static str]);

/// All campaigns.
pub const CAMPAIGNS: [Campaign; 6] = [
    (
        KERNEL,
        &[
            "crates/mle-star-process/src",
            "crates/mle-star-process/python",
            "crates/mle-star-backends/src/backend.rs",
            "crates/mle-star-backends/src/script/executor.rs",
            "crates/mle-star-backends/tests/it/scripts/cgroups.rs",
            "crates/mle-star-backends/tests/it/scripts/world.rs",
            "xtask/kernel/init.sh",
            "xtask/kernel/job.sh",
        ],
    ),
    (FAULTS, &["crates/mle-star-process/src", "crates/mle-star-backends/src"]),
    (
        "isolation",
        &["crates/mle-star-process/python", "crates/mle-star-process/src", "crates/mle-star-backends/src"],
    ),
    ("killed", &["crates/mle-star/src", "crates/mle-star-process/src"]),
    ("libraries", &["crates/mle-star-process/python", "crates/mle-star-backends/src"]),
    ("offline", &["crates/mle-star-offline/src", "crates/mle-star-offline/tests"]),
];
/// Control groups in a virtual machine.
pub const KERNEL: &str = "kernel";
/// The fault campaign.
pub const FAULTS: &str = "faults";
/// Why a campaign is not run.
pub const PROVEN: &str = "its files have not changed since it last passed; --campaigns runs it";

const FILE: &str = "xtask/proven.txt";

/// Has it passed with exactly these files?
pub fn is_proven(name: &str) -> bool {
    let root = root();
    let text = fs::read_to_string(root.join(FILE)).unwrap_or_default();
    let campaign = CAMPAIGNS.iter().find(|(known, _)| *known == name);
    campaign.is_some_and(|(name, files)| {
        let line = format!("{name} {}", digest(&root, files));
        text.lines().any(|proven| proven == line)
    })
}

/// Records that a campaign has passed. `false`: that cannot be written.
pub fn record(names: &[&str]) -> bool {
    let root = root();
    let before = fs::read_to_string(root.join(FILE)).unwrap_or_default();
    let lines = CAMPAIGNS.iter().filter_map(|(name, files)| {
        let head = format!("{name} ");
        let known = || before.lines().find(|line| line.starts_with(&head)).map(str::to_owned);
        let passed = names.contains(name).then(|| format!("{head}{}", digest(&root, files)));
        passed.or_else(known).map(|line| line + "\n")
    });
    let text: String = lines.collect();
    text == before
        || fs::write(root.join(FILE), text).map_err(|error| say(&format!("{FILE}: {error}"))).is_ok()
}

/// Files of campaigns that are not there: then a change could go unnoticed.
pub fn findings(root: &Path) -> Vec<String> {
    let files = CAMPAIGNS.iter().flat_map(|(_, files)| *files);
    let missing = files.filter(|path| !root.join(path).exists());
    missing.map(|path| format!("xtask/src/campaigns.rs: there is no {path}")).collect()
}

/// One digest of the names and contents of files.
fn digest(root: &Path, files: &[&str]) -> String {
    let mut digest = Sha256::new();
    for file in files.iter().flat_map(|path| crate::files::files(&root.join(path), "")) {
        let content = fs::read(&file).unwrap_or_default();
        let name = file.strip_prefix(root).unwrap_or(&file).display();
        digest.update(format!("{name} {}\n", content.len()));
        digest.update(content);
    }
    digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_any_tested_file_changes_the_digest() {
        let dir = tempfile::tempdir().unwrap();
        let (_, files) = CAMPAIGNS[0];
        let write = |name: &str, text: &str| {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
            digest(dir.path(), files)
        };
        let first = write(&format!("{}/a.rs", files[0]), "a");
        let second = write(&format!("{}/deep/b.rs", files[1]), "b");
        let third = write(&format!("{}/deep/b.rs", files[1]), "c");
        assert!(first != second && second != third && first.len() == 64);
        assert_eq!(write("crates/mle-star/src/lib.rs", "x"), third);
        assert_eq!(write(&format!("{}/deep/b.rs", files[1]), "b"), second);
        fs::remove_file(dir.path().join(files[1]).join("deep/b.rs")).unwrap();
        assert_eq!(digest(dir.path(), files), first);
        assert!(findings(dir.path()).iter().all(|finding| finding.contains("there is no")));
    }
}
