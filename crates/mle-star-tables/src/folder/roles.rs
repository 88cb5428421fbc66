//! The role of a table, by its name.

/// What a table is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Train,
    Test,
    Sample,
}

/// The role of a table with the usual name; `stem` is the name without its ending.
pub(crate) fn usual(stem: &str) -> Option<Role> {
    match stem.to_lowercase().as_str() {
        "train" => Some(Role::Train),
        "test" => Some(Role::Test),
        "sample_submission" | "samplesubmission" => Some(Role::Sample),
        _ => None,
    }
}

/// Whether a name says that a table shows what to submit: `sample_entry`, `exampleSolution`, `submission_format`.
fn is_example(words: &[&str], letters: &str) -> bool {
    const SHOWS: [&str; 4] = ["sample", "example", "template", "format"];
    const SUBMITTED: [&str; 11] = [
        "submission",
        "submissions",
        "entry",
        "entries",
        "answer",
        "answers",
        "result",
        "results",
        "solution",
        "prediction",
        "predictions",
    ];
    let has = |some: &[&str]| words.iter().any(|word| some.contains(word));
    let is_pair = |one: &str| {
        let rest = letters.strip_prefix(one).or_else(|| letters.strip_suffix(one));
        rest.is_some_and(|rest| SUBMITTED.contains(&rest))
    };
    has(&SHOWS) && has(&SUBMITTED) || SHOWS.into_iter().any(is_pair)
}

/// The role that a table with this name has if no table has the usual name, such as `train_labels`, `labels`, `en_test_2`
/// or `sample_submission_null`. Of several tables, the one with the least rank has the role.
pub(crate) fn likely(stem: &str) -> Option<(Role, usize)> {
    let stem = stem.to_lowercase();
    let words: Vec<&str> = stem.split(|letter: char| !letter.is_alphabetic()).collect();
    let has = |some: &[&str]| words.iter().any(|word| some.contains(word));
    if stem.contains("sample") && stem.contains("submission") {
        return Some((Role::Sample, 0));
    }
    if is_example(&words, &words.concat()) {
        return Some((Role::Sample, 1));
    }
    let labels = has(&["labels", "label"]);
    let letters: String = words.concat();
    match letters.as_str() {
        "trainlabels" | "traininglabels" => return Some((Role::Train, 0)),
        "labels" => return Some((Role::Train, 1)),
        _ => {}
    }
    if has(&["train", "training"]) {
        return Some((Role::Train, 2));
    }
    (has(&["test"]) && !labels).then_some((Role::Test, 0))
}

/// The position of the one table whose name says most that it has this role.
pub(crate) fn most_likely(role: Role, stems: impl Iterator<Item = String>) -> Option<usize> {
    let rank = |stem: String| likely(&stem).filter(|(likely, _)| *likely == role).map(|(_, rank)| rank);
    let ranks: Vec<Option<usize>> = stems.map(rank).collect();
    let best = ranks.iter().flatten().min()?;
    let mut found = ranks.iter().enumerate().filter(|(_, rank)| *rank == &Some(*best));
    found.next().filter(|_| found.next().is_none()).map(|(at, _)| at)
}
