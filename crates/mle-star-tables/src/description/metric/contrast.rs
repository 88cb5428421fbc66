//! Metrics that a sentence mentions without scoring by them.

use super::super::sentence::{Sentence, Word, among};
use super::cue::{self, Cue};
use super::mention::{Mention, mentions};
use super::vocabulary::{DISMISSED, ELSEWHERE, ELSEWHERE_PAIRS, FORMER, FORMERLY, PEOPLE, SECONDARY};

/// Words that end the reach of `not` to the right.
const TURNS: &str = "but while whereas although though however because since";
/// Words that end the reach of `instead of` to the right.
const VERBS: &str = "we you they it is are was were use uses used will submissions predictions entries scored evaluated \
    ranked judged applies counts this have chose";

/// Whether the sentence says that this metric does not decide.
pub(super) fn is_dismissed(
    sentence: &Sentence,
    cue: Option<&Cue>,
    mention: &Mention,
    others: &[Mention],
) -> bool {
    let words = &sentence.words;
    is_negated(words, mention, others)
        || is_dismissed_after(words, mention)
        || is_value(words, mention)
        || is_for_ties(words, mention)
        || is_elsewhere(sentence, cue, mention)
        || is_purpose(words, mention)
}

/// From `not` to the end of the metric that begins at this word, in `not by A but by B`.
pub(super) fn contrasted(sentence: &Sentence, start: usize) -> Option<(usize, usize)> {
    const SMALL: &str = "by on with using via the a an its their in terms of rather instead for mean average";
    let words = &sentence.words;
    let found = mentions(sentence);
    let other = found.iter().find(|mention| mention.start >= start)?;
    // A word before the name may belong to it, as in "the macro F1".
    let small_until = |from: usize, until: usize| {
        let near = words.get(from..until).unwrap_or_default();
        near.len() <= 4 && near.iter().all(|word| among(SMALL, &word.text))
    };
    let but = words[..start].iter().rposition(|word| word.text == "but")?;
    let denied = found.iter().rev().find(|mention| mention.end <= but)?;
    let not = words[..denied.start].iter().rposition(|word| word.text == "not")?;
    let is_only = words.get(not + 1).is_some_and(|word| matches!(word.text.as_str(), "only" | "just"));
    let is_contrast = !is_only
        && small_until(but + 1, start)
        && small_until(not + 1, denied.start)
        && but <= denied.end + 1;
    is_contrast.then_some((not, other.end))
}

/// Whether a mark before this word ends a clause.
pub(super) fn ends_clause(word: &Word) -> bool {
    word.before.contains([',', ';', ':', '(', ')', '—', '[', ']'])
        || word.before.contains(" – ")
        || word.before.contains(" - ")
}

/// `not by X`, `instead of X`, `rather than X`, `unlike X`, `replaces X`.
fn is_negated(words: &[Word], mention: &Mention, others: &[Mention]) -> bool {
    let mut has_verb = false;
    // Between the names of a list is nothing but a comma: "instead of accuracy, MCC is used" has no list.
    const BEGINS: &str = "is are was were will would counts decides decide determines ranks";
    let is_subject = words.get(mention.end).is_some_and(|word| among(BEGINS, &word.text));
    let continues = |at: usize| {
        let start = if among("the a", &words[at].text) { at + 1 } else { at };
        words[at].before.trim() == ","
            && !is_subject
            && others.iter().any(|other| other.end == at)
            && others.iter().any(|other| other.start == start)
    };
    for at in (0..=mention.start).rev() {
        let word = words[at].text.as_str();
        let next = words.get(at + 1).map_or("", |word| word.text.as_str());
        let before = at.checked_sub(1).map_or("", |at| words[at].text.as_str());
        if at < mention.start {
            match word {
                "not" if next == "only" => return false,
                "not" | "never" | "neither" | "nor" | "no" | "without" | "cannot" => {
                    return !(word == "no" && next == "other");
                }
                "of" if !has_verb && (before == "instead" || before == "lieu" || before == "ahead") => {
                    return true;
                }
                "than" if !has_verb && (before == "rather" || before == "other") => return true,
                "to" if !has_verb && before == "opposed" => return true,
                "unlike" | "replaces" | "replacing" | "except" | "excluding" | "supersedes" | "avoid"
                | "avoids"
                    if !has_verb =>
                {
                    return true;
                }
                _ if among(TURNS, word) => return false,
                _ => has_verb |= among(VERBS, word),
            }
        }
        // "Instead of accuracy, log loss or F1, we use …" keeps its list.
        if ends_clause(&words[at]) && !words[at].before.contains('(') && !continues(at) {
            return false;
        }
    }
    false
}

/// `X is not used`, `X would be misleading`, `X was replaced by`, `X is shown for information`.
fn is_dismissed_after(words: &[Word], mention: &Mention) -> bool {
    const USED: &str = "used considered counted count counts evaluated the relevant taken part enough appropriate \
        suitable meaningful important scored decisive decide matter required needed a role effect influence";
    let clause = words[mention.end..].iter().take(9).enumerate();
    let clause = clause.take_while(|(at, word)| {
        *at == 0 && word.before.starts_with(')')
            || !ends_clause(word)
            || *at == 0 && word.before.contains("),")
    });
    let clause: Vec<&str> = clause.map(|(_, word)| word.text.as_str()).collect();
    let is_shown = clause.iter().any(|word| among("reported shown displayed listed published", word));
    if is_shown
        && clause.windows(2).any(|pair| matches!(pair, ["but", "not"] | ["but", "does"] | ["but", "do"]))
    {
        return true;
    }
    let until = clause.iter().position(|word| among(TURNS, word) || *word == "and").unwrap_or(clause.len());
    let clause = &clause[..until];
    let is_verb =
        |word: &&str| among("is are was were be would will can does do did plays play has have", word);
    if !clause.iter().take(2).any(is_verb) && !clause.iter().any(|word| among(SECONDARY, word)) {
        return false;
    }
    let negated = clause.iter().position(|word| *word == "not" || *word == "no");
    negated.is_some_and(|at| clause[at + 1..].iter().take(2).any(|word| among(USED, word)))
        || clause.iter().any(|word| among(DISMISSED, word) || among(SECONDARY, word))
        || clause.windows(2).any(|pair| {
            matches!(pair, ["too", "coarse"] | ["also", "shown"] | ["also", "reported"] | ["only", "shown"])
        })
}

/// `an accuracy of 0.93`, `92 % accuracy`.
fn is_value(words: &[Word], mention: &Mention) -> bool {
    const BETWEEN: &str =
        "of is was around about above below over than nearly almost reaches approximately score";
    let is_number =
        |word: &Word| word.text.starts_with(|c: char| c.is_ascii_digit()) && word.text.parse::<f64>().is_ok();
    let mut after = words[mention.end..].iter();
    let first = after.next();
    let value = first
        .filter(|word| among(BETWEEN, &word.text))
        .and_then(|_| after.find(|word| !among(BETWEEN, &word.text)));
    // "Above 80 % true positive rate" says which part of the curve counts.
    let is_of_rate =
        after.take(4).any(|word| among("rate tpr fpr sensitivity specificity recall", &word.text));
    // "SMAPE: 100 / n" begins a formula.
    let is_factor_of = words.get(mention.end + 1).is_some_and(|word| word.before.contains(['/', '*', '(']));
    let is_equation = !is_factor_of
        && first.is_some_and(|word| is_number(word) && word.before.contains(['=', ':', '≈', '~']));
    let before = mention.start.checked_sub(1).map(|at| &words[at]);
    // "0.7 * AUC" is a part of a score.
    let is_factor = words[mention.start].before.contains(['*', '×', '·', '/', '+', '-', '−']);
    let is_percent = !is_factor
        && before.is_some_and(|word| word.text == "percent" || word.raw.contains('.') && is_number(word));
    is_equation
        || is_percent
        || value.is_some_and(|word| is_number(word) && !is_of_rate && !first.is_some_and(ends_clause))
}

/// `ties are broken by X`, `X breaks ties`.
fn is_for_ties(words: &[Word], mention: &Mention) -> bool {
    let is_tie =
        |word: &Word| among("tie ties tied tiebreak tiebreaker tiebreakers draw draws", word.text.as_str());
    let before = words[..mention.start].iter().rposition(is_tie);
    let has_turned = |from: usize| {
        words[from..mention.start].iter().any(|word| among(TURNS, &word.text) || word.before.contains(';'))
    };
    let after = words[mention.end..].iter().take_while(|word| !ends_clause(word));
    before.is_some_and(|at| !has_turned(at)) || after.into_iter().any(is_tie)
}

/// What another metric is for: `the F1 score measures the accuracy of a classifier`.
fn is_purpose(words: &[Word], mention: &Mention) -> bool {
    const FOR: &str =
        "measures reflects captures balances summarizes summarises combines describes gauges rewards";
    let near = mention.start.saturating_sub(4)..mention.start;
    let verb = near.rev().find(|at| among(FOR, &words[*at].text));
    // "The score measures X" and "the metric measures X" name what counts, and so does "two measures: X".
    verb.is_some_and(|verb| {
        let is_bare = words[..verb]
            .iter()
            .all(|word| among("the a our your this competition evaluation score metric", &word.text));
        let is_noun = verb > 0 && among("two three both these of all several", &words[verb - 1].text);
        !is_bare
            && !is_noun
            && words[..verb].iter().any(|word| among("f1 auc score kappa error loss metric rmse", &word.text))
    })
}

/// `last year X was used`, `the paper reports X`, `as training loss`.
fn is_elsewhere(sentence: &Sentence, cue: Option<&Cue>, mention: &Mention) -> bool {
    let words = &sentence.words;
    let is_marker = |at: usize| is_marker(words, at);
    let is_past = |at: usize| {
        words.get(at + 1).is_some_and(|word| matches!(word.text.as_str(), "was" | "were" | "had"))
    };
    for at in (0..mention.start).rev() {
        if is_marker(at) {
            return true;
        }
        let word = words[at].text.as_str();
        let is_ours = among("submissions predictions entries here now we you your", word)
            || word == "year" && at > 0 && words[at - 1].text == "this";
        if among(TURNS, word) || words[at + 1].before.contains(';') || is_ours && !is_past(at) {
            break;
        }
    }
    let end = words[mention.end..].iter().position(ends_clause).map_or(words.len(), |at| mention.end + at);
    let is_turn = |word: &Word| {
        among(TURNS, &word.text)
            || ["and", "relative", "compared", "than", "over", "against"].contains(&word.text.as_str())
    };
    let turn = words[mention.end..end].iter().position(is_turn);
    let end = turn.map_or(end, |at| mention.end + at);
    // "Scored by the accuracy of the predicted authors" is about people of the data.
    let is_of_data = |at: usize| {
        among(PEOPLE, &words[at].text)
            && cue::governs(sentence, cue, mention.start)
            && !sentence.has("was were")
    };
    (mention.end..end).any(|at| is_marker(at) && !is_of_data(at))
}

/// Whether this word, with the next ones, is about other evaluations than that of this task's submissions.
fn is_marker(words: &[Word], at: usize) -> bool {
    const EVALUATE: &str =
        "evaluate score rank judge grade assess measure determine compare compute calculate decide select";
    let text = |at: usize| words.get(at).map_or("", |word| word.text.as_str());
    let (word, next) = (text(at), text(at + 1));
    // "The original scale" and "the past 10 days" are about the data.
    let is_end = words.get(at + 1).is_none_or(|next| next.before.contains([',', ';', ':', '.']));
    let is_other = !among(FORMER, word) || is_end || (at + 1..=at + 2).any(|at| among(FORMERLY, text(at)));
    // "X is used to rank submissions" is about these.
    let is_used = (word, next) == ("used", "to")
        && among(EVALUATE, text(at + 2))
        && !at.checked_sub(1).is_some_and(|at| among("we they", text(at)));
    let is_more = word == "information" && at > 0 && text(at - 1) == "more";
    among(ELSEWHERE, word) && is_other
        || among(SECONDARY, word) && !is_more
        || ELSEWHERE_PAIRS.contains(&(word, next)) && !is_used
}
