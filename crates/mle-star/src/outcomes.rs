//! Outcomes of scripts: the facts that agents get about them, and several runs of one script as one outcome.

use mle_star_domain::effects::{OutOfMemory, ScriptEnd, ScriptOutcome};

/// The facts about the run of a script that agents get.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RunFacts {
    /// Wall-clock seconds.
    pub seconds: f64,
    /// The most memory that it used, in MiB.
    pub peak_memory_mib: Option<u64>,
    /// The last lines of its standard output.
    pub printed: String,
    /// Whether another script ran on the same machine meanwhile.
    pub beside: bool,
}

impl From<&ScriptOutcome> for RunFacts {
    fn from(outcome: &ScriptOutcome) -> Self {
        Self {
            seconds: outcome.duration_seconds,
            peak_memory_mib: outcome.peak_memory_mib,
            printed: last_lines(&outcome.stdout.text()),
            beside: outcome.beside,
        }
    }
}

/// Adds the runners that ran the script before and were lost, with a note for each.
pub(crate) fn after_losses(mut last: ScriptOutcome, lost: Vec<ScriptOutcome>) -> ScriptOutcome {
    let notes =
        lost.iter().filter_map(ScriptOutcome::loss).map(|loss| format!("run again elsewhere: {loss}"));
    last.notes.splice(0..0, notes);
    last.lost_runners = lost.into_iter().filter_map(|outcome| outcome.runner).collect();
    last
}

/// Adds a note: the script ran a second time, alone, because it ran out of memory the first time.
pub(crate) fn after_out_of_memory(second: ScriptOutcome, first: ScriptOutcome) -> ScriptOutcome {
    let how = first.out_of_memory.map_or("", OutOfMemory::words);
    let why_not = match &second.end {
        ScriptEnd::Refused { limit } => Some(limit.name()),
        ScriptEnd::Lost { reason } => Some(reason.as_str()),
        _ => None,
    };
    if let Some(why) = why_not {
        let note = format!("not run once more, alone: {why}");
        let lost = second.runner.clone().filter(|_| second.loss().is_some());
        return ScriptOutcome {
            notes: first.notes.into_iter().chain(second.notes).chain([note]).collect(),
            lost_runners: first.lost_runners.into_iter().chain(second.lost_runners).chain(lost).collect(),
            ..first
        };
    }
    let note = format!("run once more, alone: the first time it ran out of memory, {how}");
    ScriptOutcome {
        duration_seconds: first.duration_seconds + second.duration_seconds,
        notes: [note].into_iter().chain(second.notes).collect(),
        lost_runners: first.lost_runners.into_iter().chain(second.lost_runners).collect(),
        ..second
    }
}

/// The last lines of a script's output, as far as they tell an agent something.
fn last_lines(output: &str) -> String {
    /// In lines.
    const MAX_LINES: usize = 15;
    /// In characters.
    const MAX_CHARS: usize = 400;
    let cut = |line: &str| match line.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    };
    // A progress bar writes its states into one line.
    let lines = output.lines().map(|line| line.rsplit('\r').next().unwrap_or_default().trim_end());
    let mut lines: Vec<String> = lines.filter(|line| !line.is_empty()).map(cut).collect();
    lines.drain(..lines.len().saturating_sub(MAX_LINES));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_leave_out_empty_ones_and_earlier_states_of_a_bar() {
        let check = |output: &str, expected: &str| assert_eq!(last_lines(output), expected, "{output:?}");
        check("", "");
        check("fold 1\n\n 10%\r 90%\r100% done\r\nfold 2  \n", "fold 1\n100% done\nfold 2");
        let many: Vec<String> = (0..100).map(|line| line.to_string()).collect();
        check(&many.join("\n"), &many[85..].join("\n"));
        assert_eq!(last_lines(&"ä".repeat(500)), "ä".repeat(400) + "…");
    }
}
