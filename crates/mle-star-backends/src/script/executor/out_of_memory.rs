//! Recognizes scripts that failed because memory ran out, on the machine or on a GPU.

use mle_star_domain::effects::{OutOfMemory, ScriptEnd, ScriptOutcome};
use mle_star_process::memory::KernelKills;

/// Error messages of libraries when a GPU runs out of memory.
const GPU_ERRORS: [&str; 6] = [
    "CUDA out of memory",
    "cudaErrorMemoryAllocation",
    "CUDA_ERROR_OUT_OF_MEMORY",
    "CUBLAS_STATUS_ALLOC_FAILED",
    "torch.OutOfMemoryError",
    "cuda.OutOfMemoryError",
];
/// Error messages of Python and its libraries when an allocation fails.
const ALLOCATION_ERRORS: [&str; 6] = [
    "MemoryError",
    "std::bad_alloc",
    "bad allocation",
    "Cannot allocate memory",
    "can't allocate memory",
    "OOM when allocating",
];
/// Error messages of libraries when one of their processes was killed.
const WORKER_ERRORS: [&str; 4] =
    ["TerminatedWorkerError", "BrokenProcessPool", "killed by signal: Killed", "killed by signal 9"];
const SIGKILL: i32 = 9;

/// How the script ran out of memory; `None` if it did not fail, or for another reason. `kills` is what the
/// kernel had killed before the script began. What the outcome already says is kept.
pub(super) fn out_of_memory(outcome: &ScriptOutcome, kills: &KernelKills) -> Option<OutOfMemory> {
    if outcome.out_of_memory.is_some() || !outcome.is_error() {
        return outcome.out_of_memory;
    }
    cause(outcome, || kills.any_since())
}

fn cause(outcome: &ScriptOutcome, kernel_killed: impl FnOnce() -> bool) -> Option<OutOfMemory> {
    let message = last_error(outcome);
    let any = |signs: &[&str]| signs.iter().any(|sign| message.contains(sign));
    match outcome.end {
        ScriptEnd::Signalled { signal: SIGKILL } => kernel_killed().then_some(OutOfMemory::Machine),
        ScriptEnd::TimedOut | ScriptEnd::Answered | ScriptEnd::Refused { .. } => None,
        _ if any(&GPU_ERRORS) => Some(OutOfMemory::Gpu),
        _ if any(&ALLOCATION_ERRORS) => Some(OutOfMemory::Allocation),
        _ if any(&WORKER_ERRORS) && kernel_killed() => Some(OutOfMemory::Machine),
        _ => None,
    }
}

/// The exception with its whole message and the output after it; all of stderr if there was no exception.
pub(super) fn last_error(outcome: &ScriptOutcome) -> String {
    let printed = outcome.stderr.text();
    let Some(exception) = outcome.traceback.as_deref().map(exception) else { return printed };
    let from = printed.rfind(exception);
    from.map_or_else(|| exception.to_owned(), |from| printed[from..].to_owned())
}

/// The traceback from the exception's own line on, without the frames, whose source lines may also mention memory.
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

#[cfg(test)]
mod tests {
    use mle_star_domain::effects::Captured;

    use super::*;

    #[test]
    fn out_of_memory_is_recognized_by_the_error() {
        use OutOfMemory::{Allocation, Gpu, Machine};
        let check = |end, traceback: Option<&str>, stderr: &str, killed, expected| {
            let start =
                "Traceback (most recent call last):\n  File \"solution.py\", line 1\n    raise MemoryError";
            let traceback = traceback.map(|line| format!("{start}\n{line}"));
            let stderr = Captured::whole(stderr);
            let outcome = ScriptOutcome { stderr, traceback, ..ScriptOutcome::of(end) };
            assert_eq!(cause(&outcome, || killed), expected, "{outcome:?}");
        };
        let (signalled, exited) = (|signal| ScriptEnd::Signalled { signal }, ScriptEnd::Exited { code: 1 });
        check(signalled(9), None, "", true, Some(Machine));
        check(signalled(9), None, "", false, None);
        check(signalled(6), None, "terminate called after 'std::bad_alloc'", false, Some(Allocation));
        let worker = Some("joblib.externals.loky.process_executor.TerminatedWorkerError: A worker");
        check(exited.clone(), worker, "", true, Some(Machine));
        check(exited.clone(), worker, "", false, None);
        // A message of several lines. The kept traceback ends with the first.
        let (kept, printed) = ("XGBoostError:", "XGBoostError:\nallocation: cudaErrorMemoryAllocation\n");
        check(exited.clone(), Some(kept), printed, false, Some(Gpu));
        check(exited, Some("KeyError: 'x'"), "MemoryError, ignored\nKeyError: 'x'\n", true, None);
    }
}
