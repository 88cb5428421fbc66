//! What a refusal of the sandbox means, in words for whoever repairs the script.

use super::Isolation;

/// The last line of a traceback that a refusal left, and what it means.
const WRITES: &str = "a script may write only in its own folder (the working directory, with ./final), its HOME, its TMPDIR \
                      and /dev/shm; it may read only ./input, the Python environment and system files";
const NETWORK: &str = "scripts run without any network: use what is installed and what is in ./input";
const LARGE: &str = "the file grew beyond the disk space that the script may use";
const TASKS: &str = "it started more processes and threads than a script may have";

/// What the exception at the end of `traceback` has to do with the isolation; `None`: nothing.
pub(crate) fn explanation(traceback: &str, isolation: &Isolation) -> Option<String> {
    let last = traceback.lines().last()?;
    let has = |signs: &[&str]| signs.iter().any(|sign| last.contains(sign));
    let layers = &isolation.layers;
    let says = if has(&["[Errno 13] Permission denied", "[Errno 30] Read-only file system"]) {
        (layers.landlock > 0 || layers.shared_memory).then_some(WRITES)
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
    } else if has(&["[Errno 11] Resource temporarily unavailable", "can't start new thread"]) {
        Some(TASKS)
    } else {
        None
    };
    says.map(|meaning| format!("refused by the isolation of scripts: {meaning}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::sandbox::Layers;
    use mle_star::config::Switch;

    #[test]
    fn refusals_are_explained_where_they_are_the_isolation() {
        let check = |last: &str, landlock: i32, network: bool, expected: Option<&str>| {
            let layers = Layers { landlock, network, ..Layers::none() };
            let isolation = Isolation {
                layers,
                network: Switch::Off,
                writable: Vec::new(),
                disk_limit_mib: None,
                files_limit: 1,
                processes_limit: 1,
            };
            let found = explanation(&format!("Traceback (most recent call last):\n  x\n{last}"), &isolation);
            assert_eq!(found.is_some(), expected.is_some(), "{last}");
            assert!(expected.is_none_or(|part| found.unwrap().contains(part)), "{last}");
        };
        let denied = "PermissionError: [Errno 13] Permission denied: '/x'";
        let no_network = "OSError: [Errno 101] Network is unreachable";
        check(denied, 6, true, Some("only in its own folder"));
        check(denied, 0, true, None);
        check(no_network, 6, true, Some("without any network"));
        check(no_network, 6, false, None);
        check("OSError: [Errno 27] File too large", 0, false, Some("disk space"));
        check("RuntimeError: can't start new thread", 0, false, Some("threads"));
        check("KeyError: 'x'", 6, true, None);
        check("FileNotFoundError: [Errno 2] No such file or directory: 'x'", 6, true, None);
    }
}
