//! Which class a column of a submission is about, by its name.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::bounds::matched;

/// For each column, the place among `classes` of the class that its name is about, if every one of them has a column; `None`
/// for a class that no label has.
pub fn places_of_columns(columns: &[String], classes: &[String]) -> Option<Vec<Option<usize>>> {
    let names: Vec<String> = classes.iter().map(|class| canonical(class).into_owned()).collect();
    let about = by_name(columns, &names)?;
    let places: HashMap<&String, usize> = names.iter().zip(0..).collect();
    Some(about.iter().map(|class| places.get(class).copied()).collect())
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

/// The common form of a label, so that `1`, `1.0` and ` 1` agree, and `True` and `true`.
///
/// Blanks around it do not count. A finite number is written in the shortest way. `True` and `False` become lower
/// case in any spelling. Any other text stays as it is.
pub(super) fn canonical(label: &str) -> Cow<'_, str> {
    let label = label.trim();
    if let Some(whole) = whole_number(label) {
        return whole;
    }
    match label.parse::<f64>() {
        Ok(0.0) => "0".into(),
        Ok(number) if number.is_finite() => number.to_string().into(),
        _ if label.eq_ignore_ascii_case("true") || label.eq_ignore_ascii_case("false") => {
            label.to_ascii_lowercase().into()
        }
        _ => label.into(),
    }
}

/// The digits of a whole number of any length, without leading zeros and without a fraction of zeros.
fn whole_number(text: &str) -> Option<Cow<'_, str>> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let are_digits = !whole.is_empty() && whole.bytes().all(|byte| byte.is_ascii_digit());
    if !are_digits || fraction.bytes().any(|byte| byte != b'0') {
        return None;
    }
    let whole = whole.trim_start_matches('0');
    Some(match (sign, whole) {
        (_, "") => "0".into(),
        ("-", whole) => format!("-{whole}").into(),
        (_, whole) => whole.into(),
    })
}
