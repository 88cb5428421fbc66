//! What the columns of a file of predictions stand for.

use std::collections::{HashMap, HashSet};

use crate::class_columns::{bounds, matched};
use crate::names::{Kind, Metric};
use crate::table::{canonical, listed};

/// The predictions of each row.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cells {
    /// A number in this column.
    Number(String),
    /// A label in this column.
    Label(String),
    /// Guesses of the label in this column, the best first; at most so many count.
    Guesses { column: String, most: usize },
    /// A set of labels in this column.
    Set(String),
    /// A lower and an upper bound in these columns.
    Bounds([String; 2]),
    /// The probability, or a score, of a class in this column.
    Positive { column: String, class: u32 },
    /// The probability of each class in these columns. The known classes come first.
    PerClass { columns: Vec<String>, names: Vec<String> },
}

impl Cells {
    /// Whether values are places in a list of names.
    pub(super) fn have_names(&self) -> bool {
        matches!(self, Self::Label(_) | Self::Guesses { .. } | Self::Set(_))
    }
}

/// What the columns other than the ID stand for. `given` is the class that a column of probabilities is about, if that is
/// known.
pub(super) fn cells(
    metric: Metric,
    target: &str,
    columns: &[String],
    names: &[String],
    given: Option<&str>,
) -> Result<Cells, String> {
    let has_classes = matches!(metric.kind(), Kind::Labels | Kind::Probabilities | Kind::Guesses);
    if has_classes && columns.len() > 1 {
        match per_class(columns, names) {
            Some((columns, names)) => return Ok(Cells::PerClass { columns, names }),
            None if !columns.iter().any(|column| column == target) => {
                return Err(format!(
                    "the columns {} cannot be matched to the classes {}",
                    listed(columns),
                    listed(names)
                ));
            }
            None => {}
        }
    }
    if metric.kind() == Kind::Intervals {
        return bounds(columns).map(Cells::Bounds).ok_or_else(|| {
            let found = listed(columns);
            format!("{metric} needs two columns, with the lower and the upper bound, but there are {found}")
        });
    }
    let column = match columns {
        [] => return Err("the sample submission has no column for predictions".to_owned()),
        [column] => column,
        _ if columns.iter().any(|column| column == target) => target,
        _ => {
            return Err(format!(
                "{metric} needs one column of predictions, but there are {}",
                listed(columns)
            ));
        }
    };
    one_column(metric, column, names, given)
}

fn one_column(metric: Metric, column: &str, names: &[String], given: Option<&str>) -> Result<Cells, String> {
    let column = column.to_owned();
    match metric.kind() {
        Kind::Numbers | Kind::Order => Ok(Cells::Number(column)),
        Kind::Labels => Ok(Cells::Label(column)),
        Kind::Sets => Ok(Cells::Set(column)),
        Kind::Guesses => Ok(Cells::Guesses { column, most: usize::from(metric.guesses()) }),
        Kind::Intervals => Err(format!("{metric} needs two columns, with the lower and the upper bound")),
        Kind::Probabilities if names.len() > 2 => Err(format!(
            "{metric} of {} classes needs one column of probabilities for each class",
            names.len()
        )),
        Kind::Probabilities => {
            let named = names.iter().position(|name| given.is_none() && *name == canonical(&column));
            let class = named.map_or_else(|| positive(names, given), |class| class as u32);
            Ok(Cells::Positive { column, class })
        }
    }
}

/// The class that a binary metric is about: the given one, else the larger number, `true`, `yes`, or the last.
pub(super) fn positive(names: &[String], given: Option<&str>) -> u32 {
    let given = names.iter().position(|name| given == Some(name.as_str()));
    if let Some(class) = given {
        return class as u32;
    }
    let said = names.iter().position(|name| name == "true" || name.eq_ignore_ascii_case("yes"));
    said.unwrap_or(names.len().saturating_sub(1)) as u32
}

/// The class that each column is about, if every known class has one. Some may be about classes that no label has.
pub fn classes_of_columns(columns: &[String], classes: &[String]) -> Option<Vec<String>> {
    let classes: Vec<String> = classes.iter().map(|class| canonical(class).into_owned()).collect();
    let (ordered, names) = per_class(columns, &classes)?;
    let class = |column: &String| {
        let place = ordered.iter().position(|other| other == column)?;
        names.get(place).cloned()
    };
    columns.iter().map(class).collect()
}

/// For each column, the place among `classes` of the class that its name is about, if every one of them has a column; `None`
/// for a class that no label has.
pub fn places_of_columns(columns: &[String], classes: &[String]) -> Option<Vec<Option<usize>>> {
    let names: Vec<String> = classes.iter().map(|class| canonical(class).into_owned()).collect();
    let about = by_name(columns, &names)?;
    let places: HashMap<&String, usize> = names.iter().zip(0..).collect();
    Some(about.iter().map(|class| places.get(class).copied()).collect())
}

/// The columns and their classes: the known ones in order, then those that no label has.
fn per_class(columns: &[String], names: &[String]) -> Option<(Vec<String>, Vec<String>)> {
    let about = match by_name(columns, names) {
        Some(about) => about,
        None if columns.len() == names.len() && !columns.iter().any(|column| is_named(column, names)) => {
            return Some((columns.to_vec(), names.to_vec()));
        }
        None => return None,
    };
    let extra = about.iter().filter(|class| !names.contains(class));
    let all: Vec<String> = names.iter().chain(extra).cloned().collect();
    let place = |name: &String| about.iter().position(|class| class == name);
    let ordered = all.iter().filter_map(place).map(|place| columns[place].clone()).collect();
    Some((ordered, all))
}

/// The class that each column is about by its name, if every known class has one.
fn by_name(columns: &[String], names: &[String]) -> Option<Vec<String>> {
    let exactly = prefixes(columns, names).find_map(|prefix| classes_after(prefix, columns, names));
    let loosely = || Some(matched(columns, names)?.into_iter().map(|class| names[class].clone()).collect());
    exactly.or_else(loosely).or_else(|| between(columns, names))
}

/// The prefixes that turn the name of a class into a column; the shortest first.
fn prefixes<'a>(columns: &'a [String], names: &'a [String]) -> impl Iterator<Item = &'a str> {
    columns.iter().flat_map(move |column| {
        let ends = column.char_indices().map(|(at, _)| at);
        let ends = ends.filter(|at| is_named(&column[*at..], names));
        ends.map(|at| &column[..at])
    })
}

/// The class of each column after this prefix, if every known class has one.
fn classes_after(prefix: &str, columns: &[String], names: &[String]) -> Option<Vec<String>> {
    let class = |column: &String| column.strip_prefix(prefix).map(|rest| canonical(rest).into_owned());
    let classes: Vec<String> = columns.iter().map(class).collect::<Option<_>>()?;
    let times = |name: &String| classes.iter().filter(|class| *class == name).count();
    (names.iter().all(|name| times(name) == 1) && classes.iter().all(|class| times(class) == 1))
        .then_some(classes)
}

/// The class of each column between one beginning and one end, whatever its capitals, if every known class has one and there
/// are more columns than that.
fn between(columns: &[String], names: &[String]) -> Option<Vec<String>> {
    let more = columns.len().checked_sub(names.len()).filter(|more| *more > 0 && names.len() > 1)?;
    let lower = |texts: &[String]| texts.iter().map(|text| text.to_lowercase()).collect::<Vec<_>>();
    let (columns_lower, names_lower) = (lower(columns), lower(names));
    let known: HashMap<&str, &String> = names_lower.iter().map(String::as_str).zip(names).collect();
    if known.len() < names.len() {
        return None;
    }
    // One of the first columns is about a known class.
    let frames = columns_lower
        .iter()
        .take(more + 1)
        .flat_map(|column| names_lower.iter().filter_map(|name| column.split_once(name.as_str())));
    let inside = |(start, end): (&str, &str)| {
        let class = |column: &String| {
            let inner = column.strip_prefix(start)?.strip_suffix(end)?.trim();
            (!inner.is_empty())
                .then(|| known.get(inner).map_or_else(|| inner.to_owned(), |name| (*name).clone()))
        };
        let found: Vec<String> = columns_lower.iter().map(class).collect::<Option<_>>()?;
        let all: HashSet<&String> = found.iter().collect();
        (all.len() == found.len() && names.iter().all(|name| all.contains(name))).then_some(found)
    };
    frames.into_iter().find_map(inside)
}

fn is_named(column: &str, names: &[String]) -> bool {
    names.iter().any(|name| *name == canonical(column))
}
