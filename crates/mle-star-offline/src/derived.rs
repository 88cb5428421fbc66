//! Columns that scripts compute from others in their section `Data`, row by row, before anything is learnt: the parts of
//! codes, numbers as names, days between dates, and ways between places.
//!
//! Models could not find any of this with a few splits. It depends on names and forms of values alone, never on targets.

use serde::Serialize;

use crate::problem::{Columns, is_nearly_unique};
use mle_star_data::keys::names_things;
use mle_star_data::places::{Place, places};
use mle_star_data::profile::{Column, Profile, Table};

/// With more dates or places, there would be too many pairs.
const MOST_IN_PAIRS: usize = 4;
/// More numbers than this would slow models down.
const MOST_NAMES: usize = 8;

/// What a table offers: columns that others can be computed from.
#[derive(Clone, Debug, Default)]
pub(crate) struct Offered {
    codes: Vec<Code>,
    /// Numbers that only name something.
    numbers: Vec<(String, Column)>,
    /// Every name that the tables use.
    taken: Vec<String>,
}

/// The computed columns of a script.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Derived {
    codes: Vec<Code>,
    /// Columns of numbers, and of the same as texts.
    names: Vec<(String, String)>,
    spans: Vec<Span>,
    ways: Vec<Way>,
}

/// A column whose values are made of parts.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Code {
    column: String,
    pattern: String,
    /// Whether the parts are letters in an order.
    single: bool,
    /// The parts by their positions in the pattern, with the columns that they become.
    numbers: Vec<(usize, String)>,
    words: Vec<(usize, String)>,
    #[serde(skip)]
    gives: Columns,
}

/// The days from one date to another.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Span {
    from: String,
    to: String,
    name: String,
}

/// The way from one place to another.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Way {
    from: [String; 2],
    to: [String; 2],
    /// The columns that it becomes: kilometres in a straight line, to the north and to the east.
    names: [String; 3],
}

impl Offered {
    /// What the training and the test table offer with these features. `excluded` columns have another role.
    pub(crate) fn new(
        profile: &Profile,
        test: &Table,
        columns: &Columns,
        excluded: impl Fn(&str) -> bool,
    ) -> Self {
        let train = &profile.train;
        let taken = train.columns.iter().chain(&test.columns).map(|column| column.name.clone()).collect();
        let features = train.columns.iter().filter(|column| !excluded(&column.name));
        let codes = features.filter_map(|column| Code::new(column, test.column(&column.name)?)).collect();
        let number = |name: &String| {
            let column = train.column(name).filter(|column| names_things(column, train.rows))?;
            Some((name.clone(), column.clone()))
        };
        let numbers = columns.numeric.iter().filter_map(number).take(MOST_NAMES).collect();
        Self { codes, numbers, taken }
    }

    /// Whether nothing can be computed.
    pub(crate) fn is_empty(&self) -> bool {
        self.codes.is_empty() && self.numbers.is_empty()
    }

    /// Without what is computed from other columns than these.
    pub(crate) fn retain(&mut self, stays: impl Fn(&String) -> bool) {
        self.codes.retain(|code| stays(&code.column));
        self.numbers.retain(|(number, _)| stays(number));
    }

    /// The columns to compute if scripts have these, and the kinds of the computed ones.
    pub(crate) fn derived(&self, columns: &Columns) -> (Derived, Columns) {
        let mut gives = Columns::default();
        let is_free = |name: &String| !self.taken.contains(name);
        let codes = self.codes.iter().filter(|code| code.names().all(is_free)).cloned().collect::<Vec<_>>();
        codes.iter().for_each(|code| gives.append(&code.gives));
        let mut names = Vec::new();
        for (number, column) in &self.numbers {
            let name = format!("{number}_name");
            if is_free(&name) {
                gives.many_levels.push(name.clone());
                names.push((column.name.clone(), name));
            }
        }
        let spans: Vec<Span> = pairs(&columns.dates)
            .map(|(from, to)| Span::new(from, to))
            .filter(|span| is_free(&span.name))
            .collect();
        gives.numeric.extend(spans.iter().map(|span| span.name.clone()));
        let places = places(&columns.numeric);
        let ways: Vec<Way> = pairs(&places)
            .enumerate()
            .map(|(at, (from, to))| Way::new(from, to, at))
            .filter(|way| way.names.iter().all(is_free))
            .collect();
        gives.numeric.extend(ways.iter().flat_map(|way| way.names.iter().cloned()));
        (Derived { codes, names, spans, ways }, gives)
    }
}

/// All pairs of a few items; none of many.
fn pairs<T>(items: &[T]) -> impl Iterator<Item = (&T, &T)> {
    let items = if items.len() > MOST_IN_PAIRS { &[] } else { items };
    items.iter().enumerate().flat_map(move |(at, one)| items[at + 1..].iter().map(move |other| (one, other)))
}

impl Code {
    fn new(column: &Column, twin: &Column) -> Option<Self> {
        let parts = column.parts.as_ref()?;
        // The test table may have too few values to show how they are made.
        if twin.parts.as_ref().is_some_and(|other| other.pattern != parts.pattern)
            || parts.useful().count() < 2
        {
            return None;
        }
        let mut gives = Columns::default();
        let (mut numbers, mut words) = (Vec::new(), Vec::new());
        for (at, part) in parts.useful() {
            let name = format!("{}_{}", column.name, part.name);
            let is_number = parts.single || part.kind.is_number();
            match is_number {
                true => gives.numeric.push(name.clone()),
                // Of parts that name each row, nothing can be learnt.
                false if is_nearly_unique(part, column.distinct) => continue,
                false => gives.add(name.clone(), part),
            }
            if is_number { &mut numbers } else { &mut words }.push((at, name));
        }
        let (pattern, single) = (parts.pattern.clone(), parts.single);
        Some(Self { column: column.name.clone(), pattern, single, numbers, words, gives })
    }

    fn names(&self) -> impl Iterator<Item = &String> {
        self.numbers.iter().chain(&self.words).map(|(_, name)| name)
    }
}

impl Span {
    fn new(from: &str, to: &str) -> Self {
        Self { from: from.to_owned(), to: to.to_owned(), name: format!("{from}_to_{to}") }
    }
}

impl Way {
    fn new(from: &Place, to: &Place, at: usize) -> Self {
        let columns = |place: &Place| [place.latitude.clone(), place.longitude.clone()];
        let name =
            |what: &str| if at == 0 { format!("way_{what}") } else { format!("way_{}_{what}", at + 1) };
        Self { from: columns(from), to: columns(to), names: ["km", "north", "east"].map(name) }
    }
}
