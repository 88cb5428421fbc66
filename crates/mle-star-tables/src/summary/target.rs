//! The distribution of a column to predict.

use std::collections::HashMap;

use super::column::quantiles;
use super::words;
/// A target of whole numbers with at most so many values has classes.
const MOST_CLASSES: usize = 30;
use crate::profile::{Column, ColumnKind};

/// Distinct labels that are counted; rows with others are counted together.
const COUNTED: usize = 1_000;
/// Classes that are shown.
const SHOWN: usize = 12;
/// A class with fewer rows is small.
const SMALL: usize = 10;
/// A number is frequent if one in this many rows has it.
const FREQUENT: usize = 20;
/// From this skewness on, a logarithm may help.
const SKEWED: f64 = 1.0;
const SHARES: [f64; 7] = [0.0, 0.01, 0.25, 0.5, 0.75, 0.99, 1.0];

/// Classes whose shares are compared.
const COMPARED: usize = 50;
/// More whole numbers are compared by their mean, even if they could be classes.
const WHOLE: usize = 10;

/// What the labels are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// Numbers.
    Number,
    /// Classes, the most frequent first.
    Classes(Vec<String>),
}

/// The labels of the training rows.
pub(super) struct Labels {
    column: String,
    kind: ColumnKind,
    distinct: usize,
    rows: usize,
    missing: usize,
    counts: HashMap<String, usize>,
    /// Rows whose label is not counted.
    others: usize,
    characters: usize,
    sum: f64,
    zeros: usize,
    range: Option<(f64, f64)>,
    sampled: Vec<f64>,
}

impl Labels {
    /// No labels of this column so far.
    pub(super) fn new(column: &Column) -> Self {
        Self {
            column: column.name.clone(),
            kind: column.kind,
            distinct: column.distinct,
            rows: 0,
            missing: 0,
            counts: HashMap::new(),
            others: 0,
            characters: 0,
            sum: 0.0,
            zeros: 0,
            range: None,
            sampled: Vec::new(),
        }
    }

    /// The name of the column.
    pub(super) fn column(&self) -> &str {
        &self.column
    }

    /// Adds the label of a row.
    pub(super) fn take(&mut self, label: Option<&str>, is_sampled: bool) {
        let Some(label) = label else {
            self.missing += 1;
            return;
        };
        self.rows += 1;
        self.characters += label.len();
        if let Some(count) = self.counts.get_mut(label) {
            *count += 1;
        } else if self.counts.len() < COUNTED {
            self.counts.insert(label.to_owned(), 1);
        } else {
            self.others += 1;
        }
        if let Some(number) = label.parse().ok().filter(|number: &f64| number.is_finite()) {
            self.take_number(number, is_sampled);
        }
    }

    fn take_number(&mut self, number: f64, is_sampled: bool) {
        self.sum += number;
        self.zeros += usize::from(number == 0.0);
        let (low, high) = self.range.unwrap_or((number, number));
        self.range = Some((low.min(number), high.max(number)));
        if is_sampled {
            self.sampled.push(number);
        }
    }

    /// The distribution in one line.
    pub(super) fn line(&self) -> String {
        let name = words::name(&self.column);
        let rows = words::counted(self.rows, "row");
        let missing = match self.missing {
            0 => String::new(),
            missing => format!("; {} without a label", words::counted(missing, "row")),
        };
        let what = match self.kind {
            _ if self.is_measured() => self.numbers(),
            ColumnKind::Text => {
                format!("free text with {} characters on average", self.characters / self.rows.max(1))
            }
            _ => self.classes(),
        };
        format!("{name} ({rows}{missing}): {what}.")
    }

    /// What the labels are; `None` for texts, too many classes, or less than two labels.
    pub(super) fn meaning(&self) -> Option<Meaning> {
        let is_count = self.kind == ColumnKind::Integer && self.counts.len() > WHOLE;
        if self.is_measured() || is_count {
            return self.range.filter(|(low, high)| low < high).map(|_| Meaning::Number);
        }
        let is_compared = self.kind != ColumnKind::Text && (2..=COMPARED).contains(&self.counts.len());
        let classes = || self.by_frequency().into_iter().map(|(class, _)| class.clone()).collect();
        is_compared.then(|| Meaning::Classes(classes()))
    }

    fn is_measured(&self) -> bool {
        self.kind == ColumnKind::Float || self.kind == ColumnKind::Integer && self.distinct > MOST_CLASSES
    }

    /// The classes with their rows, the most frequent first.
    fn by_frequency(&self) -> Vec<(&String, &usize)> {
        let mut classes: Vec<(&String, &usize)> = self.counts.iter().collect();
        classes.sort_by(|a, b| b.1.cmp(a.1).then_with(|| a.0.cmp(b.0)));
        classes
    }

    fn classes(&self) -> String {
        let classes = self.by_frequency();
        let one = |(class, rows): &(&String, &usize)| {
            let rows = **rows;
            format!(
                "{} {} ({})",
                words::value(class),
                words::count(rows as u64),
                words::share(rows, self.rows)
            )
        };
        let shown: Vec<String> = classes.iter().map(one).collect();
        let more = if self.others > 0 { "more than " } else { "" };
        let small = classes.iter().filter(|(_, rows)| **rows < SMALL).count();
        let small = match small {
            0 => String::new(),
            small => format!("; {} with fewer than {SMALL} rows", words::count(small as u64)),
        };
        let number = words::count(classes.len() as u64);
        format!("{more}{number} classes: {}{small}", words::list(&shown, SHOWN))
    }

    fn numbers(&self) -> String {
        let mut sampled = self.sampled.clone();
        let (Some((low, high)), Some(mut at)) = (self.range, quantiles(&mut sampled, SHARES)) else {
            return "no numbers".to_owned();
        };
        (at[0], at[6]) = (low, high);
        let [low, first, quarter, median, three_quarters, last, high] = at.map(words::number);
        let mean = words::number(self.sum / self.rows.max(1) as f64);
        let few = match self.counts.len() {
            distinct if distinct <= MOST_CLASSES => format!("; {distinct} distinct values"),
            _ => String::new(),
        };
        format!(
            "minimum {low}, 1% {first}, 25% {quarter}, median {median}, 75% {three_quarters}, 99% {last}, maximum {high}; mean {mean}{few}{}{}{}",
            self.mode(),
            self.zeros(),
            skew(&sampled)
        )
    }

    /// How many rows are zero, if they are few: to metrics of relative errors, each of them matters.
    fn zeros(&self) -> String {
        match self.zeros {
            0 => String::new(),
            zeros if zeros * FREQUENT >= self.rows => String::new(),
            zeros => format!("; 0 in {} rows", words::count(zeros as u64)),
        }
    }

    /// The most frequent number, if many rows have it.
    fn mode(&self) -> String {
        let mode = self.counts.iter().max_by(|a, b| a.1.cmp(b.1).then_with(|| b.0.cmp(a.0)));
        match mode.filter(|(_, rows)| **rows * FREQUENT >= self.rows) {
            Some((label, rows)) => {
                format!("; {} are {}", words::share(*rows, self.rows), words::plain(label, 20))
            }
            None => String::new(),
        }
    }
}

/// The skewness, and that of the logarithms if they may help.
fn skew(numbers: &[f64]) -> String {
    let Some(skewness) = skewness(numbers) else { return String::new() };
    let helps = skewness >= SKEWED && numbers.iter().all(|number| *number >= 0.0);
    let of_logs = || self::skewness(&numbers.iter().map(|number| number.ln_1p()).collect::<Vec<f64>>());
    match helps.then(of_logs).flatten() {
        Some(of_logs) => format!("; skewness {skewness:.1}, after log1p {of_logs:.1}"),
        None => format!("; skewness {skewness:.1}"),
    }
}

/// The third standardized moment; `None` if all numbers are equal.
fn skewness(numbers: &[f64]) -> Option<f64> {
    let count = numbers.len() as f64;
    let mean = numbers.iter().sum::<f64>() / count;
    let moment = |power: i32| numbers.iter().map(|number| (number - mean).powi(power)).sum::<f64>() / count;
    let deviation = moment(2).sqrt();
    (deviation > 0.0).then(|| moment(3) / deviation.powi(3)).filter(|skewness| skewness.is_finite())
}
