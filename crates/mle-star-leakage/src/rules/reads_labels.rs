//! The script reads a file of held-out labels.

use std::rc::Rc;

use crate::report::{Cause, Report};
use crate::site::Site;

pub(super) fn find(report: &Report<'_>) -> Vec<Cause> {
    let seen = &report.machine.seen;
    // With a file of questions, a file of answers is data, not labels.
    let asks = seen.reads.iter().any(|(_, path)| path.to_lowercase().contains("question"));
    let answers = |path: &str| asks && path.to_lowercase().ends_with("answers.csv");
    let secret = |path| !answers(path) && is_of_labels(path) && !seen.writes.iter().any(|own| **own == *path);
    let cause = |(site, path): &(Site, Rc<str>)| {
        let line = report.line(*site);
        (*site, format!("line {line} reads `{path}`, by its name a file of labels that are kept back"))
    };
    seen.reads.iter().filter(|(_, path)| secret(path)).map(cause).collect()
}

/// Whether the name of a file says that it holds labels which no script may see.
fn is_of_labels(path: &str) -> bool {
    let path = path.to_lowercase();
    let parts: Vec<&str> = path.split(['/', '\\']).filter(|part| !part.is_empty() && *part != ".").collect();
    let Some((file, folders)) = parts.split_last() else { return false };
    let words: Vec<&str> = file.split(|letter: char| !letter.is_alphanumeric()).collect();
    // `sample_solution.csv` shows the layout.
    if words.iter().any(|word| matches!(*word, "sample" | "template" | "example")) {
        return false;
    }
    let has = |options: &[&str]| options.iter().any(|option| words.contains(option));
    let is_code = [".py", ".ipynb", ".md", ".yaml", ".yml", ".html", ".png", ".log"];
    if is_code.iter().any(|ending| file.ends_with(ending)) {
        return false;
    }
    // Labels of training rows.
    let of_training = |word: &str| matches!(word, "train" | "training");
    if words.iter().any(|word| of_training(word))
        || (!has(&["test"]) && folders.iter().any(|folder| of_training(folder)))
    {
        return false;
    }
    // What stands for a part that is not known may be `sample`.
    if file.contains('*') && has(&["solution", "solutions"]) {
        return false;
    }
    let of_labels = has(&["labels", "label", "targets", "target", "truth"]);
    // Held-out rows without labels are no secret.
    let held_out = |words: &[&str]| {
        let pair = |one, other| words.contains(&one) && words.contains(&other);
        words.contains(&"holdout") || words.contains(&"heldout") || pair("held", "out") || pair("hold", "out")
    };
    let secret = has(&["answers", "answer", "solution", "solutions", "private", "groundtruth"])
        || (has(&["ground"]) && has(&["truth"]))
        || (of_labels && (has(&["test"]) || held_out(&words)));
    // An absolute path may lead through a system's own `/private`.
    let mut folders = folders.iter().skip(usize::from(path.starts_with('/')));
    secret || folders.any(|name| matches!(*name, "answers" | "private") || (of_labels && held_out(&[name])))
}
