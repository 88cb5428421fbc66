//! What a run takes the columns of its tables for, in lines for people.

use mle_star_domain::task::{ColumnRoles, Task, TaskType, TextColumn};
use mle_star_tables::infer::Inferred;
use mle_star_tables::profile::Profile;

/// The columns whose roles are told: the targets, the ID and those that the user named.
#[derive(Clone, Copy, Debug)]
pub struct Told<'a> {
    /// The column to predict.
    pub target: Option<&'a str>,
    /// The column with the row IDs.
    pub id: Option<&'a str>,
    /// Whether the target has classes.
    pub classes: bool,
    /// The roles of further columns.
    pub roles: &'a ColumnRoles,
}

impl<'a> Told<'a> {
    /// Those of a task, whose roles are given beside it.
    pub fn of(task: &'a Task, roles: &'a ColumnRoles) -> Self {
        let classes = task.task_type != TaskType::Regression;
        Self { target: task.target(), id: task.id_column.as_deref(), classes, roles }
    }

    /// Those of a task as it was inferred.
    pub fn inferred(inferred: &'a Inferred) -> Self {
        let Inferred { target, id, roles, task_type, .. } = inferred;
        let classes = *task_type != TaskType::Regression;
        Self { target: target.as_deref(), id: id.as_deref(), classes, roles }
    }
}

/// The words that are values, the rows that are dropped, and the roles that neither split nor target tells.
pub fn lines(told: &Told<'_>, profile: Option<&Profile>) -> Vec<String> {
    let texts = profile.iter().flat_map(|profile| &profile.text_columns);
    let mut lines: Vec<String> = texts.filter_map(|column| words(told, column)).collect();
    lines.extend(profile.and_then(|profile| dropped(told, profile)));
    let Told { roles, .. } = told;
    lines.extend(roles.weight.as_ref().map(|name| format!("weights: `{name}` (as given)")));
    let names: Vec<String> = roles.ignored.iter().map(|name| format!("`{name}`")).collect();
    lines.extend((!names.is_empty()).then(|| format!("ignored: {} (as given)", names.join(", "))));
    lines
}

/// The words of a column that look missing but are values.
fn words(told: &Told<'_>, text: &TextColumn) -> Option<String> {
    let TextColumn { column, words, why } = text;
    let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
    let [one, several] = match Some(column.as_str()) {
        name if name == told.id => ["is an ID in", "are IDs in"],
        name if name == told.target && told.classes => ["is a class of", "are classes of"],
        _ => ["is a value of", "are values of"],
    };
    let what = if quoted.len() == 1 { one } else { several };
    (!quoted.is_empty()).then(|| format!("words: {} {what} `{column}` ({why})", quoted.join(", ")))
}

/// The training rows without target, and what their cells hold.
fn dropped(told: &Told<'_>, profile: &Profile) -> Option<String> {
    let cells = profile.missing_cells(told.target?);
    let total: u64 = cells.iter().map(|(_, rows)| rows).sum();
    let name = |word: &str| if word.is_empty() { "empty".to_owned() } else { format!("`{word}`") };
    let words = match cells.as_slice() {
        [(word, _)] => name(word),
        several => {
            several.iter().map(|(word, rows)| format!("{rows} {}", name(word))).collect::<Vec<_>>().join(", ")
        }
    };
    let all = profile.train.rows;
    (total > 0).then(|| format!("rows dropped: {total} of {all} without target ({words})"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use mle_star_tables::profile;

    use super::*;

    #[test]
    fn words_and_dropped_rows_are_told() {
        let check = |labels: [&str; 4], sample: &str, classes, expected: &[&str]| {
            let dir = tempfile::tempdir().unwrap();
            let rows = labels.iter().enumerate();
            let train =
                rows.fold("id,x,y\n".to_owned(), |all, (id, label)| format!("{all}0{id},7,{label}\n"));
            let sample = format!("id,y\n11,{sample}\n12,{sample}\n");
            for (name, text) in
                [("train", train.as_str()), ("test", "id,x\n11,1\n12,2\n"), ("sample_submission", &sample)]
            {
                fs::write(dir.path().join(format!("{name}.csv")), text).unwrap();
            }
            let profile = profile::read(dir.path()).unwrap();
            let roles = ColumnRoles {
                weight: Some("x".to_owned()),
                ignored: vec!["z".to_owned(), "a".to_owned()],
                ..ColumnRoles::default()
            };
            let told = Told { target: Some("y"), id: Some("id"), classes, roles: &roles };
            let found = lines(&told, Some(&profile));
            let (named, others) = found.split_at(found.len() - 2);
            assert_eq!(others, ["weights: `x` (as given)", "ignored: `z`, `a` (as given)"]);
            assert_eq!(named, expected, "{labels:?}");
        };
        check(["a", "b", "a", "b"], "a", true, &[]);
        check(
            ["a", "None", "", ""],
            "None",
            true,
            &[
                "words: \"None\" is a class of `y` (sample_submission.csv has it)",
                "rows dropped: 2 of 4 without target (empty)",
            ],
        );
        check(["1", "2.5", "", "NA"], "0", false, &["rows dropped: 2 of 4 without target (1 empty, 1 `NA`)"]);
    }
}
