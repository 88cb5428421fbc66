//! Names of metrics that have a parameter, such as `MAP@3` or `pinball loss 0.9`.

use super::names::{Level, Metric};

/// What a name with a parameter says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// A metric.
    Known(Metric),
    /// The name of a metric, whose parameter is missing or no single number.
    Lacks(&'static str),
}

/// Metrics that differ in a number.
struct Family {
    /// One of these must be in the name.
    cores: &'static [&'static str],
    /// Further words that may stand beside it.
    further: &'static [&'static str],
    /// What is missing if there is no number.
    lacks: &'static str,
    read: fn(&Parameter, &str) -> Option<Metric>,
}

/// A number in a name.
#[derive(Clone, Debug, PartialEq)]
struct Parameter {
    value: f64,
    is_whole: bool,
    is_percentage: bool,
}

const NUMBERS: [&str; 10] = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];

/// Words that say nothing, or that a number follows.
const LINKS: [&str; 17] = [
    "at", "k", "n", "with", "the", "of", "for", "a", "an", "and", "is", "equals", "on", "to", "using", "th",
    "metric",
];

const FAMILIES: [Family; 4] = [
    Family {
        cores: &["map", "mapk", "mean average precision"],
        further: &["mean", "average", "precision", "score", "top", "guesses", "predictions"],
        lacks: "the number of guesses that count, as in MAP@3",
        read: |number, _| number.guesses().map(Metric::MapAt),
    },
    Family {
        cores: &["accuracy", "acc"],
        further: &["top", "topk", "categorical", "classification", "sparse", "score"],
        lacks: "the number of guesses that count, as in top-5 accuracy",
        read: |number, name| {
            // In "accuracy 5", the number may mean anything.
            let is_about_guesses = name.contains("top") || name.contains('@') || name.contains(" at ");
            number.guesses().filter(|_| is_about_guesses).map(|guesses| match guesses {
                1 => Metric::Accuracy,
                guesses => Metric::TopAccuracy(guesses),
            })
        },
    },
    Family {
        cores: &["pinball", "quantile loss", "quantile score", "quantile error", "check loss"],
        further: &[
            "mean",
            "average",
            "loss",
            "score",
            "error",
            "function",
            "regression",
            "quantile",
            "quantiles",
            "level",
            "percentile",
            "alpha",
            "tau",
            "q",
            "p",
            "median",
        ],
        lacks: "its quantile, as in pinball loss 0.9",
        read: |number, name| number.level(name.contains("percentile")).map(Metric::Pinball),
    },
    Family {
        cores: &["interval score", "winkler"],
        further: &[
            "mean",
            "average",
            "score",
            "loss",
            "interval",
            "intervals",
            "winkler",
            "prediction",
            "predictive",
            "level",
            "confidence",
            "coverage",
            "nominal",
            "alpha",
            "mis",
            "mwis",
            "ci",
            "pi",
        ],
        lacks: "the share that intervals should cover, as in interval score 0.9",
        read: |number, name| {
            let level = number.level(false)?;
            let covered = if words(name).iter().any(|word| word == "alpha") { level.rest() } else { level };
            // Whether 0.1 is the share of values inside or outside is open.
            (covered >= Level::HALF).then_some(Metric::IntervalScore(covered))
        },
    },
];

/// Every word that a name with a parameter can have, beside the parameter.
pub(crate) fn all_words() -> impl Iterator<Item = &'static str> {
    let of_families = FAMILIES.iter().flat_map(|family| family.cores.iter().chain(family.further));
    of_families.flat_map(|words| words.split(' ')).chain(LINKS).chain(NUMBERS)
}

/// What a name says, if it is that of a metric with a parameter.
pub(crate) fn read(name: &str) -> Option<Reading> {
    let name = name.to_lowercase();
    let (rest, numbers) = parted(&name);
    let words = words(&rest);
    let family = FAMILIES.iter().find(|family| family.has(&words))?;
    // A name may say the number twice: "mean average precision at 3 (MAP@3)".
    let found = match numbers.split_first() {
        Some((first, others)) if others.iter().all(|other| other == first) => (family.read)(first, &name),
        _ => None,
    };
    match found {
        Some(metric) => Some(Reading::Known(metric)),
        // Plain accuracy has no parameter.
        None if family.cores.contains(&"accuracy") && !rest.contains("top") => None,
        None => Some(Reading::Lacks(family.lacks)),
    }
}

impl Family {
    fn has(&self, words: &[String]) -> bool {
        let words: Vec<&str> =
            words.iter().map(String::as_str).filter(|word| !LINKS.contains(word)).collect();
        let text = format!(" {} ", words.join(" "));
        let has_core = self.cores.iter().any(|core| text.contains(&format!(" {core} ")));
        let is_core = |word: &&str| self.cores.iter().any(|core| core.split(' ').any(|part| part == *word));
        has_core && words.iter().all(|word| is_core(word) || self.further.contains(word))
    }
}

impl Parameter {
    fn guesses(&self) -> Option<u8> {
        let is_fine = self.is_whole && (1.0..=f64::from(Metric::MOST_GUESSES)).contains(&self.value);
        is_fine.then_some(self.value as u8)
    }

    /// The share, which may be written as a percentage.
    fn level(&self, is_percentile: bool) -> Option<Level> {
        // Whole numbers other than 0 and 1 are percentages, even without a sign.
        let is_percentage = self.is_percentage || is_percentile || self.is_whole && self.value > 1.0;
        Level::new(if is_percentage { self.value / 100.0 } else { self.value })
    }
}

/// The name without its numbers, and these.
fn parted(name: &str) -> (String, Vec<Parameter>) {
    let (mut rest, mut numbers) = (String::new(), Vec::new());
    let mut letters = name.chars().peekable();
    while let Some(letter) = letters.next() {
        let begins_fraction = letter == '.' && letters.peek().is_some_and(char::is_ascii_digit);
        if !letter.is_ascii_digit() && !begins_fraction {
            rest.push(letter);
            continue;
        }
        let mut digits = letter.to_string();
        while let Some(next) = letters.next_if(|next| next.is_ascii_digit() || matches!(next, '.')) {
            digits.push(next);
        }
        let is_percentage = letters.clone().find(|next| *next != ' ') == Some('%');
        let digits = digits.trim_end_matches('.');
        let value = digits.parse().unwrap_or(f64::NAN);
        numbers.push(Parameter { value, is_whole: !digits.contains('.'), is_percentage });
        rest.push(' ');
    }
    for (value, word) in (1..).zip(NUMBERS) {
        let padded = format!(" {} ", words(&rest).join(" "));
        if padded.contains(&format!(" {word} ")) {
            rest = padded.replace(&format!(" {word} "), " ");
            numbers.push(Parameter { value: f64::from(value), is_whole: true, is_percentage: false });
        }
    }
    (rest, numbers)
}

fn words(text: &str) -> Vec<String> {
    let only_words = |letter: char| if letter.is_alphanumeric() { letter } else { ' ' };
    let text: String = text.chars().map(only_words).collect();
    text.split_whitespace().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_read_or_missed() {
        let check = |name: &str, expected: &str| {
            let found = match read(name) {
                Some(Reading::Known(metric)) => metric.to_string(),
                Some(Reading::Lacks(what)) => format!("lacks {what}"),
                None => String::new(),
            };
            assert_eq!(found, expected, "{name}");
        };
        check("MAP@3", "MAP@3");
        check("MAP", "lacks the number of guesses that count, as in MAP@3");
        // That of detections.
        check("mAP@0.5", "lacks the number of guesses that count, as in MAP@3");
        check("mean average precision at 3 and 5", "lacks the number of guesses that count, as in MAP@3");
        check("top-5 accuracy", "top-5 accuracy");
        check("accuracy@5", "top-5 accuracy");
        check("top-k accuracy", "lacks the number of guesses that count, as in top-5 accuracy");
        check("pinball loss 0.9", "pinball loss 0.9");
        check("quantile loss (q=.025)", "pinball loss 0.025");
        check("quantile loss at the 90th percentile", "pinball loss 0.9");
        check("quantile loss", "lacks its quantile, as in pinball loss 0.9");
        check("pinball loss averaged over 0.1, 0.9", "");
        check("Mean Winkler Interval Score (90% prediction intervals)", "interval score 0.9");
        check("Winkler score", "lacks the share that intervals should cover, as in interval score 0.9");
    }
}
