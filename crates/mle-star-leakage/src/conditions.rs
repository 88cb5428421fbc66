//! Conditions and positions that choose rows: whether rows that are chosen by two of them overlap.

use std::cmp::Ordering;
use std::rc::Rc;

use ruff_python_ast::{CmpOp, ExprCall};

use crate::calls::Arguments;
use crate::effects::Test;
use crate::machine::Machine;
use crate::rows::{DivisionId, RowsId};
use crate::site::Site;
use crate::syntax::{key, without_table};
use crate::table::Table;

/// What is required of one column, or of the position of a row.
#[derive(Debug, Default)]
struct Interval {
    column: String,
    /// It is not below any of these.
    lows: Vec<Bound>,
    /// It is not above any of these.
    highs: Vec<Bound>,
    /// It is one of these, if they are known.
    values: Option<Vec<String>>,
}

/// An end of what is required.
#[derive(Clone, Debug)]
struct Bound {
    text: String,
    /// Whether values that equal it certainly exist and fulfil the requirement.
    included: bool,
}

/// Stands in the key of a condition between a column and the values that are allowed, or their ends.
const AMONG: &str = " among ";
const FROM: &str = " from ";
/// What stands for a column where rows are chosen by their positions.
const FROM_FIRST: &str = "at";
const FROM_LAST: &str = "end";
const SHARE: &str = "share";
/// What the key of a condition on something unknown begins with.
pub(crate) const UNKNOWN: &str = "unknown ";

impl Machine<'_> {
    /// The key of a test of a column's values, if it is known what they are tested for: `["year"].isin([2018, 2019])`.
    pub(crate) fn required_values(
        &self,
        call: Option<&ExprCall>,
        test: Test,
        table: &Table,
        arguments: &Arguments,
    ) -> Option<String> {
        let column = call.and_then(|call| call.func.as_attribute_expr()).map(|method| key(&method.value));
        let column = column.map(|column| without_table(&column).to_owned());
        let column = match column.filter(|column| column_of(column).is_some()) {
            Some(column) => column,
            None => format!("[\"{}\"]", table.label.as_ref()?),
        };
        let given = arguments.first()?;
        let sign = match test {
            Test::Among => return Some(format!("{column}{AMONG}{}", self.texts(given)?.join("|"))),
            Test::Between => {
                let closed = arguments.positional.len() == 2 && arguments.named.is_empty();
                let high = arguments.positional.get(1).filter(|_| closed)?.constant()?;
                return Some(format!("{column}{FROM}{} to {high}", given.constant()?));
            }
            Test::Compare(CmpOp::Eq | CmpOp::NotEq) => "==",
            Test::Compare(CmpOp::Lt | CmpOp::GtE) => "<",
            Test::Compare(CmpOp::Gt | CmpOp::LtE) => ">",
            _ => return None,
        };
        Some(format!("{column}{sign}{}", given.constant()?))
    }

    /// The key of a condition that holds where either of two holds.
    pub(crate) fn disjunction(left: &(Rc<str>, bool), right: &(Rc<str>, bool)) -> Rc<str> {
        let values = |(key, negated): &(Rc<str>, bool)| {
            let interval = Interval::of_values(key).filter(|_| !negated)?;
            let column = key.split(AMONG).next()?.split("==").next()?.to_owned();
            Some((column, interval.values?.join("|")))
        };
        match (values(left), values(right)) {
            (Some((one, first)), Some((other, second))) if one == other => {
                format!("{one}{AMONG}{first}|{second}").into()
            }
            _ => format!("{left:?} or {right:?}").into(),
        }
    }

    /// The key of a condition that holds where both hold.
    pub(crate) fn conjunction(&mut self, left: &(Rc<str>, bool), right: &(Rc<str>, bool)) -> Rc<str> {
        let key: Rc<str> = format!("{left:?} and {right:?}").into();
        let parts = |part: &(Rc<str>, bool)| match self.conjunctions.get(&part.0) {
            Some(parts) if !part.1 => parts.clone(),
            _ => vec![part.clone()],
        };
        let all: Vec<_> = [parts(left), parts(right)].concat();
        if all.len() <= 8 {
            self.conjunctions.insert(Rc::clone(&key), all);
        }
        key
    }

    /// Where validation rows are chosen, if some of them certainly are among the training rows, by the conditions or
    /// positions that both are chosen by; and whether all of them are.
    pub(crate) fn overlapping_choice(&self, fit: RowsId, scored: RowsId) -> Option<(Site, bool)> {
        let common = self.rows.common(fit, scored)?;
        let fits = self.required(self.direct(fit, common)?)?;
        let [fits] = fits.as_slice() else { return None };
        let (division, side) = self
            .rows
            .parts(scored)
            .find(|(of, ..)| *of == common)
            .map(|(_, division, side)| (division, side))?;
        let site = self.rows.division_of(division).1;
        let on_the_way = self.rows.ancestors(scored).take_while(|above| *above != common);
        let on_the_way = on_the_way.filter_map(|above| self.rows.part_of(above));
        let requires = on_the_way.filter_map(|(_, division, side)| self.required((division, side))).flatten();
        let comparable = |scored: &[Interval]| match scored {
            [scored] if scored.column == fits.column => true,
            // Columns are independent of each other, unless one may be made of the other.
            [scored] => {
                let unknown = [fits, scored].iter().any(|interval| interval.column.starts_with(UNKNOWN));
                let by_positions = scored.is_of_positions() && fits.is_of_positions();
                !(unknown || by_positions || fits.is_computed())
            }
            _ => false,
        };
        let only = self.direct(scored, common).is_some()
            && self.required((division, side)).is_some_and(|all| comparable(&all));
        let mut same = Interval { column: fits.column.clone(), ..Interval::default() };
        for required in requires.filter(|required| required.column == fits.column) {
            same.also(required);
        }
        let within = fits.contains(&same);
        (within || (only && fits.meets(&same))).then_some((site, within))
    }

    /// The side of the division by which rows were taken from others, with nothing in between.
    fn direct(&self, rows: RowsId, from: RowsId) -> Option<(DivisionId, u8)> {
        self.rows.part_of(rows).filter(|(of, ..)| *of == from).map(|(_, division, side)| (division, side))
    }

    /// What is required of the rows on one side of a division: one interval for each column.
    fn required(&self, (division, side): (DivisionId, u8)) -> Option<Vec<Interval>> {
        let (division, _) = self.rows.division_of(division);
        let conditions = match self.conjunctions.get(&division.key) {
            Some(parts) if side == 0 => parts.clone(),
            Some(_) => return None,
            None => vec![(Rc::clone(&division.key), side == 1)],
        };
        let mut intervals: Vec<Interval> = Vec::new();
        for (key, negated) in &conditions {
            let found = Interval::of(key, *negated)?;
            match intervals.iter_mut().find(|interval| interval.column == found.column) {
                Some(interval) => interval.also(found),
                None => intervals.push(found),
            }
        }
        Some(intervals)
    }
}

/// The key of a query with one comparison, and whether it is negated: `fold != 4`, `year in [2018, 2019]`.
pub(crate) fn key_of_query(query: &str) -> Option<(String, bool)> {
    const SIGNS: [(&str, &str, bool); 8] = [
        (" not in ", AMONG, true),
        (" in ", AMONG, false),
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
    let plain = |value: &str| value.trim().trim_matches(['"', '\'']).trim_start_matches('@').to_owned();
    let value = match value.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(items) => items.split(',').map(plain).collect::<Vec<_>>().join("|"),
        None if sign == AMONG => return None,
        None => plain(value),
    };
    (name && !several).then(|| (format!("[\"{column}\"]{sign}{value}"), negated))
}

impl Interval {
    /// What a condition or position requires.
    fn of(key: &str, negated: bool) -> Option<Self> {
        if let Some(bounds) = key.strip_prefix("at ") {
            return Self::of_positions(bounds, negated);
        }
        if let Some(interval) = Self::of_values(key).filter(|_| !negated) {
            return Some(interval);
        }
        let mut signs = key.match_indices(['<', '>']);
        let (at, sign) = signs.next()?;
        if signs.next().is_some() {
            return None;
        }
        let (column, bound) = (&key[..at], bound(&key[at + 1..]));
        let mut interval = Self { column: column_of(column)?, ..Self::default() };
        // Numbers with a fraction may be the value of no row.
        let exists = column.contains(['[', '.']) && !bound.contains('.');
        let bound = Bound { text: bound, included: negated && exists };
        if (sign == "<") == negated {
            interval.lows.push(bound);
        } else {
            interval.highs.push(bound);
        }
        Some(interval)
    }

    /// `["year"]==2019`, `["year"] among 2018|2019`, `["year"] from 2018 to 2019`.
    fn of_values(key: &str) -> Option<Self> {
        if let Some((column, ends)) = key.split_once(FROM) {
            let end = |text: &str| vec![Bound { text: text.to_owned(), included: true }];
            let (low, high) = ends.split_once(" to ")?;
            return Some(Self { column: column_of(column)?, lows: end(low), highs: end(high), values: None });
        }
        let (column, values) = match key.split_once(AMONG) {
            Some((column, values)) => (column, values.split('|').map(str::to_owned).collect()),
            None => {
                let (column, value) = key.split_once("==")?;
                (column, vec![bound(value)])
            }
        };
        Some(Self { column: column_of(column)?, values: Some(values), ..Self::default() })
    }

    /// Requires what another one requires of the same column, too.
    fn also(&mut self, other: Self) {
        self.lows.extend(other.lows);
        self.highs.extend(other.highs);
        self.values = match (self.values.take(), other.values) {
            (Some(one), Some(other)) => Some(one.into_iter().filter(|value| other.contains(value)).collect()),
            (one, other) => one.or(other),
        };
    }

    /// Whether a value certainly fulfils it.
    fn allows(&self, value: &str) -> bool {
        let within = |bound: &Bound, sign: Ordering| match order(value, &bound.text) {
            Some(Ordering::Equal) => bound.included,
            found => found == Some(sign),
        };
        self.lows.iter().all(|low| within(low, Ordering::Greater))
            && self.highs.iter().all(|high| within(high, Ordering::Less))
            && self.values.as_ref().is_none_or(|values| values.iter().any(|known| known == value))
    }

    /// Whether it is about the positions of rows: counted from the first or the last one, or as a share of all. Without the
    /// number of rows, nothing tells how these lie to each other.
    fn is_of_positions(&self) -> bool {
        [FROM_FIRST, FROM_LAST, SHARE].contains(&self.column.as_str())
    }

    /// Whether an end of it is computed, as the first day of rows that are held out.
    fn is_computed(&self) -> bool {
        self.lows.iter().chain(&self.highs).any(|bound| bound.text.contains('('))
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
            Some((low, high)) => Some(Self { column, lows: bound(low), highs: bound(high), values: None }),
            None if negated => Some(Self { column, lows: bound(bounds), ..Self::default() }),
            None => Some(Self { column, highs: bound(bounds), ..Self::default() }),
        }
    }

    /// Whether what fulfils the other one certainly fulfils this one.
    fn contains(&self, other: &Self) -> bool {
        if let Some(values) = &other.values {
            return !values.is_empty() && values.iter().all(|value| self.allows(value));
        }
        if self.values.is_some() {
            return false;
        }
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
        if let Some(values) = self.values.as_ref().or(other.values.as_ref()) {
            return values.iter().any(|value| self.allows(value) && other.allows(value));
        }
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

/// A bound without quotation marks.
fn bound(text: &str) -> String {
    text.trim_matches(['"', '\'']).to_owned()
}

/// A column by its name, however it is written: `["date"]`, `.date`, `["date"].dt.year`.
fn column_of(text: &str) -> Option<String> {
    let plain = |name: &str| name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    let attribute = text.strip_prefix('.').filter(|name| plain(name) && *name != "index");
    let text = attribute.map_or_else(|| text.to_owned(), |name| format!("[\"{name}\"]"));
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
