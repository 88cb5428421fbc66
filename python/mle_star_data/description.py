"""What the description of a task says about its metric.

There is one rule, and no grammar. Exactly one known spelling in a sentence that says what is scored, and nothing beside
it that changes a metric: it is taken, and the sentence is shown. Anything else is a question that quotes it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from . import metrics
from .naming import word_set
from .readings import Column, Direction, GivenMetric, Question, Reading, Value
from .sentences import Sentence, sentences
from .spellings import (
    BOUNDARIES,
    CHANGING,
    HARMLESS,
    ROWS_CHANGED,
    Mention,
    is_own,
    mentions,
    nearest,
    normal,
    of_column,
    parse,
    without,
    without_formulas,
)


def _question(seen: str, names: Sequence[str] = (), means: str = "") -> Question:
    """Which metric counts: one of these, or another one."""
    own = Reading("NAME", "another one, by its name and --direction, which agents compute, or --metric-file FILE")
    plain = (Reading(name, means or f"plain {name}") for name in names)
    return Question("evaluation_metric", seen, "--metric", (*plain, own))


# ---------------------------------------------------------------- the metric


def read_metric(text: str, given: GivenMetric, targets: Sequence[Column]) -> Value | Question:
    """The metric that is given, else the one that the description says, else the usual one."""
    is_given = given.file is not None or given.metric is not None
    taken = _given_metric(text, given, targets) if is_given else _described(text, given, targets)
    if isinstance(taken, Question):
        return taken
    if given.direction not in (None, taken.direction):
        seen = f"metric {taken.value} and direction {given.direction} contradict each other"
        right = Reading(str(taken.direction), f"as {taken.value} is")
        return Question("metric_direction", seen, "--direction", (right,))
    return unfit_question(taken, targets, is_given=given.metric is not None) or taken


def _described(text: str, given: GivenMetric, targets: Sequence[Column]) -> Value | Question:
    found = sentences(text)
    known = frozenset(word for column in targets for word in normal(column.name).split())
    facts = [fact for at in range(len(found)) if (fact := _fact(found, at, known, given.has_weights))]
    for is_strong in (True, False):
        if decisive := [fact for fact in facts if fact.is_strong is is_strong and (fact.name or is_strong)]:
            return _decided(decisive, targets)
    return _no_metric_question(found) if any(_is_about_scores(one) for one in found) else _usual_metric(targets, given)


def _is_about_scores(sentence: Sentence) -> bool:
    """Whether a sentence is about scores at all, clear or not."""
    is_about = re.search(_ABOUT_SCORES, sentence.text.lower())
    return bool(is_about or (not sentence.is_heading and mentions(normal(sentence.text))))


@dataclass(frozen=True, slots=True)
class _Fact:
    """What a sentence says of the metric."""

    sentence: Sentence
    name: str
    """Empty for one without a formula."""
    odd: str
    """What beside it may change it."""
    is_strong: bool
    others: tuple[str, ...] = ()
    lacks: str = ""


#: A sentence with one of these says what is scored; below a heading about evaluation, any other may.
_SAYS = re.compile(
    r"\b(?:(?:evaluat|scor|judg|rank|grad)(?:ed|es?|ing|ion)|we (?:rank|rate)|metric|score|criteri(?:on|a)|leaderboard"
    r"|(?:perform\w+|quality|predictions|submissions|forecasts|entries) (?:is|are|will be) (?:measured|compared|rated"
    r"|assessed)|quality measure|wins?|winners?|decides?|counts|mark|m[ée]tri[ckq]\w*|bewertet|ausgewertet|évalu\w+"
    r"|avalia\w+|valuta\w+|evalúa\w*)\b"
    r"|\b(?:minimi|maximi|optimi)[sz]e\w*"
)
#: What a text about scores has, whether or not it names a metric.
_ABOUT_SCORES = r"\b(?:scor|leaderboard|rank|graded|grading|evalu|évalu|avali|valuta|bewert|metri|métri|judg|criteri)"
#: Sentences about other evaluations than that of the submissions.
_ELSEWHERE = re.compile(
    r"\b(?:papers?|published|baselines?|benchmarks?|literature|historically|originally|original|previous(?:ly)?|earlier"
    r"|former(?:ly)?|last (?:year|time|season|edition)|first (?:stage|round|phase)|ties?|tied"
    r"|train(?:ed|ing)? (?:with|on|loss|objective|metric)|(?:loss|objective) function|early stopping|cross validation"
    r"|used to|for training|secondary|additional(?:ly)?|auxiliary|informational|interesting|curiosity|for reference"
    r"|prizes?|warm up|practice|pilot|state of|other (?:competitions|tasks)|misleading)\b"
)
#: `Submissions are evaluated by the soil quality index`.
_CLAIM = re.compile(
    r"\b(?:(?:evaluated|scored|judged|ranked|graded)(?: now| solely| only)?(?: based)? (?:on|by|using|with|via|through"
    r"|according to|in terms of)|metric(?: (?:for|in|of|used) [a-z ]{0,30}?)? (?:is|are|will be|:))"
    r" (?P<what>[^.,;:()]+)"
)
_SUBJECTS = (
    r"\b(?:submissions?|predictions?|entries|forecasts?|competition|challenge|solutions?|you|your|we|results?|models?"
    r"|outputs?|files?|task|metric)\b"
)
_NO_METRIC = word_set(
    """expert experts people panel jury judges script comparing comparison organizers organisers grader images sets each
    participants team teams number code"""
)


def _fact(found: Sequence[Sentence], at: int, known: frozenset[str], has_weights: bool) -> _Fact | None:
    sentence = found[at]
    if sentence.section == "aside" or sentence.is_heading or sentence.is_code:
        return None
    text, formulas = without_formulas(sentence.text)
    named = mentions(text)
    rest = without(text, named, "~")
    is_evaluation, is_strong = sentence.section == "evaluation", bool(_SAYS.search(rest))
    if _ELSEWHERE.search(rest):
        return None
    if not named:
        return _claim(sentence, text, known)
    if not is_strong and not is_evaluation:
        return None
    if not any(one.name or one.lacks for one in named):
        is_strong = is_strong and bool(_CLAIM.search(text) or re.search(r"\bmetric\b", text))
    names = _most_exact([one.name for one in named])
    lacks = next((one.lacks for one in named if one.lacks), "")
    odd = "" if names[0] else text[named[0].start : named[0].end]
    if any(one.weighted for one in named) and not has_weights:
        odd = "weighted"
    own = [is_own(formula, names[0]) for formula in formulas]
    odd = odd or _odd(text, named, known, _DEFINES if any(own) else frozenset())
    odd = odd or ("" if all(own) else "a formula") or _changed_below(found, at, names[0])
    return _Fact(sentence, names[0], odd, is_strong, tuple(names[1:]), lacks)


def _claim(sentence: Sentence, text: str, known: frozenset[str]) -> _Fact | None:
    """A metric that nobody knows."""
    claim = _CLAIM.search(text)
    if claim is None or not (sentence.section == "evaluation" or re.search(_SUBJECTS, text[: claim.end("what")])):
        return None
    odd = next((word for word in _phrase(claim["what"]) if not _is_harmless(word, known)), None)
    return _Fact(sentence, "", claim["what"].strip(), is_strong=True) if odd and odd not in _NO_METRIC else None


def _most_exact(names: list[str]) -> list[str]:
    """Different metrics; F1 explains macro F1, and the metric of a column its mean."""
    kept: list[str] = []
    for name in names:
        if not any(_explains(name, other) for other in names if other != name):
            kept += [] if name in kept else [name]
    return kept


def _explains(name: str, other: str) -> bool:
    is_precision = name == "average precision" and other.startswith("MAP@")
    return name == of_column(other) or other.endswith(f" {name}") or is_precision


def _is_harmless(word: str, known: frozenset[str]) -> bool:
    return word in HARMLESS or word in known or word in BOUNDARIES or not word[0].isalnum()


def _phrase(words: str) -> list[str]:
    """The words up to the next part of a sentence."""
    phrase: list[str] = []
    for word in words.split():
        if word in BOUNDARIES and word not in ("the", "a", "an", "this", "that"):
            break
        phrase.append(word)
    return phrase


_OPERATORS = frozenset("-+*/\u00d7^\u00b7")
_LINKS = word_set("of for on in over at by with from")
#: What an explanation begins with, and what does so without a comma.
_EXPLAINS = word_set(
    "the a an which where so because since as i e also higher lower larger smaller known or it see and"
)
_CLAUSES = word_set("which where because since so while")
_VALUES = word_set("value values terms basis score metric area results")
#: Words of a definition, which its own formula checks.
_DEFINES = word_set("square root mean average sum squared")


def _odd(text: str, named: list[Mention], known: frozenset[str], allowed: frozenset[str] = frozenset()) -> str:
    """The first word that may change the metric; empty if none does."""
    rest = without(text, named)
    changing = next((word for word in rest.split() if word in CHANGING - allowed - known), "")
    before = (odd for one in named if (odd := _odd_before(text[: one.start].split(), known)))
    return changing or next(before, "") or _odd_behind(_behind(text, named), known)


def _behind(text: str, named: list[Mention]) -> list[str]:
    """What follows the name and its short form."""
    end = named[0].end
    for other in named[1:]:
        if re.fullmatch(r"[ (),:\"*`]*(?:or|aka|short)?[ (),:\"*`]*", text[end : other.start]):
            end = other.end
    return text[end:].strip(" \"*'`").removeprefix(")").split()


def _odd_before(words: list[str], known: frozenset[str]) -> str:
    for at in range(len(words) - 1, -1, -1):
        word, before = words[at], words[at - 1] if at else ""
        if word in _OPERATORS:
            # A dash between words, or before an item of a list.
            return "" if not before or (word == "-" and before[-1].isalpha()) else word
        if word == "of" and before and before not in _VALUES:
            return before
        if word in BOUNDARIES or not word[0].isalnum():
            return ""
        if not _is_harmless(word, known):
            return word
    return ""


def _odd_behind(words: list[str], known: frozenset[str]) -> str:
    """The first odd word: behind the name, in `of ...`, at the begin of `between ...`, behind a comma, in brackets."""
    place = "name"
    for word, before in zip(words, ["", *words], strict=False):
        if (
            (before in (",", "(") and word in _EXPLAINS)
            or word in (";", ".", "\u2014", "\u2013", "=", ":")
            or word in _CLAUSES
        ):
            return ""
        if (word in _OPERATORS and place == "name") or (before == "," and not _is_harmless(word, known)):
            return word
        if word in ("(", ")"):
            place = "brackets" if word == "(" and place != "free" else "free"
        elif word in ("over", "at") or (word in _LINKS and place == "name"):
            place = "limits"
        elif word == "between":
            place = "begin"
        elif (place == "name" and word in BOUNDARIES) or (place == "limits" and word in ("is", "are", "that", "to")):
            place = "free"
        elif place != "free" and not _is_harmless(word, known):
            return word
        elif place == "begin" and word not in BOUNDARIES:
            place = "free"
    return ""


#: The next sentence says how the metric is computed.
_COMPUTES = re.compile(r"(?:it|we|this|they|here)\b.*\b(?:comput|calculat|averag|aggregat|taken?\b)")


def _changed_below(found: Sequence[Sentence], at: int, name: str) -> str:
    """The next sentence, or one further below the same heading, by which rows or errors count otherwise."""
    for below, one in enumerate(found[at + 1 :]):
        if one.is_heading or (below and one.section != "evaluation"):
            break
        text, formulas = without_formulas(one.text)
        named = mentions(text)
        others = [other.name for other in named if other.name]
        if not below and others and not _ELSEWHERE.search(text) and _most_exact([name, *others]) != [name]:
            return f"another metric: {one.quoted()}"
        own = f"{name} weights" if "kappa" in name else name
        changed = next((word for word in re.findall(ROWS_CHANGED, without(text, named)) if word not in own), "")
        if not below and not changed and _COMPUTES.match(text):
            changed = next((word for word in without(text, named).split() if word in CHANGING), "")
        if changed and not one.is_code:
            return f"{changed}: {one.quoted()}"
        if one.text.startswith("$$") and formulas and not any(is_own(formula, name) for formula in formulas):
            return f"a formula: {one.quoted()}"
    return ""


def _decided(facts: list[_Fact], targets: Sequence[Column]) -> Value | Question:
    """One metric of all sentences, none of which has anything odd beside it; else the question."""
    names = _most_exact([fact.name for fact in facts if fact.name])
    odd = next((fact for fact in facts if fact.odd or fact.others), None)
    if odd is not None:
        return _unclear_question(odd)
    seen = {name: next(fact.sentence.quoted() for fact in facts if fact.name == name) for name in names}
    if len(names) > 1:
        ways = ", and ".join(f"{name} in {quoted}" for name, quoted in seen.items())
        return _question(f"the description can be read in {len(names)} ways: {ways}", names)
    return _inferred(names[0], f"from {seen[names[0]]}", seen[names[0]], targets)


def _unclear_question(fact: _Fact) -> Question:
    quoted = fact.sentence.quoted()
    if fact.lacks:
        return _question(f"the description leaves open {fact.lacks}: {quoted}")
    if not fact.name:
        return _question(f'the description scores by "{fact.odd}", which is no built-in metric: {quoted}')
    if fact.odd == "weighted":
        means = "with --weight-column COLUMN, whose values are the weights"
        return _question(f"the description scores by a weighted {fact.name}: {quoted}", [fact.name], means)
    why = f'"{fact.odd}" may make another metric of {fact.name}' if fact.odd else "two metrics are named"
    return _question(f"the description says: {quoted}; {why}", [name for name in (fact.name, *fact.others) if name])


def _inferred(name: str, reason: str, sentence: str, targets: Sequence[Column], is_chosen: bool = False) -> Value:
    if any(column.kind == "sets" for column in targets) and name in ("micro F1", "macro F1"):
        name = f"{name} of sets"
    return Value("evaluation_metric", name, reason, sentence, direction_of(name), is_chosen)


def direction_of(name: str) -> Direction | None:
    """Which scores of a known metric win."""
    metric = metrics.named(name)
    return None if metric is None else "minimize" if metric.is_error else "maximize"


def _usual_metric(targets: Sequence[Column], given: GivenMetric) -> Value | Question:
    """The metric of targets for which nothing names one."""
    is_told = given.is_regression is not None
    are_numbers = [given.is_regression if is_told else column.kind == "numbers" for column in targets]
    if not targets or any(column.kind == "sets" for column in targets) or (len(targets) > 1 and not all(are_numbers)):
        return _no_metric_question([])
    first = targets[0]
    name = "ROC-AUC" if first.distinct == 2 else "log loss"
    if are_numbers[0]:
        name = "RMSE" if len(targets) == 1 else "MCRMSE"
    different = f"{first.distinct} different {'numbers' if first.kind == 'numbers' else 'values'}"
    holds = "fractions" if first.has_fractions else different
    reason = f'the usual one, since "{first.name}" holds {holds}; --metric sets another'
    return _inferred(name, reason, "", targets, is_chosen=True)


def _no_metric_question(found: Sequence[Sentence]) -> Question:
    about = [one.quoted() for one in found if not one.is_heading and _is_about_scores(one)][:2]
    what = "the description does not name one clearly" if found else "nothing describes it"
    seen = f"the evaluation metric is not given, and {what}" + (f": {' '.join(about)}" if about else "")
    return _question(seen, ["RMSE"])


# ---------------------------------------------------------------- what the user gave, and what the target can have


def _given_metric(text: str, given: GivenMetric, targets: Sequence[Column]) -> Value | Question:
    name = given.file or given.metric or ""
    named = None if given.file else parse(name)
    if named and named.lacks:
        return Question("evaluation_metric", f'the metric "{name}" does not say {named.lacks}', "--metric")
    if named and named.weighted and not given.has_weights:
        return Question("weight_column", f'the metric "{name}" needs a weight for each row', "--weight-column")
    if named is None or not named.name:
        return _own_direction(text, name, given)
    better = "smaller" if direction_of(named.name) == "minimize" else "larger"
    return _inferred(named.name, f"as given; {named.name} is better when it is {better}", "", targets)


def _own_direction(text: str, name: str, given: GivenMetric) -> Value | Question:
    if given.direction:
        return Value("evaluation_metric", name, "as given", direction=given.direction)
    said = direction_said(text, name)
    if len(said) == 1:
        ((direction, sentence),) = said.items()
        return Value("evaluation_metric", name, f"as given; the direction is from {sentence}", sentence, direction)
    seen = f'it is not known whether a larger or a smaller "{name}" is better'
    if said:
        seen = f'the description says of "{name}" both {" and ".join(said.values())}'
    elif not given.file and (meant := nearest(name)):
        seen += f"; did you mean {meant}?"
    readings = (Reading("maximize", "larger scores are better"), Reading("minimize", "smaller scores are better"))
    return Question("metric_direction", seen, "--direction", readings)


_SIZES: dict[Direction, str] = {
    "minimize": r"(?:lower|smaller|lowest|smallest|less|fewe[rs]t?|niedriger|kleiner|menor)",
    "maximize": r"(?:higher|larger|highest|largest|greater|greatest|bigger|more|höher|mayor|maior)",
}
_GOOD = r"(?:better|best|wins?|winning|preferred|good|desirable|besser|mejor|melhor)"
_BAD = r"(?:worse|worst|bad)"
_SCORES = r"\b(?:scores?|metric|errors?|loss|it|value)\b"


def direction_said(text: str, name: str) -> dict[Direction, str]:
    """Which scores win, with the first sentence that says so."""
    found = [one for one in sentences(text) if one.section != "aside"]
    texts = [normal(one.text) for one in found]
    about = [
        one.section == "evaluation" or bool(_SAYS.search(text)) or normal(name) in text
        for one, text in zip(found, texts, strict=True)
    ]
    said: dict[Direction, str] = {}
    for at, one in enumerate(found):
        for direction in _directions(texts[at]) if any(about[max(at - 1, 0) : at + 2]) else ():
            said.setdefault(direction, one.quoted())
    return said


def _directions(text: str) -> list[Direction]:
    found: list[Direction] = []
    clauses = [one for one in re.split(r"[.,;()]", text) if not re.search(r"\b(?:not?|never)\b", one)]
    ways: tuple[Direction, Direction] = ("minimize", "maximize")
    for way, other, order in zip(ways, ways[::-1], ("ascending", "descending"), strict=True):
        size, opposite = _SIZES[way], _SIZES[other]
        pairs = [(size, _GOOD), (_GOOD, size), (opposite, _BAD), (_BAD, opposite)]
        compared = "|".join(rf"\b{one}(?: \S+){{0,5}} {two}\b" for one, two in pairs)
        is_aim = re.search(rf"\b{way[:-2]}[sz]\w*\b", text) and re.search(_SCORES, text)
        is_order = re.search(rf"\b{order}\b", text) and re.search(r"\b(?:ranked|sorted|leaderboard|ordered)\b", text)
        if is_aim or is_order or any(re.search(compared, clause) for clause in clauses):
            found.append(way)
    return found


def unfit_question(taken: Value, targets: Sequence[Column], is_given: bool) -> Question | None:
    """The question about a metric that the target cannot have."""
    named = parse(taken.value)
    metric = metrics.named(named.name) if named and named.name else None
    found = (_why_not(metric, column, is_given) for column in targets if metric)
    return next((_question(*why) for why in found if why), None)


def _why_not(metric: metrics.Metric, column: Column, is_given: bool) -> tuple[str, tuple[str, ...]] | None:
    """Why not, and the metrics to take instead."""
    name, instead = f'the column "{column.name}"', ("SMAPE" if metric.name == "MAPE" else "RMSE", "MAE")
    rows, which = (column.zeros, "0") if metric.name == "MAPE" else (column.below, "-1 or less")
    is_probability = metric.kind == "order" and column.distinct <= 2
    of_classes = metric.kind in ("labels", "probabilities", "guesses") or is_probability
    shown = ", ".join(f'"{label}"' for label in column.labels[:3])
    is_log = {"log", "ln", "log1p", "log10"} & set(normal(column.name).split())
    if metric.name in ("MAPE", "RMSLE") and rows:
        has = "1 row has" if rows == 1 else f"{rows} rows have"
        why = f"{metric.name} has no value for a target of {which}, and {has} one in {name}"
        return f"{why}: take {' or '.join(instead)}", instead
    if of_classes and column.kind == "numbers" and column.has_fractions:
        return f"{metric.name} compares classes, and {name} has {column.distinct} different numbers", ("RMSE",)
    if of_classes and column.kind == "sets":
        return f"{metric.name} takes one label, and cells of {name} several labels: {shown}", ("sample-averaged F1",)
    if not of_classes and metric.kind != "sets" and column.kind in ("classes", "sets"):
        return f"{metric.name} compares numbers, and {name} has words such as {shown}", ("accuracy",)
    if metric.name == "RMSLE" and is_log and not is_given:
        return f"the score is an error of logarithms, and {name} may hold logarithms already", ("RMSE", "RMSLE")
    return None
