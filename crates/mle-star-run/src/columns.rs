//! The roles of the columns of a run's tables, and what is done with odd rows and words, in lines for people.

use mle_star_domain::protocol::{Split, SplitKind};
use mle_star_domain::task::{ColumnRole, Task, TaskType, TextColumn};
use mle_star_tables::profile::{Column, Profile};
use mle_star_tables::task_inference::InferredTask;

/// The most columns of a wide table that are shown.
pub const MAX_COLUMNS: usize = 200;
/// The width to which the cells of [`table_lines`] are aligned at most, in characters.
const MAX_WIDTH: usize = 40;

/// Lines on the words that look missing but are values, the rows that are dropped, the weights, and the ignored columns.
pub fn data_notes(task: &Task, profile: Option<&Profile>) -> Vec<String> {
    let texts = profile.iter().flat_map(|profile| &profile.text_columns);
    let mut lines: Vec<String> = texts.filter_map(|column| missing_like_words(task, column)).collect();
    lines.extend(profile.and_then(|profile| dropped_rows(task, profile)));
    let roles = &task.roles;
    lines.extend(roles.weight.as_ref().map(|name| format!("weights: `{name}` (as given)")));
    let names: Vec<String> = roles.ignored.iter().map(|name| format!("`{name}`")).collect();
    lines.extend((!names.is_empty()).then(|| format!("ignored: {} (as given)", names.join(", "))));
    lines
}

/// The words of a column that look missing but are values.
fn missing_like_words(task: &Task, text: &TextColumn) -> Option<String> {
    let TextColumn { column, words, why } = text;
    let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
    let [one, several] = match Some(column.as_str()) {
        name if name == task.roles.id.as_deref() => ["is an ID in", "are IDs in"],
        name if name == task.target() && task.task_type != TaskType::Regression => {
            ["is a class of", "are classes of"]
        }
        _ => ["is a value of", "are values of"],
    };
    let what = if quoted.len() == 1 { one } else { several };
    (!quoted.is_empty()).then(|| format!("words: {} {what} `{column}` ({why})", quoted.join(", ")))
}

/// The columns of training and test table with their roles: those with a part in the task first, then the features. Of wide
/// tables, the first [`MAX_COLUMNS`] are shown.
pub fn table(task: &Task, profile: &Profile, split: Option<&Split>, facts: &InferredTask) -> Vec<ColumnRole> {
    let in_train = profile.train.columns.iter().map(|column| (column, true));
    let only_in_test = profile.test.iter().flat_map(|test| &test.columns);
    let only_in_test = only_in_test.filter(|column| profile.train.column(&column.name).is_none());
    let all = in_train.chain(only_in_test.map(|column| (column, false)));
    let mut found: Vec<(usize, ColumnRole)> = all
        .map(|(column, is_in_train)| {
            let (rank, role, why) = role(task, profile, split, (column, is_in_train), facts);
            let kind = column.kind.name().to_owned();
            (rank, ColumnRole { column: column.name.clone(), role: role.to_owned(), kind, why })
        })
        .collect();
    found.sort_by_key(|(rank, _)| *rank);
    found.truncate(MAX_COLUMNS);
    found.into_iter().map(|(_, column)| column).collect()
}

/// The table in lines, aligned.
pub fn table_lines(columns: &[ColumnRole]) -> Vec<String> {
    let cell = |text: &str| text.replace(['\n', '\r'], " ");
    let width = |of: fn(&ColumnRole) -> &str| {
        columns.iter().map(|one| cell(of(one)).chars().count().min(MAX_WIDTH)).max().unwrap_or_default()
    };
    let widths = [width(|c| &c.column), width(|c| &c.role), width(|c| &c.kind)];
    let line = |column: &ColumnRole| {
        let [a, b, c] = widths;
        let (name, role, kind) = (cell(&column.column), &column.role, &column.kind);
        format!("{name:<a$}  {role:<b$}  {kind:<c$}  {}", cell(&column.why)).trim_end().to_owned()
    };
    columns.iter().map(line).collect()
}

/// A column's rank in the order of the table, its role and the reason.
fn role(
    task: &Task,
    profile: &Profile,
    split: Option<&Split>,
    (column, is_in_train): (&Column, bool),
    inferred: &InferredTask,
) -> (usize, &'static str, String) {
    let name = column.name.as_str();
    let is = |role: &Option<String>| role.as_deref() == Some(name);
    let given = || "as given".to_owned();
    let because = |field: &str| inferred.reason(field).map_or_else(given, str::to_owned);
    let roles = &task.roles;
    let targets =
        task.target().map(|target| profile.targets(target, roles.id.as_deref())).unwrap_or_default();
    let of_split = split.filter(|split| split.column.as_deref() == Some(name));
    match of_split.map(|split| split.kind) {
        _ if targets.contains(&name) => (0, "target", because("target_column")),
        _ if is(&roles.id) => (1, "id", because("id_column")),
        _ if is(&roles.group) => (2, "group", given()),
        _ if is(&roles.time) => (3, "time", given()),
        _ if is(&roles.weight) => (4, "weight", given()),
        _ if roles.ignored.iter().any(|ignored| ignored == name) => (5, "ignored", given()),
        Some(SplitKind::Groups) => (2, "group", of_split.map_or_else(String::new, |split| split.why.clone())),
        Some(SplitKind::Time) => (3, "time", of_split.map_or_else(String::new, |split| split.why.clone())),
        _ if !is_in_train => (7, "only in test", format!("{} lacks it", profile.train.file.display())),
        _ => match &profile.test {
            Some(test) if test.column(name).is_none() => {
                (6, "only in train", format!("{} lacks it", test.file.display()))
            }
            Some(_) => (8, "feature", "both tables have it".to_owned()),
            None => (8, "feature", "it has no other role".to_owned()),
        },
    }
}

/// A line on the training rows without target, and what their cells hold.
fn dropped_rows(task: &Task, profile: &Profile) -> Option<String> {
    task.target()?;
    let cells = &profile.without_target;
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
