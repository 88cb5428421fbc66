//! What a refusal of the sandbox means, in words for whoever repairs the script.

use std::path::Path;

use nix::libc;

use super::Isolation;

/// What a refusal by the rules for files means.
const WRITES: &str = "a script may write only in its own folder (the working directory, with ./final), its HOME, its TMPDIR \
                      and /dev/shm; it may read only ./input, the Python environment and system files";
const NETWORK: &str = "scripts run without any network: use what is installed and what is in ./input";
const LARGE: &str = "the file grew beyond the disk space that the script may use";
const OPEN: &str = "it had more files open at once than a script may have";
const TASKS: &str = "it started more processes and threads than a script may have";

/// What the exception at the end of `traceback` has to do with the isolation; `None`: nothing. `is_hidden` knows
/// which files are there for others, but not for the script.
pub(super) fn explanation(
    traceback: &str,
    isolation: &Isolation,
    is_hidden: impl Fn(&Path) -> bool,
) -> Option<String> {
    let last = traceback.lines().last()?;
    let has = |signs: &[&str]| signs.iter().any(|sign| last.contains(sign));
    let layers = &isolation.layers;
    // A refused connection has the error of a refused file, but no file.
    let is_connection = || traceback.contains("connect") && !last.contains("Permission denied: ");
    let says = if isolation.closes_only_tcp() && has(&["[Errno 13] Permission denied"]) && is_connection() {
        Some(NETWORK)
    } else if has(&["[Errno 13] Permission denied", "[Errno 30] Read-only file system"]) {
        (layers.landlock > 0 || layers.shared_memory).then_some(WRITES)
    } else if let Some((_, file)) = last.split_once("[Errno 2] No such file or directory: '") {
        (layers.shared_memory && is_hidden(Path::new(file.trim_end_matches('\'')))).then_some(WRITES)
    } else if has(&[
        "Network is unreachable",
        "Temporary failure in name resolution",
        "Name or service not known",
        "NewConnectionError",
        "NameResolutionError",
    ]) || has(&["Errno 111"]) && isolation.closes_network()
    {
        isolation.closes_network().then_some(NETWORK)
    } else if has(&["[Errno 27] File too large"]) {
        Some(LARGE)
    } else if has(&["[Errno 24] Too many open files"]) {
        Some(OPEN)
    } else {
        has(&["[Errno 11] Resource temporarily unavailable", "can't start new thread"]).then_some(TASKS)
    };
    says.map(refused)
}

/// What the signal that ended a script has to do with the isolation; `None`: nothing.
pub(super) fn explanation_of_signal(signal: i32) -> Option<String> {
    (signal == libc::SIGXFSZ).then(|| refused(LARGE))
}

fn refused(meaning: &str) -> String {
    format!("refused by the isolation of scripts: {meaning}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::sandbox::Layers;
    use mle_star::config::Switch;

    #[test]
    fn refusals_are_explained_where_they_are_the_isolation() {
        let check = |last: &str, landlock: i32, network: bool, expected: Option<&str>| {
            let layers = Layers { landlock, network, shared_memory: network, ..Layers::none() };
            let isolation = Isolation {
                layers,
                network: Switch::Off,
                writable: Vec::new(),
                disk_limit_mib: None,
                files_limit: 1,
                processes_limit: 1,
            };
            let traceback = format!("Traceback (most recent call last):\n  x\n{last}");
            let found = explanation(&traceback, &isolation, |file| file == Path::new("/home/u/x.csv"));
            assert_eq!(found.is_some(), expected.is_some(), "{last}");
            assert!(expected.is_none_or(|part| found.unwrap().contains(part)), "{last}");
        };
        let denied = "PermissionError: [Errno 13] Permission denied: '/x'";
        let no_network = "OSError: [Errno 101] Network is unreachable";
        check(denied, 6, true, Some("only in its own folder"));
        check(denied, 0, false, None);
        let refused = "  File \"x.py\", line 5, in f\n    sock.connect(sa)\nPermissionError: [Errno 13] Permission denied";
        check(refused, 6, false, Some("without any network"));
        check(refused, 6, true, Some("only in its own folder"));
        check(refused, 3, false, Some("only in its own folder"));
        check(&format!("    connect()\n{denied}"), 6, false, Some("only in its own folder"));
        check("PermissionError: [Errno 13] Permission denied", 6, false, Some("only in its own folder"));
        check(no_network, 6, true, Some("without any network"));
        check(no_network, 6, false, None);
        check("OSError: [Errno 27] File too large", 0, false, Some("disk space"));
        check("OSError: [Errno 24] Too many open files: 'x'", 0, false, Some("files open"));
        check("RuntimeError: can't start new thread", 0, false, Some("threads"));
        check("KeyError: 'x'", 6, true, None);
        let missing =
            |file: &str| format!("FileNotFoundError: [Errno 2] No such file or directory: '{file}'");
        check(&missing("x"), 6, true, None);
        check(&missing("/home/u/x.csv"), 6, true, Some("may read only ./input"));
        check(&missing("/home/u/x.csv"), 6, false, None);
    }
}
