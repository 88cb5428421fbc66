//! Did a script fail because there was no memory left? The signs of it, on the machine and on a GPU.

use std::fs;

use mle_star::effects::{OutOfMemory, ScriptEnd, ScriptOutcome};

/// What libraries say when a GPU has no memory left.
const OF_GPUS: [&str; 6] = [
    "CUDA out of memory",
    "cudaErrorMemoryAllocation",
    "CUDA_ERROR_OUT_OF_MEMORY",
    "CUBLAS_STATUS_ALLOC_FAILED",
    "torch.OutOfMemoryError",
    "cuda.OutOfMemoryError",
];
/// What Python and its libraries say when an allocation fails.
const OF_ALLOCATIONS: [&str; 6] = [
    "MemoryError",
    "std::bad_alloc",
    "bad allocation",
    "Cannot allocate memory",
    "can't allocate memory",
    "OOM when allocating",
];
/// What they say when one of their processes was killed.
const OF_WORKERS: [&str; 4] =
    ["TerminatedWorkerError", "BrokenProcessPool", "killed by signal: Killed", "killed by signal 9"];
const SIGKILL: i32 = 9;

/// How many processes of this machine the kernel had killed for want of memory at one moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct KernelKills(Option<u64>);

impl KernelKills {
    /// As of now.
    pub(super) fn so_far() -> Self {
        Self(fs::read_to_string("/proc/vmstat").ok().and_then(|text| oom_kills(&text)))
    }

    /// Were there any since? No kernel that does not count them is believed to have killed.
    fn any_since(self) -> bool {
        self.0.zip(Self::so_far().0).is_some_and(|(before, now)| now > before)
    }
}

/// How the script ran out of memory; `None` when it did not fail, or for another reason. `kills` are those before
/// it began. What is known already stands.
pub(super) fn out_of_memory(outcome: &ScriptOutcome, kills: &KernelKills) -> Option<OutOfMemory> {
    if outcome.out_of_memory.is_some() || !outcome.is_error() {
        return outcome.out_of_memory;
    }
    signs(outcome, || kills.any_since())
}

fn signs(outcome: &ScriptOutcome, kernel_killed: impl FnOnce() -> bool) -> Option<OutOfMemory> {
    let said = last_words(outcome);
    let any = |signs: &[&str]| signs.iter().any(|sign| said.contains(sign));
    match outcome.end {
        ScriptEnd::Signalled { signal: SIGKILL } => kernel_killed().then_some(OutOfMemory::Machine),
        ScriptEnd::TimedOut | ScriptEnd::Refused { .. } => None,
        _ if any(&OF_GPUS) => Some(OutOfMemory::Gpu),
        _ if any(&OF_ALLOCATIONS) => Some(OutOfMemory::Allocation),
        _ if any(&OF_WORKERS) && kernel_killed() => Some(OutOfMemory::Machine),
        _ => None,
    }
}

/// The exception with the whole of its message and what came after it; all of stderr when there was no exception.
pub(super) fn last_words(outcome: &ScriptOutcome) -> String {
    let printed = outcome.stderr.text();
    let Some(exception) = outcome.traceback.as_deref().map(exception) else { return printed };
    let from = printed.rfind(exception);
    from.map_or_else(|| exception.to_owned(), |from| printed[from..].to_owned())
}

/// The exception's own line, without the frames: their source lines may speak of memory, too.
fn exception(traceback: &str) -> &str {
    let mut rest = traceback;
    while let Some((_, after)) = rest.split_once('\n') {
        if !after.starts_with([' ', '\t', '\n']) && !after.is_empty() {
            return after;
        }
        rest = after;
    }
    rest
}

fn oom_kills(vmstat: &str) -> Option<u64> {
    vmstat.lines().find_map(|line| line.strip_prefix("oom_kill ")?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use mle_star::effects::Captured;

    use super::*;

    const EXITED: ScriptEnd = ScriptEnd::Exited { code: 1 };

    fn check(
        end: ScriptEnd,
        traceback: Option<&str>,
        stderr: &str,
        killed: bool,
        expected: Option<OutOfMemory>,
    ) {
        let outcome = ScriptOutcome {
            end,
            duration_seconds: 1.0,
            stdout: Captured::default(),
            stderr: Captured::whole(stderr),
            score: None,
            traceback: traceback.map(|line| {
                format!("Traceback (most recent call last):\n  File \"solution.py\", line 1\n    raise MemoryError\n{line}")
            }),
            submission: None,
            notes: Vec::new(),
            out_of_memory: None,
        };
        assert_eq!(signs(&outcome, || killed), expected, "{outcome:?}");
    }

    #[test]
    fn memory_is_recognised_by_what_failed() {
        use OutOfMemory::{Allocation, Gpu, Machine};
        let signalled = |signal| ScriptEnd::Signalled { signal };
        check(signalled(9), None, "", true, Some(Machine));
        check(signalled(9), None, "", false, None);
        check(signalled(11), None, "", true, None);
        check(signalled(6), None, "terminate called after 'std::bad_alloc'", false, Some(Allocation));
        check(ScriptEnd::TimedOut, Some("MemoryError"), "", true, None);
        let raised = |exception: &str, killed, expected| check(EXITED, Some(exception), "", killed, expected);
        raised("MemoryError", false, Some(Allocation));
        raised(
            "numpy._core._exceptions._ArrayMemoryError: Unable to allocate 8 GiB",
            false,
            Some(Allocation),
        );
        raised("RuntimeError: DefaultCPUAllocator: can't allocate memory", false, Some(Allocation));
        raised("OSError: [Errno 12] Cannot allocate memory", false, Some(Allocation));
        raised("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB", false, Some(Gpu));
        let worker = "joblib.externals.loky.process_executor.TerminatedWorkerError: A worker";
        raised(worker, true, Some(Machine));
        raised(worker, false, None);
        raised("KeyError: 'x'", true, None);
        // A message of several lines; the traceback that is kept ends with the first.
        let (kept, printed) = ("XGBoostError:", "XGBoostError:\nallocation: cudaErrorMemoryAllocation\n");
        check(EXITED, Some(kept), printed, false, Some(Gpu));
        check(EXITED, Some("KeyError: 'x'"), "MemoryError, ignored\nKeyError: 'x'\n", true, None);
    }

    #[test]
    fn the_kernel_counts_what_it_kills() {
        assert_eq!(oom_kills("nr_free_pages 1\noom_kill 3\noom_kill_x 9\n"), Some(3));
        assert_eq!(oom_kills("nr_free_pages 1\n"), None);
        assert!(!KernelKills(None).any_since());
    }
}
