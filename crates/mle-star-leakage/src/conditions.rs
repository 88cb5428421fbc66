//! Conditions that choose rows: whether rows fulfil two of them.

use std::cmp::Ordering;
use std::rc::Rc;

use crate::machine::Machine;
use crate::rows::{DivisionId, Origin, RowsId};
use crate::site::Site;
use crate::table::Table;

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

impl Machine<'_> {
    /// A condition that holds where both hold.
    pub(crate) fn conjunction(&mut self, one: &Table, other: &Table) -> Option<(Rc<str>, bool)> {
        let (left, right) = (one.mask.condition.as_ref()?, other.mask.condition.as_ref()?);
        let key: Rc<str> = format!("{left:?} and {right:?}").into();
        let parts = |part: &(Rc<str>, bool)| match self.conjunctions.get(&part.0) {
            Some(parts) if !part.1 => parts.clone(),
            _ => vec![part.clone()],
        };
        let all: Vec<_> = [parts(left), parts(right)].concat();
        if all.len() <= 8 {
            self.conjunctions.insert(Rc::clone(&key), all);
        }
        Some((key, false))
    }

    /// Where validation rows are chosen, if some of them certainly are among the training rows, by the conditions or
    /// positions that both are chosen by; and whether all of them are.
    pub(crate) fn overlapping_choice(&self, fit: RowsId, scored: RowsId) -> Option<(Site, bool)> {
        let common = self.rows.common(fit, scored)?;
        let fits = self.required(self.direct(fit, common)?)?;
        let [fits] = fits.as_slice() else { return None };
        let (division, side) = self.first_division(scored, common)?;
        let site = self.rows.division_of(division).map(|(_, site)| *site)?;
        let on_the_way = self.parts_up_to(scored, common);
        let mut requires: Vec<Interval> = Vec::new();
        for part in &on_the_way {
            requires.extend(self.required(*part).unwrap_or_default());
        }
        let only = self.direct(scored, common).is_some()
            && self.required((division, side)).is_some_and(|all| all.len() == 1);
        let mut same = Interval { column: fits.column.clone(), ..Interval::default() };
        for required in requires.into_iter().filter(|required| required.column == fits.column) {
            same.lows.extend(required.lows);
            same.highs.extend(required.highs);
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

    /// What is required of the rows on one side of a division: one interval for each column.
    fn required(&self, (division, side): (DivisionId, u8)) -> Option<Vec<Interval>> {
        let (division, _) = self.rows.division_of(division)?;
        let conditions = match self.conjunctions.get(&division.key) {
            Some(parts) if side == 0 => parts.clone(),
            Some(_) => return None,
            None => vec![(Rc::clone(&division.key), side == 1)],
        };
        let mut intervals: Vec<Interval> = Vec::new();
        for (key, negated) in &conditions {
            let found = Interval::of(key, *negated)?;
            match intervals.iter_mut().find(|interval| interval.column == found.column) {
                Some(interval) => {
                    interval.lows.extend(found.lows);
                    interval.highs.extend(found.highs);
                }
                None => intervals.push(found),
            }
        }
        Some(intervals)
    }
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
        let (column, bound) = (&key[..at], bound(&key[at + 1..]));
        if !is_column(column) {
            return None;
        }
        let mut interval = Self { column: column.replace('\'', "\""), ..Self::default() };
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

    fn of_positions(bounds: &str, negated: bool) -> Option<Self> {
        let kind = if bounds.starts_with('-') { "end" } else { "at" };
        let (column, bounds) = match bounds.strip_prefix("share ") {
            Some(bounds) => ("share", bounds),
            None => (kind, bounds),
        };
        let column = column.to_owned();
        let bound = |text: &str| vec![Bound { text: text.into(), included: false }];
        match bounds.split_once(" to ") {
            Some(_) if negated => None,
            Some((low, high)) => Some(Self { column, lows: bound(low), highs: bound(high) }),
            None if negated => Some(Self { column, lows: bound(bounds), highs: Vec::new() }),
            None => Some(Self { column, lows: Vec::new(), highs: bound(bounds) }),
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

/// A bound without the function that makes a time of it.
fn bound(text: &str) -> String {
    let quoted = text.split(['"', '\'']).nth(1);
    let time = ["Timestamp(", "to_datetime(", "datetime64("].iter().any(|function| text.contains(function));
    match quoted {
        Some(quoted) if time && text.ends_with(')') => quoted.to_owned(),
        _ => text.trim_matches(['"', '\'']).to_owned(),
    }
}

/// Whether the text is certainly the same column wherever it stands: `["date"]`, `.date`, `["date"].dt.year`.
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
    let (left, right) = (Moved::of(left), Moved::of(right));
    (left.from == right.from).then(|| left.order(&right)).flatten()
}

/// A value, and how far it is moved: `start + timedelta(days=7)`, `cut - 100`.
struct Moved<'a> {
    from: &'a str,
    /// By how much; infinite: by a number that is not known.
    by: f64,
    unit: String,
}

impl<'a> Moved<'a> {
    fn of(text: &'a str) -> Self {
        let here = || Self { from: text, by: 0.0, unit: String::new() };
        let mut depth = 0_i32;
        let mut last = None;
        for (at, letter) in text.char_indices() {
            match letter {
                '(' | '[' => depth += 1,
                ')' | ']' => depth -= 1,
                '+' | '-' if depth == 0 && at > 0 => last = Some((at, letter)),
                _ => {}
            }
        }
        let Some((at, sign)) = last else { return here() };
        let (from, more) = (&text[..at], &text[at + 1..]);
        let sign = if sign == '-' { -1.0 } else { 1.0 };
        if let Ok(number) = more.parse::<f64>() {
            return Self { from, by: sign * number, unit: String::new() };
        }
        let is_time = ["imedelta(", "DateOffset(", "timedelta64("].iter().any(|name| more.contains(name));
        let Some((_, given)) = more.split_once('(').filter(|_| is_time && !more.contains('*')) else {
            return here();
        };
        let number: String = given.chars().filter(char::is_ascii_digit).collect();
        let unit = given.chars().filter(|letter| letter.is_alphabetic()).collect();
        Self { from, by: sign * number.parse().unwrap_or(f64::INFINITY), unit }
    }

    fn order(&self, other: &Self) -> Option<Ordering> {
        let here = |moved: &Self| moved.by == 0.0;
        let known = self.unit == other.unit && self.by.is_finite() && other.by.is_finite();
        (here(self) || here(other) || known).then(|| self.by.partial_cmp(&other.by)).flatten()
    }
}
