//! The roles of the columns of a run's tables, in lines for people.

use mle_star_domain::protocol::{Split, SplitKind};
use mle_star_domain::task::{ColumnRole, Roles, TaskType, TextColumn};
use mle_star_tables::profile::{Column, Profile};

/// The most columns of a wide table that are shown.
pub const MOST: usize = 200;
/// The width to which the cells of [`table_lines`] are aligned at most, in characters.
const WIDEST: usize = 40;

/// The columns whose roles are shown: the targets, the ID and those that the user named.
#[derive(Clone, Copy, Debug)]
pub struct KnownColumns<'a> {
    /// Their roles.
    pub roles: &'a Roles,
    /// Whether the target has classes.
    pub classes: bool,
}

impl<'a> KnownColumns<'a> {
    /// Those of a task of this kind.
    pub fn of(roles: &'a Roles, kind: TaskType) -> Self {
        Self { roles, classes: kind != TaskType::Regression }
    }

    fn target(&self) -> Option<&'a str> {
        self.roles.first_target()
    }

    fn id(&self) -> Option<&'a str> {
        self.roles.id.as_deref()
    }
}

/// Lines on the words that look missing but are values, the rows that are dropped, the weights, and the ignored columns.
pub fn lines(told: &KnownColumns<'_>, profile: Option<&Profile>) -> Vec<String> {
    let texts = profile.iter().flat_map(|profile| &profile.text_columns);
    let mut lines: Vec<String> = texts.filter_map(|column| words(told, column)).collect();
    lines.extend(profile.and_then(|profile| dropped(told, profile)));
    let KnownColumns { roles, .. } = told;
    lines.extend(roles.weight.as_ref().map(|name| format!("weights: `{name}` (as given)")));
    let names: Vec<String> = roles.ignored.iter().map(|name| format!("`{name}`")).collect();
    lines.extend((!names.is_empty()).then(|| format!("ignored: {} (as given)", names.join(", "))));
    lines
}

/// The words of a column that look missing but are values.
fn words(told: &KnownColumns<'_>, text: &TextColumn) -> Option<String> {
    let TextColumn { column, words, why } = text;
    let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
    let [one, several] = match Some(column.as_str()) {
        name if name == told.id() => ["is an ID in", "are IDs in"],
        name if name == told.target() && told.classes => ["is a class of", "are classes of"],
        _ => ["is a value of", "are values of"],
    };
    let what = if quoted.len() == 1 { one } else { several };
    (!quoted.is_empty()).then(|| format!("words: {} {what} `{column}` ({why})", quoted.join(", ")))
}

/// The columns of training and test table with their roles: those with a part in the task first, then the features. Of wide
/// tables, the first [`MOST`] are shown.
pub fn table(
    told: &KnownColumns<'_>,
    profile: &Profile,
    split: Option<&Split>,
    reasons: &dyn Fn(&str) -> Option<String>,
) -> Vec<ColumnRole> {
    let in_train = profile.train.columns.iter().map(|column| (column, true));
    let only_in_test = profile.test.iter().flat_map(|test| &test.columns);
    let only_in_test = only_in_test.filter(|column| profile.train.column(&column.name).is_none());
    let all = in_train.chain(only_in_test.map(|column| (column, false)));
    let mut found: Vec<(usize, ColumnRole)> = all
        .map(|(column, is_in_train)| {
            let (rank, role, why) = role(told, profile, split, (column, is_in_train), reasons);
            let kind = column.kind.name().to_owned();
            (rank, ColumnRole { column: column.name.clone(), role: role.to_owned(), kind, why })
        })
        .collect();
    found.sort_by_key(|(rank, _)| *rank);
    found.truncate(MOST);
    found.into_iter().map(|(_, column)| column).collect()
}

/// The table in lines, aligned.
pub fn table_lines(columns: &[ColumnRole]) -> Vec<String> {
    let cell = |text: &str| text.replace(['\n', '\r'], " ");
    let width = |of: fn(&ColumnRole) -> &str| {
        columns.iter().map(|column| cell(of(column)).chars().count().min(WIDEST)).max().unwrap_or_default()
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
    told: &KnownColumns<'_>,
    profile: &Profile,
    split: Option<&Split>,
    (column, is_in_train): (&Column, bool),
    reasons: &dyn Fn(&str) -> Option<String>,
) -> (usize, &'static str, String) {
    let name = column.name.as_str();
    let is = |role: &Option<String>| role.as_deref() == Some(name);
    let given = || "as given".to_owned();
    let because = |field: &str| reasons(field).unwrap_or_else(given);
    let targets = told.target().map(|target| profile.targets(target, told.id())).unwrap_or_default();
    let of_split = split.filter(|split| split.column.as_deref() == Some(name));
    let roles = told.roles;
    match of_split.map(|split| split.kind) {
        _ if targets.contains(&name) => (0, "target", because("target_column")),
        _ if told.id() == Some(name) => (1, "id", because("id_column")),
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
fn dropped(told: &KnownColumns<'_>, profile: &Profile) -> Option<String> {
    told.target()?;
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
