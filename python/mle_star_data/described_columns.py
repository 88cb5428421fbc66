"""What a description says about columns: the positive class of two, and the column to predict."""

from __future__ import annotations

import re
from collections.abc import Callable

from .naming import word_set
from .readings import Question, Reading, Value
from .sentences import sentences

_USUAL = (("false", "true"), ("no", "yes"), ("n", "y"), ("f", "t"), ("negative", "positive"), ("neg", "pos"))
_PLAIN = word_set("yes no true false y n t f one zero in out on off up down")
_NOT = r"\b(?:not|never|no|without|fails?|failed|non|cannot|neither|unable|n't)\b"
_PROBABILITY = (
    r"(?:probabilit(?:y|ies|é)|likelihood|chances?|risk|odds|propensity|likely|wahrscheinlichkeit|probabilidade?)"
)

_ENDINGS = r"(?:s|es|e|d|ed|ing|ers?|ly|n|en|ions?|al|t|ce|y|ures?|ment|ations?|ulent)?"


def positive_class(
    text: str, labels: tuple[str, str], sample_name: str | None, given: str | None, chose: bool
) -> Value | Question:
    """The label that is given, else the one that a sentence, the sample's column or the labels tell.

    `chose` says that the program chose the metric, so that it may choose the label, too.
    """
    one, other = sorted(labels, key=lambda label: (as_number(label) is None, as_number(label) or 0.0, label))
    holds, found, sentence = f'the column holds "{one}" and "{other}"', None, ""
    if given is not None:
        seen = f'--positive-class "{given}" is no label, as {holds}'
        same = [label for label in (one, other) if _is_same(label, given)]
        found = (same[0], "as given") if len(same) == 1 else None
    else:
        said = _requested_labels(text, (one, other))
        seen = f"{holds}, and the metric needs to know whose probability is predicted: "
        seen += "the description names both: " if said else "nothing says which"
        seen += ", and ".join(dict.fromkeys(quoted for _, quoted in said))
        if len({label for label, _ in said}) == 1:
            label, sentence = said[0]
            found = (label, f"from {sentence}")
        elif not said:
            called = f'the sample submission\'s column is called "{sample_name}"'
            tries = (
                (_in_name(sample_name or "", (one, other)), called),
                (_usual_label(one, other), "which is the usual meaning"),
                (other if as_number(other) is not None else None, "the larger number, since nothing says which"),
                (other if chose else None, "the later of the two; --positive-class sets the other"),
            )
            found = next(((label, why) for label, why in tries if label), None)
    if found:
        return Value("positive_class", found[0], f'higher means "{found[0]}", {found[1]}', sentence)
    readings = tuple(Reading(label, f'higher means "{label}"') for label in (one, other))
    return Question("positive_class", seen, "--positive-class", readings)


def as_number(label: str) -> float | None:
    return float(label) if re.fullmatch(r"\s*[-+]?(?:\d+\.?\d*|\.\d+)\s*", label) else None


def _is_same(label: str, given: str) -> bool:
    number = as_number(label)
    return label.strip().lower() == given.strip().lower() or (number is not None and number == as_number(given))


def _usual_label(one: str, other: str) -> str | None:
    if (as_number(one), as_number(other)) in ((0.0, 1.0), (-1.0, 1.0)):
        return other
    lower = {label.strip().lower(): label for label in (one, other)}
    return next((lower[yes] for no, yes in _USUAL if set(lower) == {no, yes}), None)


def _in_name(name: str, labels: tuple[str, str]) -> str | None:
    """The label that a column's name contains, such as `churned` in `p_churned`."""
    words = re.findall(r"[^\W\d_]+|\d+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name))
    if all(as_number(label) is not None for label in labels):
        return next((label for label in labels if words[-1:] and len(words) > 1 and _is_same(label, words[-1])), None)
    found = [label for label in labels if re.search(_label(label, is_marked=True), " ".join(words).lower())]
    return found[0] if len(found) == 1 else None


def _label(label: str, is_marked: bool = False) -> str:
    """The pattern of a label in a text: of a word with other endings, of a number where it is called a value."""
    number = as_number(label)
    if number is not None:
        digits = f"{number:g}".replace("-", r"[-\u2212]").replace(".", r"\.") + r"(?:\.0+)?(?![\w]|\.\d)"
        listed_too = r"(?!\W+(?:\([^)]*\)\W+)?(?:or|and|to|vs|versus)\W+[-\u2212]?\d|\W*,\W*\d)"
        called = r"\b(?:is|not|be|being|equals?|means?|class|label|category|outcome|equal to)[ `'\"]{1,2}|= ?[`'\"]?"
        return rf"(?:{called}){digits}{listed_too}"
    lower = label.strip().lower()
    if not re.fullmatch(r"[\w -]+", lower):
        return re.escape(lower)
    if lower in _PLAIN or len(lower) == 1:
        word = rf"\b{re.escape(lower)}\b"
        if is_marked:
            return word
        return rf"(?:(?<=[`'\"\u201c]){word}(?=[`'\"\u201d])|(?<= of ){word}(?=\W*$|[.,;:()]| (?:for|in|at|on|per) ))"
    return r"[\W_]+".join(_word(word) for word in re.split(r"[\s_-]+", lower))


def _word(word: str) -> str:
    stem = re.sub(r"(?:ations?|ions?|ing|ed|es|s|e)$", "", word)
    stem = stem if len(stem) >= 4 else word
    stem = stem[:-1] if len(stem) > 4 and stem[-1] == stem[-2] and stem != word else stem
    return rf"\b{re.escape(stem)}{re.escape(stem[-1])}?{_ENDINGS}\b"


def _requested_labels(text: str, labels: tuple[str, str]) -> list[tuple[str, str]]:
    """The labels that sentences ask for, each with its sentence, by the first rule by which any does."""
    found = [one for one in sentences(text) if one.section != "aside" and not one.is_code]
    for rule in (_by_role, _by_probability, _by_question):
        if said := [(label, one.quoted()) for one in found for label in _labels_by(rule, one.text.lower(), labels)]:
            return said
    return []


def _labels_by(rule: Callable[[str], list[str]], text: str, labels: tuple[str, str]) -> list[str]:
    """The labels that a sentence asks for by this rule; the other one where it is negated."""
    found: list[str] = []
    for label, other in (labels, labels[::-1]):
        matches = [match for pattern in rule(label) if (match := re.search(pattern, text))]
        if matches:
            between = matches[0]["between"] if as_number(label) is None else matches[0][0]
            found.append(other if re.search(_NOT, between) else label)
    both = rule is not _by_role and all(re.search(_label(label), text) for label in labels)
    return [] if both and as_number(labels[0]) is None else found


def _by_role(label: str) -> list[str]:
    """`the positive class is X`, `X is the positive class`, `higher values mean X`, `X counts as 1`."""
    name = _label(label)
    role = r"(?:positive (?:class|label|outcome|category|event|target|case)|class of interest)"
    means = r"(?:means?|indicates?|correspond\w*|impl\w+|suggests?|likely)"
    size = rf"\b(?:higher|larger|greater|bigger|high|large)\b(?:\W+\w+){{0,3}}\W+{means}"
    return [
        rf"{role}(?P<between>[^.;:]{{0,20}}?){name}",
        rf"{name}\W+(?:is|as|be|are)(?P<between>)\W+(?:the )?{role}",
        rf"{size}\b(?P<between>[^;()]{{0,50}}?){name}",
        rf"{name}\W+counts? as (?P<between>)(?:a |an )?(?:1|one)\b",
    ]


def _by_probability(label: str) -> list[str]:
    """`the probability that it is X`, `P(X)`, `F1 of class 1`."""
    name, clause = _label(label), r"[^.;:]" if as_number(label) is not None else r"[^.;:()]"
    return [
        rf"\b{_PROBABILITY}\b(?P<between>{clause}{{0,90}}?){name}",
        rf"\bpr?\((?P<between>[^)]*?){name}",
        *([rf"\b(?:f1|auc|precision|recall) (?P<between>of ){name}"] if as_number(label) is not None else []),
    ]


def _by_question(label: str) -> list[str]:
    """`predict whether it is X`."""
    verb = r"\b(?:predict|forecast|estimat|decid|classif|determin|detect|tell|guess)\w*"
    return [rf"{verb}[^;]*?\b(?:whether|if|which|who|ob)\b(?P<between>[^;]*?){_label(label)}"]


_ASKS = re.compile(
    r"\b(?:predict|forecast|estimat|classify|vorhers|prédi|prever)(?!ors?\b|ive\b|ions?\b(?! of))\w*", re.IGNORECASE
)
_TARGET = re.compile(r"\b(?:targets?|labels?|outcome|response|zielvariable)\b", re.IGNORECASE)
_FEATURES = re.compile(r"\b(?:based|basis|from|given|using|with|by|depending|according)\b")


def target_named(text: str, columns: list[str]) -> Value | None:
    """The column that sentences ask to predict; none if several are.

    The first name behind `predict` counts, up to words such as `based on`, which features follow, and a name
    beside `target`.
    """
    named: dict[str, str] = {}
    for sentence in sentences(text):
        if sentence.section == "aside" or sentence.is_code:
            continue
        text, parts = sentence.text, []
        if role := _TARGET.search(text):
            parts += [" ".join(text[role.end() :].split()[:5]), " ".join(text[: role.start()].split()[-5:])]
        if asked := _ASKS.search(text):
            parts.append(_FEATURES.split(text[asked.end() :])[0])
        if column := next((column for part in parts if (column := _first_column(part, columns))), None):
            named.setdefault(column, sentence.quoted())
    if len(named) != 1:
        return None
    column, quoted = named.popitem()
    return Value("target_column", column, f"from {quoted}", quoted)


def _first_column(text: str, columns: list[str]) -> str | None:
    """The column that stands first in a text, the longest of several; single letters name none."""
    found: list[tuple[int, int, str]] = []
    for column in columns:
        words = re.findall(r"[^\W_]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", column).lower())
        pattern = r"[\W_]*".join(map(re.escape, words))
        if len(column) > 1 and words and (match := re.search(rf"(?<!\w){pattern}(?!\w)", text.lower())):
            found.append((match.start(), -len(column), column))
    return min(found)[2] if found else None
