//! Words around the name of a metric that change it.

use std::ops::Range;

use crate::metrics::{Kind, Metric};

use super::super::formula;
use super::super::sentence::{Sentence, Word, among};
use super::contrast::ends_clause;
use super::mention::{Mention, is_one_name, joined};
use super::vocabulary::{BOUNDARIES, HARMLESS, HEADS, LOGS, METRIC_WORDS, NOT_LOGS, TRANSFORMS};

/// What changes a metric, in a common form, for example `log`, `weighted`, `at 3`, `per group`.
pub(super) type Modifiers = Vec<String>;

/// How far words after a metric belong to it.
const REACH: usize = 14;

const ROWS: &str = "row rows sample samples example examples observation observations instance instances image images \
    document documents item items record records test data id ids prediction predictions case cases \
    point points entry entries event events";
const CLASSES: &str = "class classes label labels category categories";
const COLUMNS: &str = "column columns target targets output outputs variable variables quantity quantities dimension \
    dimensions property properties";

/// What changes a metric, and where its noun phrase begins and ends.
pub(super) struct Around {
    pub(super) modifiers: Modifiers,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// The words around a metric that change it. `alias` is the same metric behind it in brackets; `stop` is where another
/// one begins.
pub(super) fn around(sentence: &Sentence, mention: &Mention, alias: Option<&Mention>, stop: usize) -> Around {
    let words = &sentence.words;
    let (start, mut modifiers) = before(words, mention);
    let stop = stop.min(words.len());
    let from = words[mention.end - 1].at;
    let formula = mention.metric.and_then(|metric| formula::in_code(&sentence.text, from, metric));
    let explained = match formula {
        // The metric's own formula, and what is said behind a colon before it, only explain the name.
        Some((code, true)) => {
            sentence.text[from..code.start].find(':').map_or(code.start, |at| from + at)..code.end
        }
        Some((_, false)) => {
            modifiers.push("in a formula".to_owned());
            0..0
        }
        None => 0..0,
    };
    let (end, after) = after(words, mention, alias, (stop, &explained));
    modifiers.extend(after);
    modifiers.sort();
    modifiers.dedup();
    Around { modifiers, start, end }
}

/// Words of the noun phrase to the left, and a number made of the metric, as in `the logarithm of the RMSE`.
fn before(words: &[Word], mention: &Mention) -> (usize, Modifiers) {
    let mut start = mention.start;
    let mut modifiers = Vec::new();
    while start > 0 && is_one_name(&words[start - 1..=start]) {
        let word = words[start - 1].text.as_str();
        if among(BOUNDARIES, word) && !(word == "mean" && start > 1) {
            break;
        }
        start -= 1;
    }
    // "Per-class accuracy", "each row's F1".
    let of_each = (start > 0).then(|| words[start - 1].text.as_str());
    if of_each.is_some_and(|word| matches!(word, "per" | "each" | "every")) && start < mention.start {
        start -= 1;
        let is_of_rows = among(ROWS, words[start + 1].text.as_str()) && mention.metric == Some(Metric::F1);
        modifiers.push(if is_of_rows {
            "sample averaged".to_owned()
        } else {
            joined(&words[start..mention.start])
        });
    }
    let phrase = &words[start..mention.start];
    let changing: Vec<&str> =
        phrase.iter().filter(|word| !is_harmless(word, mention)).map(|word| word.text.as_str()).collect();
    if !changing.is_empty() && modifiers.is_empty() {
        modifiers.push(in_common_form(&changing.join(" ")));
    }
    if is_in_formula(words, mention.start) {
        modifiers.push("in a formula".to_owned());
    }
    if let Some((at, transform)) = transform(words, start) {
        start = at;
        modifiers.push(transform);
    }
    (start, modifiers)
}

/// `1 - RMSE`, `0.5*AUC`, but not `Metric - RMSE`.
fn is_in_formula(words: &[Word], start: usize) -> bool {
    let Some(last) = start.checked_sub(1).map(|at| words[at].text.as_str()) else { return false };
    let before = words[start].before.as_str();
    let is_number = last.parse::<f64>().is_ok();
    match before.trim() {
        // "With -RMSE" is one, too.
        "-" | "−" if before.starts_with(' ') && !before.ends_with(' ') => true,
        "-" | "−" => is_number || before.contains(' ') && among(HEADS, last) && !among(METRIC_WORDS, last),
        "*" | "×" | "+" | "/" | "·" => is_number || before.contains(' '),
        _ => false,
    }
}

fn is_harmless(word: &Word, mention: &Mention) -> bool {
    let text = word.text.as_str();
    // `mean` changes nothing, except for F1; `root` changes a metric that is already known.
    let is_mean = matches!(text, "mean" | "average" | "averaged");
    (among(HARMLESS, text)
        && !(text == "root" && mention.metric.is_some())
        && !(is_mean && mention.metric == Some(Metric::F1)))
        || text.parse::<u32>().is_ok_and(|number| number == 1)
}

fn in_common_form(text: &str) -> String {
    match text {
        "normalised" | "normalized" => "normalized".to_owned(),
        "log" | "logarithmic" | "logarithm" | "log transformed" | "log scale" | "log scaled" | "logged"
        | "logarithmic scale" => "log".to_owned(),
        "columnwise" | "column wise" | "per column" => "column wise".to_owned(),
        "macro" | "macro averaged" | "macro average" | "macroaveraged" => "macro".to_owned(),
        "micro" | "micro averaged" | "micro average" | "microaveraged" => "micro".to_owned(),
        "samplewise" | "sample wise" | "sample averaged" | "row wise" | "example based" | "samples"
        | "instance wise" => "sample averaged".to_owned(),
        "averaged" | "average" => "mean".to_owned(),
        other => other.strip_suffix(" averaged").unwrap_or(other).to_owned(),
    }
}

/// `the logarithm of the RMSE`, `one minus the accuracy`, `a modified version of AUC`.
fn transform(words: &[Word], start: usize) -> Option<(usize, String)> {
    const ARTICLES: &str = "the a an its their these";
    let text = |at: usize| words.get(at).map_or("", |word| word.text.as_str());
    let mut at = start;
    while at > 0
        && (among(ARTICLES, text(at - 1)) || matches!(text(at - 1), "two" | "three" | "both" | "all" | "per"))
    {
        at -= 1;
    }
    if at > 0 && matches!(text(at - 1), "minus" | "plus" | "times") {
        let from = at.saturating_sub(2);
        return Some((from, format!("{} {}", text(from), text(at - 1)).trim().to_owned()));
    }
    if at < 2 || text(at - 1) != "of" {
        return None;
    }
    let (mut from, noun) = (at - 2, text(at - 2));
    let adjective = from.checked_sub(1).map_or("", text);
    let is_changed = among(
        "weighted geometric harmonic square natural custom modified special scaled adjusted normalized normalised trimmed macro micro power",
        adjective,
    );
    let is_number = matches!(noun, "mean" | "average" | "version" | "form" | "variation" | "value");
    if !(among(TRANSFORMS, noun) || is_number && is_changed) {
        return None;
    }
    if is_changed {
        from -= 1;
    }
    Some((from, format!("{} of", joined(&words[from..=at - 2]))))
}

/// Words to the right, up to the end of the clause or `stop`, without those in the `explained` part of the sentence.
fn after(
    words: &[Word],
    mention: &Mention,
    alias: Option<&Mention>,
    (stop, explained): (usize, &Range<usize>),
) -> (usize, Modifiers) {
    let right = Right { words, mention, stop };
    let (mut end, mut modifiers) = (mention.end, Vec::new());
    for at in mention.end..words.len().min(stop).min(mention.end + REACH + explained.len()) {
        if words[at].before.contains(';') || is_explanation(words, at) {
            break;
        }
        if alias.is_some_and(|alias| (alias.start..alias.end).contains(&at))
            || explained.contains(&words[at].at)
        {
            continue;
        }
        for (modifier, until) in right.found(at) {
            modifiers.push(modifier);
            end = end.max(until);
        }
    }
    (end, modifiers)
}

/// The words to the right of a metric.
struct Right<'a> {
    words: &'a [Word],
    mention: &'a Mention,
    /// Where another metric begins.
    stop: usize,
}

/// What changes a metric, and the word after it.
type Found = Option<(String, usize)>;

impl Right<'_> {
    fn found(&self, at: usize) -> impl Iterator<Item = (String, usize)> {
        let rules = [
            self.level(at),
            self.logarithm(at),
            self.weights(at),
            self.average(at),
            self.other_errors(at),
            self.change(at),
            self.limit(at),
            self.operator(at),
        ];
        rules.into_iter().flatten()
    }

    fn text(&self, at: usize) -> &str {
        self.words.get(at).filter(|_| at < self.stop).map_or("", |word| word.text.as_str())
    }

    /// Words between the metric and this one.
    fn distance(&self, at: usize) -> usize {
        at - self.mention.end
    }

    fn is_bracket(&self, at: usize) -> bool {
        self.words.get(at).is_some_and(|word| word.before.contains(['(', '[']))
    }

    /// `at 3`.
    fn level(&self, at: usize) -> Found {
        let is_at = self.text(at) == "at" && self.distance(at) == 0;
        let (level, until) = is_at.then(|| level(self.words, at + 1, self.stop)).flatten()?;
        Some((format!("at {level}"), until))
    }

    /// `between the logarithms`.
    fn logarithm(&self, at: usize) -> Found {
        let next = self.text(at + 1);
        let is_new = among(LOGS, self.text(at))
            && !matches!(next, "loss" | "likelihood" | "odds")
            && !is_without(self.words, at)
            && !is_logarithmic(self.mention.metric);
        // Whether log returns are what is predicted, or the logarithms of it, is open.
        let log = match self.text(at) {
            "log" if matches!(next, "10" | "2" | "base") => "log10".to_owned(),
            log @ ("log10" | "log2") => log.to_owned(),
            _ if among(NOT_LOGS, next) => format!("log {next}"),
            _ => "log".to_owned(),
        };
        is_new.then_some((log, at + 1))
    }

    /// `weighted by sales`, `with quadratic weights`.
    fn weights(&self, at: usize) -> Found {
        let is_weight = matches!(self.text(at), "weighted" | "weights" | "weighting" | "weighs" | "weight");
        if !is_weight || is_without(self.words, at) || !is_weighting(self.words, at) {
            return None;
        }
        let is_quadratic =
            self.words[self.mention.end..at].iter().any(|word| word.text.starts_with("quadratic"));
        Some((if is_quadratic { "quadratic" } else { "weighted" }.to_owned(), at + 1))
    }

    /// `averaged over the columns`, `per store`, `macro`, `sample-averaged`.
    fn average(&self, at: usize) -> Found {
        // "Mean column-wise AUC: the average of the AUCs of each column" explains the name.
        let is_of_columns = matches!(
            self.mention.metric,
            Some(Metric::ColumnRocAuc | Metric::ColumnRmse | Metric::ColumnLogLoss)
        );
        if is_of_columns && self.words[self.mention.end..=at].iter().any(|word| word.before.contains(':')) {
            return None;
        }
        let (word, next, distance) = (self.text(at), self.text(at + 1), self.distance(at));
        let over = |from: usize| {
            averaged(self.words, from, self.stop, self.mention.metric).map(|modifier| (modifier, from + 1))
        };
        let is_near = distance <= 3
            || distance <= 4
                && self.words[self.mention.end..=at].iter().all(|word| !word.before.contains([',', '—']));
        match word {
            "macro" | "micro" if distance <= 5 => Some((word.to_owned(), at + 1)),
            "quadratic" if self.is_bracket(at) => Some((word.to_owned(), at + 1)),
            "samples" if self.is_bracket(at) => Some(("sample averaged".to_owned(), at + 1)),
            "example" | "sample" if self.is_bracket(at) || matches!(next, "averaged" | "wise" | "based") => {
                Some(("sample averaged".to_owned(), at + 1))
            }
            "averaged" | "average" | "averages" | "averaging" | "mean" | "meaned" | "summed" => {
                let end = self.words.len().min(self.stop).min(at + 6);
                let link = (at + 1..end)
                    .find(|at| matches!(self.text(*at), "over" | "across" | "of" | "per" | "for"))?;
                over(link + 1)
            }
            // "MAE in minutes per trip" gives the unit.
            "per" if is_near && self.text(at.saturating_sub(2)) != "in" => over(at + 1),
            "every" | "each" | "individual" if is_near => {
                among("of for within in over across", self.text(at.saturating_sub(1)))
                    .then(|| over(at + 1))
                    .flatten()
            }
            // A score over all rows is that of the whole table.
            "over" | "across" if distance <= 1 => over(at + 1).filter(|(modifier, _)| modifier != "per row"),
            _ => None,
        }
    }

    /// `of the monthly totals`.
    fn other_errors(&self, at: usize) -> Found {
        const OTHERS: &str = "totals sums means averages medians aggregates differences ratios relative";
        let is_of = self.text(at) == "of" && self.distance(at) <= 1;
        let place = (at + 1..at + 5).find(|at| among(OTHERS, self.text(*at))).filter(|_| is_of)?;
        Some((format!("of {}", self.text(place)), place + 1))
    }

    /// `relative to a baseline`, `divided by the range`, `with a penalty`.
    fn change(&self, at: usize) -> Found {
        const BY: &str =
            "relative compared normalized normalised scaled divided multiplied times plus minus squared";
        const NEXT: &str = "stability gain ratio improvement uplift difference skill reduction variance";
        const WITH: &str = "skill penalty penalties penalized penalised capped trimmed truncated beta decay";
        let word = self.text(at);
        let is_near = self.distance(at) == 0 && matches!(self.words[at].before.as_str(), " " | "-");
        let changed = match word {
            word if is_near && among(NEXT, word) => true,
            "one" => matches!(self.text(at + 1), "vs" | "versus") && self.text(at + 2) == "one",
            "truncated" if is_logarithmic(self.mention.metric) => false,
            word if among(BY, word) => self.distance(at) <= 8 && changes(self.words, at, self.stop),
            word => among(WITH, word) && !is_without(self.words, at),
        };
        changed.then(|| (if word == "one" { "one versus one" } else { word }.to_owned(), at + 1))
    }

    /// `up to an FPR of 0.1`, `during the first hour`, `only for rare classes`, `of the top 10`.
    fn limit(&self, at: usize) -> Found {
        let (word, next, distance) = (self.text(at), self.text(at + 1), self.distance(at));
        const RANKED: &str = "teams team participants submissions solutions places competitors";
        let is_hidden = || is_hidden(self.words, at);
        let limits = match word {
            "top" => {
                let is_near = self.text(at.saturating_sub(1)) == "the" || distance <= 3;
                let mut next = self.words[at..self.stop.min(self.words.len()).min(at + 4)].iter();
                let is_of_teams = next.any(|word| among(RANKED, &word.text));
                return (is_near && !is_of_teams).then(|| ("top".to_owned(), at + 1));
            }
            "during" | "excluding" | "ignoring" => next != "training" && !is_hidden(),
            "within" => {
                distance <= 2
                    && (is_limit(self.words, at, self.stop) || matches!(next, "one" | "two" | "three"))
            }
            "only" => {
                // "Only for …", "only computed for …".
                let next = if next.ends_with("ed") { self.text(at + 2) } else { next };
                matches!(next, "for" | "on" | "over" | "in") && !is_hidden()
            }
            "restricted" | "limited" | "partial" => distance <= 8,
            "up" | "above" | "below" | "under" | "between" => {
                distance <= 3 && is_limit(self.words, at, self.stop)
            }
            _ => false,
        };
        limits.then(|| ("partial".to_owned(), at + 1))
    }

    /// `0.5 * AUC + 0.5 * F1`.
    fn operator(&self, at: usize) -> Found {
        let before = &self.words[at].before;
        let operator =
            before.trim().chars().next().filter(|_| self.distance(at) == 0 && before.contains(' '));
        operator.filter(|operator| "+*×·−".contains(*operator)).map(|_| ("in a formula".to_owned(), at + 1))
    }
}

/// What `at` a place, a share or a level means: a number or a letter, and the word after it.
fn level(words: &[Word], from: usize, stop: usize) -> Option<(String, usize)> {
    const NUMBERS: &str = "zero one two three four five six seven eight nine ten eleven twelve";
    let mut at = from;
    while at < stop.min(from + 4) {
        let word = words.get(at)?.text.as_str();
        let number = NUMBERS.split(' ').position(|number| number == word);
        if word == "threshold"
            || word == "thresholds"
            || words.get(at + 1).is_some_and(|next| next.text.starts_with("threshold"))
        {
            return None;
        }
        match word {
            "the" | "a" | "an" | "cutoff" | "most" | "rank" | "position" | "least" | "top" => at += 1,
            _ if number.is_some() => return number.map(|number| (number.to_string(), at + 1)),
            _ if word.parse::<f64>().is_ok() || word == "k" || word == "n" => {
                let percent = words.get(at + 1).is_some_and(|word| word.text == "percent");
                return Some((format!("{word}{}", if percent { " percent" } else { "" }), at + 1));
            }
            "false" | "fixed" | "low" | "recall" | "precision" | "sensitivity" | "specificity" | "fpr"
            | "tpr" => return Some(("a fixed rate".to_owned(), at + 1)),
            _ => return None,
        }
    }
    None
}

/// Whether these words only explain: `which`, `where`, `because`, `that is`.
pub(super) fn is_explanation(words: &[Word], at: usize) -> bool {
    let text = words[at].text.as_str();
    let next = words.get(at + 1).map_or("", |word| word.text.as_str());
    matches!(text, "which" | "because" | "since" | "so" | "whereas" | "while")
        || (text, next) == ("that", "is")
        || text == "where" && ends_clause(&words[at])
}

/// `no logarithm`, `not weighted`, `without weights`, `neither logged nor …`.
fn is_without(words: &[Word], at: usize) -> bool {
    let from = at.saturating_sub(3);
    words[from..at]
        .iter()
        .any(|word| among("not no without never neither nor any equal equally same non", word.text.as_str()))
        || words.get(at + 1).is_some_and(|word| word.text == "equally")
}

/// Whether `weight` is about the metric rather than what is predicted, as in `the predicted weight`.
fn is_weighting(words: &[Word], at: usize) -> bool {
    match words[at].text.as_str() {
        "weight" => {
            let before = at.checked_sub(1).map_or("", |at| words[at].text.as_str());
            matches!(before, "sample" | "class" | "row" | "case" | "survey" | "exposure")
                || words.get(at + 1).is_some_and(|word| word.text == "of") && before == "a"
        }
        _ => true,
    }
}

fn is_logarithmic(metric: Option<Metric>) -> bool {
    matches!(metric, Some(Metric::LogLoss | Metric::Rmsle))
}

/// What averaging over these words makes of a metric; `None` if nothing.
fn averaged(words: &[Word], from: usize, stop: usize, metric: Option<Metric>) -> Option<String> {
    const BESIDE: &str = "both the all each every different individual of your their separate single whole entire hidden \
        private public predicted three two four five these";
    let mut at = from;
    while at < stop
        && words.get(at).is_some_and(|word| {
            (among(BESIDE, &word.text) || word.text.parse::<u32>().is_ok())
                && !(at > from && word.before.contains([',', ';', '(', ')']))
        })
    {
        at += 1;
    }
    let word = words
        .get(at)
        .filter(|word| at < stop && !(at > from && word.before.contains([',', ';', '(', ')'])))?;
    let word = word.text.trim_end_matches("'s");
    let averages_rows = match metric {
        Some(Metric::Accuracy | Metric::LogLoss | Metric::Brier) => true,
        Some(metric) => metric.kind() == Kind::Numbers,
        None => true,
    };
    if among(ROWS, word) || word == "row" {
        if matches!(word, "test" | "data" | "prediction" | "predictions" | "id" | "ids") {
            return None;
        }
        // A correlation of each row is another one.
        return match metric {
            Some(Metric::Pearson | Metric::Spearman | Metric::R2) => Some("per row".to_owned()),
            _ => (!averages_rows).then(|| "sample averaged".to_owned()),
        };
    }
    if among(CLASSES, word) {
        return Some("macro".to_owned());
    }
    if among(COLUMNS, word) {
        return Some("column wise".to_owned());
    }
    let is_word = word.len() > 2 && word.chars().all(char::is_alphabetic);
    // "For each time step" and "for each time ID".
    let goes_on = words.get(at + 1).filter(|_| at + 1 < stop);
    let is_part =
        word == "time" && goes_on.is_some_and(|next| next.before == " " && !among(BOUNDARIES, &next.text));
    (is_word
        && (is_part || !among("cent set holdout unseen leaderboard submission time competition others values other period real true actual", word)))
    .then(|| format!("per {word}"))
}

/// Whether only the test rows are meant, as always.
fn is_hidden(words: &[Word], at: usize) -> bool {
    words[at..words.len().min(at + 6)].iter().any(|word| {
        among(
            "test hidden private public leaderboard unseen holdout evaluation competition training",
            word.text.as_str(),
        )
    })
}

/// Whether `relative to`, `compared with`, `divided by` name a reference instead of the truth.
fn changes(words: &[Word], at: usize, stop: usize) -> bool {
    const REFERENCES: &str = "baseline climatology persistence naive reference benchmark random constant mean median range \
        standard";
    match words[at].text.as_str() {
        "compared" | "relative" => {
            words[at..stop.min(at + 9)].iter().any(|word| among(REFERENCES, &word.text))
        }
        "times" => {
            words.get(at + 1).is_some_and(|word| word.text.chars().all(|c| c.is_numeric() || c == '.'))
        }
        _ => true,
    }
}

/// Whether `up to`, `below`, `between` give a limit: a number or a rate follows.
fn is_limit(words: &[Word], at: usize, stop: usize) -> bool {
    words[at + 1..stop.min(at + 6).max(at + 1)].iter().any(|word| {
        word.text.parse::<f64>().is_ok() || matches!(word.text.as_str(), "fpr" | "tpr" | "rate" | "percent")
    })
}
