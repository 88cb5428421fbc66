//! Conditions that choose rows: whether rows fulfil two of them.

use std::cmp::Ordering;

use crate::machine::Machine;
use crate::rows::{DivisionId, Origin, RowsId};
use crate::site::Site;

/// What is required of one column, or of the position of a row.
#[derive(Debug, Default)]
struct Interval {
    column: String,
    /// It is not below any of these.
    lows: Vec<Bound>,
    /// It is not above any of these.
    highs: Vec<Bound>,
}

/// An end of what is required.
#[derive(Clone, Debug)]
struct Bound {
    text: String,
    /// Whether values that equal it certainly exist and fulfil the requirement.
    included: bool,
}

/// What stands for a column where rows are chosen by their positions.
const FROM_FIRST: &str = "at";
const FROM_LAST: &str = "end";
const SHARE: &str = "share";

impl Machine<'_> {
    /// Where validation rows are chosen, if some of them certainly are among the training rows, by the conditions or
    /// positions that both are chosen by; and whether all of them are.
    pub(crate) fn overlapping_choice(&self, fit: RowsId, scored: RowsId) -> Option<(Site, bool)> {
        let common = self.rows.common(fit, scored)?;
        let fits = self.required(self.direct(fit, common)?)?;
        let (division, side) = self.first_division(scored, common)?;
        let site = self.rows.division_of(division).map(|(_, site)| *site)?;
        let on_the_way = self.parts_up_to(scored, common);
        let requires: Vec<Interval> = on_the_way.into_iter().filter_map(|part| self.required(part)).collect();
        let comparable = |scored: &Interval| {
            scored.column == fits.column || !(scored.is_of_positions() && fits.is_of_positions())
        };
        let only = self.direct(scored, common).is_some()
            && self.required((division, side)).is_some_and(|scored| comparable(&scored));
        let mut same = Interval { column: fits.column.clone(), ..Interval::default() };
        for required in requires.into_iter().filter(|required| required.column == fits.column) {
            same.also(required);
        }
        let within = fits.contains(&same);
        (within || (only && fits.meets(&same))).then_some((site, within))
    }

    /// The side of the division by which rows were taken from others, with nothing in between.
    fn direct(&self, rows: RowsId, from: RowsId) -> Option<(DivisionId, u8)> {
        match self.rows.origin(rows) {
            Origin::Part { of, division, side } if *of == from => Some((*division, *side)),
            _ => None,
        }
    }

    fn first_division(&self, rows: RowsId, common: RowsId) -> Option<(DivisionId, u8)> {
        self.rows.ancestors(rows).find_map(|above| self.direct(above, common))
    }

    fn parts_up_to(&self, rows: RowsId, common: RowsId) -> Vec<(DivisionId, u8)> {
        let above = self.rows.ancestors(rows).take_while(|above| *above != common);
        above
            .filter_map(|above| match self.rows.origin(above) {
                Origin::Part { division, side, .. } => Some((*division, *side)),
                _ => None,
            })
            .collect()
    }

    /// What is required of the rows on one side of a division.
    fn required(&self, (division, side): (DivisionId, u8)) -> Option<Interval> {
        let (division, _) = self.rows.division_of(division)?;
        Interval::of(&division.key, side == 1)
    }
}

/// The key of a query with one comparison, and whether it is negated: `fold != 4`.
pub(crate) fn key_of_query(query: &str) -> Option<(String, bool)> {
    const SIGNS: [(&str, &str, bool); 6] = [
        ("==", "==", false),
        ("!=", "==", true),
        (">=", "<", true),
        ("<=", ">", true),
        ("<", "<", false),
        (">", ">", false),
    ];
    let (found, sign, negated) = SIGNS.into_iter().find(|(found, ..)| query.contains(found))?;
    let (column, value) = query.split_once(found)?;
    let (column, value) = (column.trim(), value.trim());
    let name = column.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    let several =
        value.contains(['&', '|', '<', '>', '=']) || value.contains(" and ") || value.contains(" or ");
    let value = value.trim_matches(['"', '\'']).trim_start_matches('@');
    (name && !several).then(|| (format!("[\"{column}\"]{sign}{value}"), negated))
}

impl Interval {
    /// What a condition or position requires.
    fn of(key: &str, negated: bool) -> Option<Self> {
        if let Some(bounds) = key.strip_prefix("at ") {
            return Self::of_positions(bounds, negated);
        }
        let mut signs = key.match_indices(['<', '>']);
        let (at, sign) = signs.next()?;
        if signs.next().is_some() {
            return None;
        }
        let (column, bound) = (&key[..at], key[at + 1..].trim_matches(['"', '\'']));
        let mut interval = Self { column: column_of(column)?, ..Self::default() };
        // Numbers with a fraction may be the value of no row.
        let exists = column.contains(['[', '.']) && !bound.contains('.');
        let bound = Bound { text: bound.to_owned(), included: negated && exists };
        if (sign == "<") == negated {
            interval.lows.push(bound);
        } else {
            interval.highs.push(bound);
        }
        Some(interval)
    }

    /// Requires what another one requires of the same column, too.
    fn also(&mut self, other: Self) {
        self.lows.extend(other.lows);
        self.highs.extend(other.highs);
    }

    /// Whether it is about the positions of rows: counted from the first or the last one, or as a share of all. Without the
    /// number of rows, nothing tells how these lie to each other.
    fn is_of_positions(&self) -> bool {
        [FROM_FIRST, FROM_LAST, SHARE].contains(&self.column.as_str())
    }

    fn of_positions(bounds: &str, negated: bool) -> Option<Self> {
        let kind = if bounds.starts_with('-') { FROM_LAST } else { FROM_FIRST };
        let (column, bounds) = match bounds.strip_prefix("share ") {
            Some(bounds) => (SHARE, bounds),
            None => (kind, bounds),
        };
        let column = column.to_owned();
        let bound = |text: &str| vec![Bound { text: text.into(), included: false }];
        match bounds.split_once(" to ") {
            Some(_) if negated => None,
            Some((low, high)) => Some(Self { column, lows: bound(low), highs: bound(high) }),
            None if negated => Some(Self { column, lows: bound(bounds), ..Self::default() }),
            None => Some(Self { column, highs: bound(bounds), ..Self::default() }),
        }
    }

    /// Whether what fulfils the other one certainly fulfils this one.
    fn contains(&self, other: &Self) -> bool {
        let up_to = |one: &Bound, other: &Bound| {
            matches!(order(&one.text, &other.text), Some(Ordering::Less | Ordering::Equal))
        };
        let least = |low: &Bound| other.lows.iter().any(|at| up_to(low, at));
        let most = |high: &Bound| other.highs.iter().any(|at| up_to(at, high));
        let bounded = !self.lows.is_empty() || !self.highs.is_empty();
        bounded && self.lows.iter().all(least) && self.highs.iter().all(most)
    }

    /// Whether something certainly fulfils both: both reach to the end, or every end is after every beginning.
    fn meets(&self, other: &Self) -> bool {
        let lows: Vec<&Bound> = self.lows.iter().chain(&other.lows).collect();
        let highs: Vec<&Bound> = self.highs.iter().chain(&other.highs).collect();
        let meet = |low: &Bound, high: &Bound| match order(&low.text, &high.text) {
            Some(Ordering::Less) => true,
            Some(Ordering::Equal) => low.included && high.included,
            _ => false,
        };
        let before = |low: &&Bound| highs.iter().all(|high| meet(low, high));
        lows.iter().all(before)
    }
}

/// A column by its name, however it is written: `["date"]`, `.date`, `.col("date")`, `["date"].dt.year`.
fn column_of(text: &str) -> Option<String> {
    let text = match text.strip_prefix(".col(").and_then(|rest| rest.strip_suffix(')')) {
        Some(name) => format!("[{name}]"),
        None => text.replace('\'', "\""),
    };
    let plain = |name: &str| name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    let attribute = text.strip_prefix('.').filter(|name| plain(name) && *name != "index");
    let text = attribute.map_or_else(|| text.clone(), |name| format!("[\"{name}\"]"));
    is_column(&text).then_some(text)
}

/// Whether the text is certainly the same column wherever it stands: `["date"]`, `["date"].dt.year`.
fn is_column(text: &str) -> bool {
    let plain = |letter: char| letter.is_alphanumeric() || "_.[]\"' -".contains(letter);
    let quoted = text.split('[').skip(1).all(|part| part.starts_with(['"', '\'']));
    !text.is_empty() && text.chars().all(plain) && quoted
}

/// The order of two numbers, or of two times that are written alike.
fn order(left: &str, right: &str) -> Option<Ordering> {
    if left == right {
        return Some(Ordering::Equal);
    }
    if let (Ok(left), Ok(right)) = (left.parse::<f64>(), right.parse::<f64>()) {
        return left.partial_cmp(&right);
    }
    let is_time = |text: &str| {
        let begins = text.get(..4).is_some_and(|year| year.bytes().all(|letter| letter.is_ascii_digit()));
        begins && text.chars().all(|letter| letter.is_ascii_digit() || "-: T/".contains(letter))
    };
    if left.len() == right.len() && is_time(left) && is_time(right) {
        return Some(left.cmp(right));
    }
    None
}
