//! Columns that scripts compute from others in their section `Data`, row by row, before anything is learnt: the parts of
//! codes, numbers as categories, days between dates, distances between places, and the differences of two rows of a table.
//!
//! Models could not find any of this with a few splits. It depends on names and forms of values alone, never on targets.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::iter;

use serde::Serialize;

use crate::columns::{Columns, is_nearly_unique, is_number};
use crate::joins::JoinPair;
use mle_star_tables::places::{Place, places};
use mle_star_tables::profile::{Column, INFERENCE_ROWS, PartKind, Profile, Table};

/// The most dates, and the most places, that are paired; more would give too many pairs.
const MAX_PAIRED: usize = 4;
/// The most numbers that become categories, too, and the most codes; more would slow models down.
const MAX_NAMES: usize = 8;
const MAX_CODES: usize = 4;
/// The most derived comparisons of two joined rows of a table; more would slow models down.
const MAX_COMPARED: usize = 20;
/// If each value of a code has at least this many rows on average, models learn it as a whole, and its parts are not
/// derived.
const ROWS_PER_CODE: usize = 20;
/// The most cells, rows times columns, of parts of codes and of numbers as categories. They are computed as texts, which
/// need much time and memory.
const MAX_CELLS: usize = 10_000_000;

/// The columns of the training and test table from which further columns can be derived.
#[derive(Clone, Debug, Default)]
pub(crate) struct DerivableColumns {
    codes: Vec<Code>,
    /// Columns of numbers that only name something, such as a shop.
    numbers: Vec<String>,
    /// The columns that the tables have, and how many different values each has in the training table.
    given: HashMap<String, (usize, bool)>,
}

/// The computed columns of a script.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Derived {
    codes: Vec<Code>,
    /// Columns of numbers, each with the column that has the same numbers as texts.
    names: Vec<(String, String)>,
    spans: Vec<DaysBetween>,
    ways: Vec<GeoDistance>,
    /// The same column of numbers of two joined rows of a table, and the column of the difference.
    differences: Vec<([String; 2], String)>,
    /// The same categorical column of two joined rows of a table, and the column that tells whether both are equal.
    equals: Vec<([String; 2], String)>,
    /// For each pair in `differences` and `equals`: the names of the two joined rows, for the sentence that explains
    /// the script.
    #[serde(skip)]
    rows: Vec<[String; 2]>,
}

/// A column whose values are made of parts.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Code {
    column: String,
    pattern: String,
    /// Whether each part is one character of the value, turned into a number by its position in the alphabet.
    single: bool,
    /// The parts that are numbers: their positions in the pattern, and the columns that they become.
    numbers: Vec<(usize, String)>,
    /// The same of the parts that are texts.
    words: Vec<(usize, String)>,
    /// The kinds of the columns that the parts become.
    #[serde(skip)]
    gives: Columns,
}

/// The days from one date to another.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct DaysBetween {
    from: String,
    to: String,
    name: String,
}

/// The distance between two places, each given by a latitude and a longitude column.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct GeoDistance {
    from: [String; 2],
    to: [String; 2],
    /// The columns that it becomes: kilometres in a straight line, to the north and to the east.
    names: [String; 3],
}

impl DerivableColumns {
    /// What the training and the test table offer with these features. `excluded` columns have another role.
    pub(crate) fn new(
        profile: &Profile,
        test: &Table,
        columns: &Columns,
        excluded: impl Fn(&str) -> bool,
    ) -> Self {
        let train = &profile.train;
        // A later entry replaces an earlier one, so the counts of the training table come last.
        let given = test.columns.iter().chain(&train.columns);
        let given = given.map(|column| (column.name.clone(), (column.distinct, column.says_code))).collect();
        let mut left = MAX_CELLS / train.rows.max(test.rows).max(1);
        let is_name = |name: &&String| train.column(name).is_some_and(|column| column.names_things);
        let numbers: Vec<String> =
            columns.numeric.iter().filter(is_name).take(MAX_NAMES.min(left)).cloned().collect();
        left -= numbers.len();
        let looked = train.rows.min(INFERENCE_ROWS);
        let features = train.columns.iter().filter(|column| !excluded(&column.name));
        let codes = features.filter_map(|column| Code::new(column, test.column(&column.name)?, looked));
        let fits = |code: &Code| {
            let parts = code.names().count();
            let fits = parts <= left;
            left -= if fits { parts } else { 0 };
            fits
        };
        let codes = codes.filter(fits).take(MAX_CODES).collect();
        Self { codes, numbers, given }
    }

    /// Whether nothing can be computed.
    pub(crate) fn is_empty(&self) -> bool {
        self.codes.is_empty() && self.numbers.is_empty()
    }

    /// Keeps only what is computed from columns that `stays` accepts.
    pub(crate) fn retain(&mut self, stays: impl Fn(&String) -> bool) {
        self.codes.retain(|code| stays(&code.column));
        self.numbers.retain(stays);
    }

    /// Columns that may name things, with the number of their different values where that is known; first those whose kind or
    /// name says that they do.
    pub(crate) fn levels<'a>(&self, columns: &'a [String]) -> Vec<(&'a String, usize)> {
        let level = |name: &'a String| {
            let number = self.numbers.iter().find(|number| name_of(number) == *name);
            let (levels, _) = self.given.get(name).or_else(|| self.given.get(number?))?;
            let is_code = |number| self.given.get(number).is_some_and(|(_, says_code)| *says_code);
            Some((name, *levels, number.is_none_or(is_code)))
        };
        let mut found: Vec<_> = columns.iter().filter_map(level).collect();
        found.sort_by_key(|(_, levels, is_named)| (!is_named, Reverse(*levels)));
        found.into_iter().map(|(name, levels, _)| (name, levels)).collect()
    }

    /// What to compute if scripts have these columns of tables, and the kinds of the computed ones. `summarised` columns
    /// stand for several rows, so they are no places; `twins` are the same column of two rows of a table.
    pub(crate) fn derived(
        &self,
        columns: &Columns,
        summarised: &[String],
        twins: &[JoinPair<'_>],
    ) -> (Derived, Columns) {
        let mut taken: HashSet<String> = self.given.keys().chain(columns.all()).cloned().collect();
        // Each part of a script has all of its columns or none.
        let mut are_free = |names: &mut dyn Iterator<Item = &String>| {
            let names: Vec<String> = names.cloned().collect();
            let free = names.iter().all(|name| !taken.contains(name));
            taken.extend(names.into_iter().filter(|_| free));
            free
        };
        let mut gives = Columns::default();
        let codes: Vec<Code> =
            self.codes.iter().filter(|code| are_free(&mut code.names())).cloned().collect();
        codes.iter().for_each(|code| gives.append(&code.gives));
        let named = self.numbers.iter().map(|number| (number.clone(), name_of(number)));
        let names: Vec<_> = named.filter(|(_, name)| are_free(&mut iter::once(name))).collect();
        gives.many_levels.extend(names.iter().map(|(_, name)| name.clone()));
        let spans = pairs(&columns.dates).map(|(from, to)| DaysBetween::new(from, to));
        let spans: Vec<DaysBetween> = spans.filter(|span| are_free(&mut iter::once(&span.name))).collect();
        gives.numeric.extend(spans.iter().map(|span| span.name.clone()));
        let places = places(columns.numeric.iter().filter(|name| !summarised.contains(name)));
        let ways = pairs(&places).enumerate().map(|(at, (from, to))| GeoDistance::new(from, to, at));
        let ways: Vec<GeoDistance> = ways.filter(|way| are_free(&mut way.names.iter())).collect();
        gives.numeric.extend(ways.iter().flat_map(|way| way.names.iter().cloned()));
        let mut compared = |kinds: &[&Vec<String>], word: &str| -> Vec<([String; 2], String)> {
            let are_of =
                |kind: &&Vec<String>, pair: &[String; 2]| pair.iter().all(|name| kind.contains(name));
            let all = twins.iter().flat_map(|twins| &twins.columns);
            let all = all.filter(|pair| kinds.iter().any(|kind| are_of(kind, pair)));
            let named = all.map(|pair| (pair.clone(), pair.join(word)));
            named.filter(|(_, name)| are_free(&mut iter::once(name))).take(MAX_COMPARED).collect()
        };
        let differences = compared(&[&columns.numeric], "_minus_");
        let equals = compared(&[&columns.categorical, &columns.many_levels], "_is_");
        gives.numeric.extend(differences.iter().chain(&equals).map(|(_, name)| name.clone()));
        let has_some = |twins: &&JoinPair<'_>| {
            differences.iter().chain(&equals).any(|(pair, _)| twins.columns.contains(pair))
        };
        let mut rows: Vec<[String; 2]> = Vec::new();
        for names in twins.iter().filter(has_some).map(|twins| twins.names.map(str::to_owned)) {
            if !rows.contains(&names) {
                rows.push(names);
            }
        }
        (Derived { codes, names, spans, ways, differences, equals, rows }, gives)
    }
}

impl Derived {
    /// What is computed, in words.
    pub(crate) fn words(&self) -> impl Iterator<Item = String> {
        let codes = self.codes.iter().map(|code| format!("the parts of {}", code.column));
        let names = self.names.iter().map(|(number, _)| format!("{number} as a category, too"));
        let spans = self.spans.iter().map(|span| format!("the days from {} to {}", span.from, span.to));
        let ways = self.ways.iter().map(|way| format!("the way from {} to {}", way.from[0], way.to[0]));
        let compared = self.rows.iter().map(|[one, other]| format!("what {one} and {other} differ in"));
        codes.chain(names).chain(spans).chain(ways).chain(compared)
    }
}

/// The name of a column of numbers as texts.
fn name_of(number: &str) -> String {
    format!("{number}_name")
}

/// All pairs of the first items. The columns of the training table come before those of joined ones.
fn pairs<T>(items: &[T]) -> impl Iterator<Item = (&T, &T)> {
    let items = &items[..items.len().min(MAX_PAIRED)];
    items.iter().enumerate().flat_map(move |(at, one)| items[at + 1..].iter().map(move |other| (one, other)))
}

impl Code {
    fn new(column: &Column, twin: &Column, rows: usize) -> Option<Self> {
        let parts = column.parts.as_ref()?;
        // With many rows of each code, nothing is gained from its parts, unless they are numbers with a unit.
        if parts.kind != PartKind::Measured && column.distinct * ROWS_PER_CODE <= rows {
            return None;
        }
        // The test table may have too few values to show how they are made.
        let differs = twin.parts.as_ref().is_some_and(|other| other.pattern != parts.pattern);
        // A code with a single part that differs, such as `shop_12`, says no more than the whole.
        let fewest = if parts.kind == PartKind::Measured { 1 } else { 2 };
        if differs || parts.useful().count() < fewest {
            return None;
        }
        let mut gives = Columns::default();
        let (mut numbers, mut words) = (Vec::new(), Vec::new());
        let single = parts.kind == PartKind::Letters;
        for (at, part) in parts.useful() {
            let name = format!("{}_{}", column.name, part.name);
            let is_number = single || is_number(part);
            match is_number {
                true => gives.numeric.push(name.clone()),
                // Of parts that name each row, nothing can be learnt.
                false if is_nearly_unique(part, parts.values) => continue,
                // There may be more of them among the other values.
                false if column.distinct > parts.values => gives.many_levels.push(name.clone()),
                false => gives.add(name.clone(), part),
            }
            if is_number { &mut numbers } else { &mut words }.push((at, name));
        }
        if numbers.is_empty() && words.is_empty() {
            return None;
        }
        let (column, pattern) = (column.name.clone(), parts.pattern.clone());
        Some(Self { column, pattern, single, numbers, words, gives })
    }

    fn names(&self) -> impl Iterator<Item = &String> {
        self.numbers.iter().chain(&self.words).map(|(_, name)| name)
    }
}

impl DaysBetween {
    fn new(from: &str, to: &str) -> Self {
        Self { from: from.to_owned(), to: to.to_owned(), name: format!("{from}_to_{to}") }
    }
}

impl GeoDistance {
    fn new(from: &Place, to: &Place, at: usize) -> Self {
        let columns = |place: &Place| [place.latitude.clone(), place.longitude.clone()];
        let name =
            |what: &str| if at == 0 { format!("way_{what}") } else { format!("way_{}_{what}", at + 1) };
        Self { from: columns(from), to: columns(to), names: ["km", "north", "east"].map(name) }
    }
}
