//! How the target differs between the levels of a category, between rows with and without a value, and between the fifths of
//! a number: the columns for which it differs most, with standard errors.
//!
//! The training rows of the search alone are looked at, a sample of many. A column is told only if the difference is larger than
//! chance explains among as many columns.

use std::collections::HashMap;
use std::io;

use csv::ByteRecord;

use super::columns::is_feature;
use super::effects::{Mean, Outcomes, Strength};
use super::tables::Sample;
use super::target::{Labels, Meaning};
use super::{Asked, section, words};
use crate::column_names::says_key;
use crate::missing::Words;
use crate::profile::{Column, ColumnKind, Profile};
use crate::records::value;

/// Rows that are looked at, at most; fewer in wide tables.
const ROWS: u64 = 50_000;
const FEWEST_ROWS: u64 = 2_000;
const CELLS: u64 = 6_000_000;
/// Columns that are looked at, the first ones.
const COLUMNS: usize = 2_000;
/// Columns that are told.
const TOLD: usize = 8;
/// With fewer rows, nothing is told.
const FEWEST: usize = 50;
/// A level with fewer rows is one of the rare ones, which are looked at together.
const RARE: usize = 10;
/// Whole numbers with at most so many different values are levels.
const LEVELS: usize = 12;
/// Levels that are told, if there are more.
const SHOWN: usize = 5;
/// Levels that are told if none of many is far from all rows.
const FREQUENT: usize = 3;
/// A number is cut into so many parts with as many rows.
const PARTS: usize = 5;
/// With a smaller share of the variance, a column is not told.
const NOTABLE: f64 = 0.001;

/// A column while rows are read.
struct Read<'a> {
    column: &'a Column,
    at: usize,
    words: Words,
    cells: Cells,
}

/// The cells of a column.
enum Cells {
    /// The numbers of levels, by their texts; `None` is missing.
    Levels(HashMap<String, usize>, Vec<Option<usize>>),
    /// Not a number is missing.
    Numbers(Vec<f64>),
    /// Whether there is a value.
    Presence(Vec<bool>),
}

/// The rows of a column in groups.
struct Grouped {
    /// The group of each row.
    groups: Vec<usize>,
    names: Vec<String>,
    /// Whether the groups have an order, so that all are told.
    ordered: bool,
    /// The group of the rare levels or of the rows without a value, which are told last.
    rest: Vec<usize>,
}

/// A column for which the target differs.
struct Found<'a> {
    column: &'a Column,
    strength: Strength,
    grouped: Grouped,
}

/// The columns for which the target differs most, in a section with at most `room` characters; empty if nothing can be told.
///
/// # Errors
/// The training table cannot be read.
pub(super) fn relations(
    asked: &Asked<'_>,
    profile: &Profile,
    labels: Option<&Labels>,
    room: usize,
) -> io::Result<String> {
    let Some((labels, meaning)) = labels.and_then(|labels| Some((labels, labels.meaning()?))) else {
        return Ok(String::new());
    };
    let columns = candidates(asked, profile);
    let (outcomes, read, all) = read(profile, (labels.column(), &meaning), &columns)?;
    let Some(outcomes) = outcomes.filter(|_| !read.is_empty()) else { return Ok(String::new()) };
    let tested = read.len();
    let rows = outcomes.values[0].len();
    let mut found: Vec<Found<'_>> =
        read.into_iter().filter_map(|column| Found::of(column, &outcomes, tested)).collect();
    found.sort_by(|a, b| b.strength.share.total_cmp(&a.strength.share));
    let target = words::name(labels.column());
    let mut lines = vec![legend(&target, &outcomes, (rows as u64, all), asked)];
    if found.is_empty() {
        let count = words::count(tested as u64);
        lines.push(format!("- No column of {count} alone tells {target} beyond chance"));
    }
    lines.extend(found.iter().take(TOLD).map(|found| found.line(&outcomes)));
    if found.len() > TOLD {
        lines.push(format!("- and {} more, each weaker", words::count((found.len() - TOLD) as u64)));
    }
    let fitting = words::fit(&lines[1..], room.saturating_sub(lines[0].chars().count() + 40));
    let lines: Vec<String> = lines[..1].iter().cloned().chain([String::new()]).chain(fitting).collect();
    Ok(section("Target by column", &lines, room + 40))
}

/// The columns that a model could use: features that the test table has, too.
fn candidates<'a>(asked: &Asked<'_>, profile: &'a Profile) -> Vec<&'a Column> {
    let in_test =
        |column: &Column| profile.test.as_ref().is_none_or(|test| test.column(&column.name).is_some());
    let targets = asked.targets(profile);
    let is_target = |column: &Column| targets.iter().any(|target| target.name == column.name);
    let columns = profile.train.columns.iter().filter(|column| !is_target(column));
    columns.filter(|column| is_feature(asked, profile, column) && in_test(column)).take(COLUMNS).collect()
}

/// The labels and the cells of sampled rows, and the number of all training rows.
fn read<'a>(
    profile: &Profile,
    (target, meaning): (&str, &Meaning),
    columns: &[&'a Column],
) -> io::Result<(Option<Outcomes>, Vec<Read<'a>>, u64)> {
    let train = profile.tables.train()?;
    let all = train.rows();
    let most = (CELLS / (columns.len() as u64).max(1)).clamp(FEWEST_ROWS, ROWS);
    let sample = Sample::of(all, most);
    let sampled: Vec<u64> = (0..all).filter(|row| sample.has(*row)).collect();
    let is_constant =
        |column: &&Column| column.distinct < 2 && column.missing == 0 || column.kind == ColumnKind::Empty;
    let mut read: Vec<Read<'a>> = columns
        .iter()
        .filter(|column| !is_constant(column))
        .filter_map(|column| {
            let at = train.find(&column.name)?;
            Some(Read { column, at, words: train.kept(at), cells: Cells::of(column, profile.train.rows) })
        })
        .collect();
    let (at, mut numbers, mut classes) = (train.position(target)?, Vec::new(), Vec::new());
    let kept = train.kept(at);
    train.picked(sampled, |picked| {
        while let Some((_, row)) = picked.next()? {
            let taken = value(row, at, kept).is_some_and(|label| match meaning {
                Meaning::Number => {
                    let number = label.parse::<f64>().ok().filter(|number| number.is_finite());
                    numbers.extend(number);
                    number.is_some()
                }
                Meaning::Classes(names) => {
                    let class = names.iter().position(|name| name == label);
                    classes.extend(class);
                    class.is_some()
                }
            });
            if taken {
                read.iter_mut().for_each(|column| column.take(row));
            }
        }
        Ok(())
    })?;
    let outcomes = match meaning {
        Meaning::Number if numbers.len() >= FEWEST => Some(Outcomes::of_numbers(numbers)),
        Meaning::Classes(names) if classes.len() >= FEWEST => {
            let told = (names.len() == 2).then(|| positive(names));
            Some(Outcomes::of_classes(&classes, names, told))
        }
        _ => None,
    };
    Ok((outcomes, read, all))
}

/// Of two classes, the most frequent first, the one whose share is told: the one that means yes, else the rarer one.
pub(super) fn positive(classes: &[String]) -> usize {
    const YES: [&str; 5] = ["1", "yes", "true", "y", "t"];
    classes.iter().position(|class| YES.contains(&class.to_lowercase().as_str())).unwrap_or(1)
}

/// What the lines tell.
fn legend(target: &str, outcomes: &Outcomes, (rows, all): (u64, u64), asked: &Asked<'_>) -> String {
    let (what, variance) = match outcomes.classes.as_slice() {
        [] => (format!("Mean of {target} (all rows {})", mean_of_all(outcomes)), "variance of its ranks"),
        [class] => {
            let class = words::value(class);
            (format!("Share of {target} = {class} (all rows {})", mean_of_all(outcomes)), "variance")
        }
        _ => ("Share of the class that differs most".to_owned(), "variance of the classes"),
    };
    let sampled = if rows < all { format!(", of {} rows", words::count(rows)) } else { String::new() };
    let as_if = match asked.split.is_some_and(|split| split.column.is_some()) {
        true => " as if rows were independent",
        false => "",
    };
    format!(
        "{what} by level, or by fifth of a number up to its largest value, ± standard error{as_if}{sampled}. In brackets: the part of the {variance} that the column explains alone, beyond chance. What can be chance among so many columns is left out."
    )
}

fn mean_of_all(outcomes: &Outcomes) -> String {
    let is_share = !outcomes.classes.is_empty();
    let groups = vec![0; outcomes.values[0].len()];
    outcomes.means(0, &groups).first().map_or_else(String::new, |mean| mean.words(is_share))
}

impl Read<'_> {
    fn take(&mut self, row: &ByteRecord) {
        let text = value(row, self.at, self.words);
        match &mut self.cells {
            Cells::Presence(cells) => cells.push(text.is_some()),
            Cells::Numbers(cells) => cells.push(text.and_then(|text| text.parse().ok()).unwrap_or(f64::NAN)),
            Cells::Levels(levels, cells) => {
                let next = levels.len();
                cells.push(text.map(|text| match levels.get(text) {
                    Some(level) => *level,
                    None => *levels.entry(text.to_owned()).or_insert(next),
                }));
            }
        }
    }
}

impl Cells {
    /// No cells of this column so far, of a table with this many rows.
    fn of(column: &Column, rows: usize) -> Self {
        let repeats = column.distinct * 3 <= rows;
        match column.kind {
            ColumnKind::Integer if column.distinct <= LEVELS => Self::Levels(HashMap::new(), Vec::new()),
            ColumnKind::Integer if repeats && says_key(&column.name) => {
                Self::Levels(HashMap::new(), Vec::new())
            }
            ColumnKind::Integer | ColumnKind::Float => Self::Numbers(Vec::new()),
            ColumnKind::Boolean => Self::Levels(HashMap::new(), Vec::new()),
            ColumnKind::Category if repeats => Self::Levels(HashMap::new(), Vec::new()),
            _ => Self::Presence(Vec::new()),
        }
    }

    fn grouped(self, ordered: bool) -> Grouped {
        match self {
            Self::Levels(levels, cells) => Grouped::of_levels(levels, &cells, ordered),
            Self::Numbers(cells) => Grouped::of_numbers(&cells),
            Self::Presence(cells) => Grouped {
                groups: cells.iter().map(|is_there| usize::from(!is_there)).collect(),
                names: vec!["there".to_owned(), "missing".to_owned()],
                ordered: true,
                rest: vec![1],
            },
        }
    }
}

impl Grouped {
    /// The levels with enough rows, the others together, and the rows without one.
    fn of_levels(levels: HashMap<String, usize>, cells: &[Option<usize>], ordered: bool) -> Self {
        let mut rows = vec![0_usize; levels.len()];
        cells.iter().flatten().for_each(|level| rows[*level] += 1);
        let mut names: Vec<(String, usize)> = levels.into_iter().collect();
        let number = |text: &str| text.parse::<f64>().unwrap_or(f64::INFINITY);
        match ordered {
            true => names.sort_by(|a, b| number(&a.0).total_cmp(&number(&b.0)).then_with(|| a.0.cmp(&b.0))),
            false => names.sort_by(|a, b| rows[b.1].cmp(&rows[a.1]).then_with(|| a.0.cmp(&b.0))),
        }
        let common: Vec<&(String, usize)> = names.iter().filter(|(_, level)| rows[*level] >= RARE).collect();
        let mut told: Vec<String> = common.iter().map(|(name, _)| words::value(name)).collect();
        let rare = names.len() - common.len();
        let mut group_of = vec![told.len(); names.len()];
        common.iter().enumerate().for_each(|(at, (_, level))| group_of[*level] = at);
        let mut rest = Vec::new();
        if rare > 0 {
            rest.push(told.len());
            told.push(format!("{} with fewer than {RARE} rows", words::counted(rare, "level")));
        }
        let missing = told.len();
        if cells.iter().any(Option::is_none) {
            rest.push(missing);
            told.push("missing".to_owned());
        }
        let groups = cells.iter().map(|cell| cell.map_or(missing, |level| group_of[level])).collect();
        Self { groups, names: told, ordered, rest }
    }

    /// Parts with about as many rows, and the rows without a number.
    fn of_numbers(cells: &[f64]) -> Self {
        let mut sorted: Vec<f64> = cells.iter().copied().filter(|cell| !cell.is_nan()).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let cut = |part: usize| sorted.get((sorted.len() * part).div_ceil(PARTS).saturating_sub(1)).copied();
        let mut cuts: Vec<f64> = (1..=PARTS).filter_map(cut).collect();
        cuts.dedup();
        let mut names: Vec<String> = cuts.iter().map(|cut| format!("≤{}", words::number(*cut))).collect();
        let missing = names.len();
        let mut rest = Vec::new();
        if sorted.len() < cells.len() {
            rest.push(missing);
            names.push("missing".to_owned());
        }
        let part = |cell: &f64| match cell.is_nan() {
            true => missing,
            false => cuts.partition_point(|cut| cut < cell).min(missing.saturating_sub(1)),
        };
        Self { groups: cells.iter().map(part).collect(), names, ordered: true, rest }
    }
}

impl<'a> Found<'a> {
    /// The column, if it tells the target beyond what chance does among so many columns.
    fn of(read: Read<'a>, outcomes: &Outcomes, tested: usize) -> Option<Self> {
        // Few numbers have an order; keys have none.
        let grouped = read.cells.grouped(read.column.kind.is_number() && read.column.distinct <= LEVELS);
        let strength = outcomes.explained(&grouped.groups)?;
        let is_told = strength.beyond >= by_chance(tested) && strength.share >= NOTABLE;
        is_told.then_some(Self { column: read.column, strength, grouped })
    }

    fn line(&self, outcomes: &Outcomes) -> String {
        let Self { strength, grouped, .. } = self;
        let is_share = !outcomes.classes.is_empty();
        let means = outcomes.means(strength.most, &grouped.groups);
        let one = |group: &usize| match means.get(*group).filter(|mean| mean.rows >= RARE) {
            Some(mean) => Some(format!("{} {}", grouped.names.get(*group)?, mean.words(is_share))),
            None => None,
        };
        let levels: Vec<usize> = (0..means.len()).filter(|group| !grouped.rest.contains(group)).collect();
        let shown = match grouped.ordered || levels.len() <= SHOWN + 1 {
            true => levels.clone(),
            false => self.chosen(outcomes, &levels, &means),
        };
        let others: Vec<usize> = levels.iter().copied().filter(|level| !shown.contains(level)).collect();
        let mut parts: Vec<String> = shown.iter().filter_map(one).collect();
        if !others.is_empty() {
            let mean = self.together(outcomes, &others);
            let mean = mean.map_or_else(String::new, |mean| format!(" {}", mean.words(is_share)));
            parts.push(format!("{}{mean}", words::counted(others.len(), "other level")));
        }
        parts.extend(grouped.rest.iter().filter_map(one));
        let class = match outcomes.classes.as_slice() {
            [] | [_] => String::new(),
            classes => classes
                .get(strength.most)
                .map_or_else(String::new, |class| format!(" {}", words::value(class))),
        };
        let share = words::percent(strength.share);
        format!("- {} ({share}){class}: {}", words::name(&self.column.name), parts.join(", "))
    }

    /// Of many levels, those that are farther from all rows than chance takes one of so many, from the lowest mean to the highest;
    /// the most frequent ones if there are fewer than two.
    fn chosen(&self, outcomes: &Outcomes, levels: &[usize], means: &[Mean]) -> Vec<usize> {
        let distances = outcomes.distances(self.strength.most, &self.grouped.groups);
        let far = |level: &usize| distances.get(*level).map_or(0.0, |far| far.abs());
        let mut chosen: Vec<usize> =
            levels.iter().copied().filter(|level| far(level) >= by_chance(levels.len())).collect();
        if chosen.len() < 2 {
            // Levels come by their frequency.
            return levels.iter().copied().take(FREQUENT).collect();
        }
        chosen.sort_by(|a, b| far(b).total_cmp(&far(a)));
        chosen.truncate(SHOWN);
        chosen.sort_by(|a, b| means[*a].mean.total_cmp(&means[*b].mean));
        chosen
    }

    /// The mean of several groups.
    fn together(&self, outcomes: &Outcomes, groups: &[usize]) -> Option<Mean> {
        let mut is_joined = vec![0; self.grouped.names.len()];
        groups.iter().for_each(|group| is_joined[*group] = 1);
        let joined: Vec<usize> = self.grouped.groups.iter().map(|group| is_joined[*group]).collect();
        outcomes.means(self.strength.most, &joined).get(1).copied()
    }
}

/// What the strongest of so many columns that tell nothing reaches by chance in one of a hundred tables, in standard errors; an upper bound.
fn by_chance(columns: usize) -> f64 {
    (2.0 * (100.0 * columns as f64).ln()).sqrt()
}
