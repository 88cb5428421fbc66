//! Which of two labels a probability is asked for.

use std::ops::Range;

use super::amount::{label_words, with_limits};
use super::sentence::{Section, Sentence, Word, among, spaced, words};
use super::{Description, quoted};

/// What a description says about the label whose probability is predicted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PositiveReading {
    /// The first or the second label, with the sentence in quotation marks.
    Said(usize, String),
    /// Both, each with its sentence.
    Both(String, String),
    /// Nothing.
    None,
}

const PROBABILITIES: &str = "probability probabilities likelihood chance chances risk odds propensity likely confidence certainty \
    wahrscheinlichkeit probabilidad probabilité probabilidade probabilità scores";
const NEGATIONS: &str = "not never no without fails fail failed failing avoids non cannot neither unable";
/// Labels that are words of any text.
const PLAIN: &str = "yes no true false y n t f 0 1 one zero in out on off up down";
/// Words behind which the other label may stand.
const INSTEAD: &str = "rather instead versus vs against unlike opposed otherwise";

/// The label that a sentence asks the probability of. A clear sentence wins over one that only names what is predicted.
pub fn positive(description: &Description, labels: [&str; 2]) -> PositiveReading {
    let names = labels.map(names_of);
    if names[0] == names[1] {
        return PositiveReading::None;
    }
    let sentences: Vec<(&Sentence, Vec<Word>)> = description
        .sentences()
        .iter()
        .filter(|sentence| sentence.section != Section::Aside)
        .map(|sentence| (sentence, signed(with_limits(&sentence.words))))
        .collect();
    let rules: [fn(&[Word], &Names) -> Found; 3] = [by_role, by_probability, by_question];
    for rule in rules {
        let found: Vec<(usize, String)> = sentences
            .iter()
            .filter_map(|(sentence, words)| {
                rule(words, &names).map(|(label, at)| (label, quoted(sentence, at)))
            })
            .collect();
        if let Some((first, others)) = found.split_first() {
            return match others.iter().find(|(label, _)| *label != first.0) {
                Some((_, other)) => PositiveReading::Both(first.1.clone(), other.clone()),
                None => PositiveReading::Said(first.0, first.1.clone()),
            };
        }
    }
    PositiveReading::None
}

/// The label, of two, that a name contains, for example `churned` in `p_churned`.
pub fn named_in(name: &str, labels: [&str; 2]) -> Option<usize> {
    let parts = words(&spaced(name));
    let names = labels.map(names_of);
    // The last part of "p_1" and "status_1".
    if names.iter().all(|name| is_number(name)) {
        return names.iter().position(|name| parts.last().is_some_and(|last| last.text == name[0]));
    }
    only(&parts, &names, 0, parts.len()).map(|(label, _)| label)
}

/// The words of a label. A number is one word, with its sign.
fn names_of(label: &str) -> Vec<String> {
    let number = label.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    number.map_or_else(|| label_words(label), |number| vec![number.to_string()])
}

fn is_number(name: &[String]) -> bool {
    matches!(name, [only] if only.parse::<f64>().is_ok_and(f64::is_finite))
}

/// The words with the minus sign of each number.
fn signed(mut words: Vec<Word>) -> Vec<Word> {
    for word in &mut words {
        // "0-1" is no difference.
        let is_apart = word.before.chars().count() > 1 || word.at == word.before.len();
        if is_apart && word.before.ends_with(['-', '−']) && word.text.parse::<f64>().is_ok() {
            word.text.insert(0, '-');
        }
    }
    words
}

/// Whether a number is a label here rather than an amount: `status is 1`, `y = 1`, `class 1`, but not `is 1 or 2`.
fn is_marked(words: &[Word], at: usize) -> bool {
    const MARKS: &str = "is not be being equals equal means mean class label category outcome value";
    let before = |back: usize| at.checked_sub(back).map_or("", |at| words[at].text.as_str());
    let is_number = |at: usize| text(words, at).parse::<f64>().is_ok();
    let is_listed = is_number(at + 1)
        || among("and to vs versus", text(words, at + 1)) && is_number(at + 2)
        || (at + 1..at + 6).any(|or| text(words, or) == "or" && (is_number(or + 1) || is_number(or + 2)));
    let is_role = matches!(text(words, at + 1), "is" | "as")
        && (at + 2..at + 4).any(|at| text(words, at) == "positive");
    let is_named = words[at].before.contains('=')
        || before(1) == "to" && matches!(before(2), "equal" | "equals")
        || among(MARKS, before(1)) && !among(PROBABILITIES, before(2)) && !words[at].before.contains('(');
    is_role || is_named && !is_listed
}

/// The words of the two labels.
type Names = [Vec<String>; 2];

/// Which label words name, and where.
type Found = Option<(usize, usize)>;

/// `the positive class is X`, `1 means X`, `1 if X`, `higher values mean X`.
fn by_role(words: &[Word], names: &Names) -> Found {
    (0..words.len()).find_map(|at| {
        by_class(words, names, at)
            .or_else(|| by_one(words, names, at))
            .or_else(|| as_one(words, names, at))
            .or_else(|| by_size(words, names, at))
    })
}

fn text(words: &[Word], at: usize) -> &str {
    words.get(at).map_or("", |word| word.text.as_str())
}

/// `the positive class is X`, `X is the positive class`, `the class of interest is X`.
fn by_class(words: &[Word], names: &Names, at: usize) -> Found {
    let text = |at: usize| text(words, at);
    let is_class = among("class label outcome category event target case", text(at + 1))
        && text(at) == "positive"
        || among("class event outcome label", text(at)) && (text(at + 1), text(at + 2)) == ("of", "interest");
    if !is_class {
        return None;
    }
    let behind = || first(words, names, at + 2, clause_end(words, at + 2).min(at + 11));
    let ahead = || last(words, names, at.saturating_sub(7), at);
    let is_predicate = matches!(text(at.saturating_sub(1)), "the" | "as")
        && among("is as are be count counts considered marks means", text(at.saturating_sub(2)));
    if is_predicate { ahead().or_else(behind) } else { behind().or_else(ahead) }
}

/// `1 if X`, `1 = X`, `one means X`, but not `fold 1 is X`.
fn by_one(words: &[Word], names: &Names, at: usize) -> Found {
    const LINKS: &str = "if when for mean means is stands denotes indicates represents where indicating meaning corresponds to being";
    const NUMBERED: &str = "table figure fig fold stage phase round day week month year part chapter section step version task \
        track example";
    if at > 0 && among(NUMBERED, text(words, at - 1)) {
        return None;
    }
    let next = if among("should will must would", text(words, at + 1)) { at + 2 } else { at + 1 };
    let is_linked = among(LINKS, text(words, next));
    let is_one = match text(words, at) {
        "1" => is_linked || words.get(at + 1).is_some_and(|word| word.before.contains(['=', ':', '(', '→'])),
        "one" => among("for if mean means when stands denotes indicates", text(words, next)),
        _ => false,
    };
    is_one.then(|| first(words, names, at + 1, (at + 10).min(stop_at_zero(words, at + 1)))).flatten()
}

/// `X counts as 1`, `X is coded as 1`, `X (1)`, `X = 1`.
fn as_one(words: &[Word], names: &Names, at: usize) -> Found {
    if !matches!(text(words, at), "1" | "one") {
        return None;
    }
    let before = words[at].before.as_str();
    if before.contains(['(', '=', ':']) && text(words, at) == "1" {
        return directly_before(words, names, at);
    }
    let link = at.checked_sub(1).filter(|link| matches!(text(words, *link), "as" | "a" | "by"))?;
    let link = if text(words, link) == "a" { link.checked_sub(1)? } else { link };
    let zero = words[..link].iter().rposition(|word| matches!(word.text.as_str(), "0" | "zero"));
    let from = zero.map_or(0, |zero| zero + 1).max(link.saturating_sub(7));
    let is_coded = text(words, link) == "as"
        && (words[from..link].iter().any(|word| {
            among(
                "count counts counted code coded codes encode encoded codified marked treated taken regarded",
                &word.text,
            )
        }) || zero.is_some()
            || directly_before(words, names, link).is_some());
    is_coded.then(|| directly_before(words, names, link).or_else(|| last(words, names, from, link))).flatten()
}

/// The label whose words end right before this place.
fn directly_before(words: &[Word], names: &Names, at: usize) -> Found {
    let ends = |name: &[String]| {
        let start = at.checked_sub(name.len()).filter(|_| !name.is_empty())?;
        words[start..at].iter().zip(name).all(|(word, name)| word.text == *name).then_some(start)
    };
    (0..2).find_map(|label| ends(&names[label]).map(|start| (label, start)))
}

/// `the probability of yes`, where the label is all that follows.
fn directly_behind(words: &[Word], names: &Names, at: usize) -> Found {
    if text(words, at) != "of" {
        return None;
    }
    let start = (at + 1..words.len())
        .find(|at| !among("a an the class label answer value outcome category", text(words, *at)))?;
    (0..2).find_map(|label| {
        let end = start + names[label].len();
        let is_named = end > start
            && words.get(start..end)?.iter().zip(&names[label]).all(|(word, name)| word.text == *name);
        let is_end = words.get(end).is_none_or(|next| {
            next.before.contains(['.', ',', ';', ':', '(', ')', '!', '?'])
                || among("for in at on per as to with is", &next.text)
        });
        (is_named && is_end).then_some((label, start))
    })
}

/// `higher values mean X`.
fn by_size(words: &[Word], names: &Names, at: usize) -> Found {
    const MEANS: &str = "mean means indicate indicates for correspond corresponds point points imply implies to suggest suggests likely";
    const VALUES: &str = "value values score scores probability probabilities number numbers prediction predictions output outputs";
    let is_size = among("higher larger high large greater bigger", text(words, at));
    let verb = is_size
        .then(|| (at + 1..(at + 7).min(words.len())).find(|at| among(MEANS, text(words, *at))))
        .flatten()?;
    let is_value = verb == at + 1 || (at..verb).any(|at| among(VALUES, text(words, at)));
    is_value.then(|| only(words, names, verb + 1, clause_end(words, verb + 1))).flatten()
}

/// `the probability that it is X`, `how likely X is`, `the risk of X`.
fn by_probability(words: &[Word], names: &Names) -> Found {
    // "P(default)".
    let is_function = |at: usize| {
        matches!(words[at].text.as_str(), "p" | "pr")
            && words.get(at + 1).is_some_and(|word| word.before == "(")
    };
    // "F1 of class 1", "the probability of a fault (y = 1)".
    let are_numbers = names.iter().all(|name| is_number(name));
    let is_score = |at: usize| are_numbers && among("f1 auc precision recall", &words[at].text);
    (0..words.len())
        .filter(|at| among(PROBABILITIES, &words[*at].text) || is_function(*at) || is_score(*at))
        .find_map(|at| {
            let end = clause_end(words, at + 1);
            let is_cut = are_numbers && words.get(end).is_some_and(|word| word.before.contains('('));
            let end = if is_cut { clause_end(words, end) } else { end };
            first(words, names, at + 1, end).or_else(|| directly_behind(words, names, at + 1)).or_else(|| {
                // "Default probability", "how likely a customer churns"; "a good risk" is a customer.
                let is_one = at > 1
                    && matches!(words[at].text.as_str(), "risk" | "odds")
                    && among("a an", &words[at - 2].text);
                let is_compound = at > 0 && words[at].text != "scores" && !is_one;
                is_compound.then(|| first(words, names, at - 1, at)).flatten()
            })
        })
}

/// `predict whether it is X`.
fn by_question(words: &[Word], names: &Names) -> Found {
    (0..words.len())
        .filter(|at| matches!(words[*at].text.as_str(), "whether" | "if" | "which" | "who" | "ob"))
        .find_map(|at| {
            let asks = words[..at].iter().any(|word| {
                ["predict", "forecast", "estimat", "decide", "classif", "determin", "detect", "tell", "guess"]
                    .iter()
                    .any(|stem| word.text.starts_with(stem))
            });
            // "Whether A or B" asks for neither.
            asks.then(|| only(words, names, at + 1, words.len())).flatten()
        })
}

/// The label that these words name first; the other one if they negate it. `None` if the other follows, unless it is denied:
/// which one `that a good customer turns bad` asks for is open.
fn first(words: &[Word], names: &Names, from: usize, until: usize) -> Found {
    let found = named(words, names, from, until);
    let (label, at) = *found.first()?;
    let second = found.iter().find(|(other, _)| *other != label).map(|(_, second)| *second);
    if let Some(second) = second.or_else(|| own_word(words, names, 1 - label, (at + 1)..until)) {
        // One word that may be a form of either names neither.
        let between = words.get(at + 1..second)?;
        if !between.iter().any(|word| among(INSTEAD, &word.text) || among(NEGATIONS, &word.text)) {
            return None;
        }
    }
    Some((if is_negated(words, from, at) { 1 - label } else { label }, at))
}

/// The first word of a label of several words, if all that the other label lacks are there: "attrites" of "Attrited Customer".
fn own_word(words: &[Word], names: &Names, label: usize, within: Range<usize>) -> Option<usize> {
    let is_own = |name: &&String| !names[1 - label].contains(*name);
    let place = |name: &String| {
        within.clone().take_while(|at| *at < words.len()).find(|at| is_form_of(&words[*at].text, name))
    };
    let places: Option<Vec<usize>> = names[label].iter().filter(is_own).map(place).collect();
    places.filter(|_| names[label].len() > 1)?.into_iter().min()
}

/// The label that these words name last.
fn last(words: &[Word], names: &Names, from: usize, until: usize) -> Found {
    named(words, names, from, until).last().copied()
}

/// The label that these words name, if they do not name the other.
fn only(words: &[Word], names: &Names, from: usize, until: usize) -> Found {
    let found = named(words, names, from, until);
    let (label, at) = *found.first()?;
    let is_alone = found.iter().all(|(other, _)| *other == label);
    is_alone.then_some((if is_negated(words, from, at) { 1 - label } else { label }, at))
}

/// Which labels these words name, with the place of each. Where one contains the other, the longer one counts.
fn named(words: &[Word], names: &Names, from: usize, until: usize) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize, usize)> = Vec::new();
    for at in from..until.min(words.len()) {
        for (label, name) in names.iter().enumerate() {
            let fits = !name.is_empty()
                && at + name.len() <= until.min(words.len())
                && words[at..at + name.len()]
                    .iter()
                    .zip(name)
                    .all(|(word, name)| is_form_of(&word.text, name));
            // A label of one letter, or a word of every text such as "no", counts only if it is marked.
            let is_plain = among(PLAIN, &name.join(" "));
            let is_word = if is_number(name) {
                is_marked(words, at)
            } else {
                !is_plain && name.iter().map(String::len).sum::<usize>() > 1
            } || words.get(at).is_some_and(|word| word.before.contains(['`', '"', '\'', '“']));
            if fits && is_word {
                found.push((label, at, name.len()));
            }
        }
    }
    let longest = found.clone();
    found.retain(|(_, at, length)| {
        !longest.iter().any(|(_, other, longer)| longer > length && (*other..*other + *longer).contains(at))
    });
    let exact = |label: usize, at: usize| {
        names[label].iter().zip(&words[at..]).all(|(name, word)| *name == word.text)
    };
    let tied = found.clone();
    found.retain(|(label, at, _)| {
        exact(*label, *at)
            || !tied.iter().any(|(other, place, _)| other != label && place == at && exact(*other, *place))
    });
    found.into_iter().map(|(label, at, _)| (label, at)).collect()
}

/// Whether a word is a form of a label: `churn`, `churns`, `churned` and `churning`.
fn is_form_of(word: &str, label: &str) -> bool {
    const ENDINGS: &str =
        "s es e d ed ing er ers ly n en ion ions al t ce cy y ure ures ment ation ations tion ulent";
    if word == label {
        return true;
    }
    let common = word
        .chars()
        .zip(label.chars())
        .take_while(|(one, other)| one == other)
        .map(|(one, _)| one.len_utf8())
        .sum::<usize>();
    // "wins" is a form of "win", and "winter" is none.
    if common < label.len().clamp(3, 4) {
        return false;
    }
    let ending = |text: &str| {
        let rest = &text[common..];
        rest.is_empty() || among(ENDINGS, rest) || {
            // "stopped" doubles its letter.
            let doubled = text[..common].chars().next_back();
            let mut letters = rest.chars();
            letters.next() == doubled && matches!(letters.as_str(), "ed" | "ing" | "er")
        }
    };
    ending(word) && ending(label)
}

/// Whether `not` or the like stands between these places.
fn is_negated(words: &[Word], from: usize, at: usize) -> bool {
    words[from.min(at)..at].iter().any(|word| among(NEGATIONS, &word.text))
}

/// Where the clause ends that begins here.
fn clause_end(words: &[Word], from: usize) -> usize {
    let end = (from + 1..words.len()).find(|at| {
        let word = &words[*at];
        word.before.contains([';', ':', '(', ')'])
            || word.before.contains(',') && !matches!(word.text.as_str(), "not" | "rather" | "and" | "or")
    });
    end.unwrap_or(words.len())
}

/// Where what zero means begins.
fn stop_at_zero(words: &[Word], from: usize) -> usize {
    (from..words.len())
        .find(|at| matches!(words[*at].text.as_str(), "0" | "zero" | "otherwise" | "else" | "2"))
        .unwrap_or(words.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(labels: [&str; 2], text: &str, expected: Option<&str>) {
        let found = match positive(&Description::read(text), labels) {
            PositiveReading::Said(label, from) => {
                assert!(!from.is_empty());
                Some(labels[label])
            }
            PositiveReading::Both(..) => Some("both"),
            PositiveReading::None => None,
        };
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn a_sentence_tells_whose_probability_is_asked() {
        let credit = ["default", "repaid"];
        check(
            credit,
            "Each credit is repaid or ends in default. Predict the probability that a credit ends in default.",
            Some("default"),
        );
        check(credit, "Predict the probability that a credit is not repaid.", Some("default"));
        check(credit, "Predict the probability of default.", Some("default"));
        check(credit, "Submit 1 if the credit defaulted and 0 if it was repaid.", Some("default"));
        check(credit, "The positive class is `repaid`.", Some("repaid"));
        check(credit, "Higher values mean default.", Some("default"));
        check(credit, "Predict whether a credit ends in default.", Some("default"));
        check(credit, "Predict whether a credit is repaid or ends in default.", None);
        check(credit, "Predict the risk of default. The positive class is repaid.", Some("repaid"));
        check(credit, "Give the probability of default. The chance of being repaid counts.", Some("both"));
        check(credit, "# Baseline\nIt predicts the probability of default.", None);
        check(credit, "Predict the probability of no default.", Some("repaid"));
        check(["bad", "good"], "Predict the probability that a good customer turns bad.", None);
    }

    #[test]
    fn labels_are_coded_as_numbers() {
        let client = ["BAD", "GOOD"];
        check(client, "Submit one probability for each client: BAD counts as 1 and GOOD as 0.", Some("BAD"));
        check(client, "Submit one probability for each client: GOOD counts as 0 and BAD as 1.", Some("BAD"));
        check(client, "Each client is BAD (1) or GOOD (0).", Some("BAD"));
        check(client, "Each client is BAD (0) or GOOD (1).", Some("GOOD"));
        check(client, "Use a BAD or GOOD client as a one.", None);
        let payments = ["fraud", "legit"];
        check(
            payments,
            "Fold 1 is legit data from 2019. Predict the probability that a payment is fraud.",
            Some("fraud"),
        );
        let answers = ["no", "yes"];
        check(answers, "Submit the probability of no for each client.", Some("no"));
        check(answers, "Submit the probability of no rain.", None);
        check(answers, "The answer is yes (1) or no (0).", Some("yes"));
    }

    #[test]
    fn labels_that_are_numbers_are_told_from_amounts() {
        let let_or_not = ["1", "2"];
        check(
            let_or_not,
            "A flat is let (1) or not (2). Predict the probability that status is 1.",
            Some("1"),
        );
        check(let_or_not, "The score is the F1 of class 1.", Some("1"));
        check(let_or_not, "The positive class is 2.", Some("2"));
        check(let_or_not, "Class 1 is the positive class.", Some("1"));
        check(let_or_not, "Predict the probability of a let flat (status = 1).", Some("1"));
        check(let_or_not, "Predict the probability that `status` is not 1.", Some("2"));
        check(let_or_not, "Predict whether status is 1 or 2.", None);
        check(let_or_not, "Predict whether status is 1 (let) or 2 (not let).", None);
        check(["0", "1"], "Submit the probability of `ok`, between 0 and 1.", None);
        check(["0", "1"], "Submit a probability between 0 and 1. A sure case is 1.", None);
        check(["0", "1"], "Predict the class (0 or 1) and its probability.", None);
        check(["-1", "1"], "Predict the probability that y is -1.", Some("-1"));
        check(["0.0", "1.0"], "Predict P(y = 0).", Some("0.0"));
    }
}
