//! Thresholds and positions that choose rows: whether rows that are chosen by two of them overlap.

use std::cmp::Ordering;

use crate::machine::Machine;
use crate::rows::{DivisionId, Origin, RowsId};
use crate::site::Site;

/// One end of the values of a column, or of the positions, that a choice of rows allows.
#[derive(Debug)]
struct Bound {
    column: String,
    /// Whether what is chosen is above it.
    above: bool,
    text: String,
}

/// What stands for a column where rows are chosen by their positions.
const FROM_FIRST: &str = "at";
const FROM_LAST: &str = "end";
const SHARE: &str = "share";

impl Machine<'_> {
    /// Where validation rows are chosen, if some of them certainly are among the training rows, by the thresholds or
    /// positions that both are chosen by; and whether all of them are.
    pub(crate) fn overlapping_choice(&self, fit: RowsId, scored: RowsId) -> Option<(Site, bool)> {
        let common = self.rows.common(fit, scored)?;
        let fits = self.bound(self.direct(fit, common)?)?;
        let first = self.first_division(scored, common)?;
        let site = self.rows.division_of(first.0).map(|(_, site)| *site)?;
        let bounds = self.parts_up_to(scored, common).into_iter().filter_map(|part| self.bound(part));
        let bounds: Vec<Bound> = bounds.filter(|bound| bound.column == fits.column).collect();
        let within = bounds.iter().any(|bound| fits.follows_from(bound));
        let comparable = |scored: Bound| {
            scored.column == fits.column || !(scored.is_of_positions() && fits.is_of_positions())
        };
        let only = self.direct(scored, common).is_some() && self.bound(first).is_some_and(comparable);
        let all = || bounds.iter().chain([&fits]);
        let mut lows = all().filter(|bound| bound.above);
        let meet = lows.all(|low| all().all(|high| high.above || low.is_before(high)));
        (within || (only && meet)).then_some((site, within))
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

    /// The bound of the rows on one side of a division.
    fn bound(&self, (division, side): (DivisionId, u8)) -> Option<Bound> {
        let (division, _) = self.rows.division_of(division)?;
        Bound::of(&division.key, side == 1)
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

impl Bound {
    /// The bound that a condition or position is.
    fn of(key: &str, negated: bool) -> Option<Self> {
        if let Some(text) = key.strip_prefix("at ") {
            let kind = if text.starts_with('-') { FROM_LAST } else { FROM_FIRST };
            let (column, text) = text.strip_prefix("share ").map_or((kind, text), |share| (SHARE, share));
            return Some(Self { column: column.to_owned(), above: negated, text: text.to_owned() });
        }
        let mut signs = key.match_indices(['<', '>']);
        let ((at, sign), None) = (signs.next()?, signs.next()) else { return None };
        let text = key[at + 1..].trim_matches(['"', '\'']).to_owned();
        Some(Self { column: column_of(&key[..at])?, above: (sign == "<") == negated, text })
    }

    /// Whether it is about the positions of rows: counted from the first or the last one, or as a share of all. Without the
    /// number of rows, nothing tells how these lie to each other.
    fn is_of_positions(&self) -> bool {
        [FROM_FIRST, FROM_LAST, SHARE].contains(&self.column.as_str())
    }

    /// Whether what is within another bound certainly is within this one.
    fn follows_from(&self, other: &Self) -> bool {
        let (low, high) = if self.above { (self, other) } else { (other, self) };
        let ordered = matches!(order(&low.text, &high.text), Some(Ordering::Less | Ordering::Equal));
        self.above == other.above && ordered
    }

    fn is_before(&self, other: &Self) -> bool {
        order(&self.text, &other.text) == Some(Ordering::Less)
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
    (left.len() == right.len() && is_time(left) && is_time(right)).then(|| left.cmp(right))
}
