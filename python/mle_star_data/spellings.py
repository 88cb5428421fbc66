"""How people write the metrics: a table of spellings, the words that change a metric or leave it as it is, and
formulas.

All of it is written in the form of `normal`: lower case, words and marks separated by single blanks, no hyphens, `@` as
`at` and `%` as `percent`.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass

from .naming import word_set

_MARKS = str.maketrans({"\u00b2": "2", "\u2019": "'", "\u2212": "-", "_": " "})
NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")

#: The metrics and the pattern of their usual spellings. `#` is the number that a name needs.
SPELLINGS: dict[str, str] = {
    "accuracy": r"(?:(?:mean|average|classification|cat[ae]gori[sz]ation|prediction|multi ?class) )*"
    r"(?:accuracy(?: score)?|acc)",
    "balanced accuracy": r"balanced acc(?:uracy)?(?: score)?|bacc|macro (?:averaged? )?recall",
    "F1": r"(?:binary )?f1 ?(?:score|measure)?(?: binary)?",
    "macro F1": r"macro ?(?:averaged? )?f1(?: score| measure)?|f1(?: score)? \(? ?macro(?: \))?",
    "micro F1": r"micro ?(?:averaged? )?f1(?: score| measure)?|f1(?: score)? \(? ?micro(?: \))?",
    "weighted F1": r"weighted (?:averaged? )?f1(?: score| measure)?|f1(?: score)? weighted",
    "ROC-AUC": r"(?:roc ?auc|auc ?roc|auroc|auc)(?: score)?"
    r"|area under (?:the )?(?:(?:roc|receiver operating(?: characteristics?)?)(?: curve)?|curve)",
    "average precision": r"(?:pr ?auc|auc ?pr|auprc|average precision)(?: score)?"
    r"|area under (?:the )?precision recall curve",
    "log loss": r"(?:(?:mean|average|multi ?class|binary|categorical) )*"
    r"(?:log ?loss|m?logloss|logarithmic loss|cross entropy(?: loss)?)",
    "Brier score": r"brier(?: score)?(?: loss)?",
    "MCC": r"mcc|matthews? correlation(?: coefficient)?|matthews corrcoef|phi coefficient",
    "quadratic weighted kappa": r"quadratic(?:ally)? (?:weighted )?(?:cohen )?kappa|qwk|(?:cohen )?kappa quadratic"
    r"|weighted kappa|(?:cohen )?kappa with quadratic weights",
    "RMSE": r"rmse|root mean squared? error|root mse",
    "MSE": r"mse|mean squared? error",
    "MAE": r"mae|mean absolute (?:error|deviation)",
    "median absolute error": r"median absolute error|medae|median ae",
    "R2": r"r ?2(?: ?score)?|r ?squared?|coefficient of determination",
    "RMSLE": r"rmsle|root mean squared? log(?:arithmic)? error"
    r"|log(?:arithmic| transformed)? (?:rmse|root mean squared error)"
    r"|(?:rmse|root mean squared error)(?: \( rmse \))? (?:(?:of|between|on|in) )?(?:the )?"
    r"log(?:s|arithms?| scale| space)?(?: of (?:[^\s.,;()]+ ){1,6}and (?:the )?(?:log|logarithm) of)?",
    "MAPE": r"mape|mean absolute percent(?:age)? error",
    "SMAPE": r"smape|symmetric (?:mape|mean absolute percent(?:age)? error)",
    "Spearman correlation": r"spearmanr|spearman(?: rank)?(?: rho| r)?(?: correlation)?(?: coefficient)?"
    r"|rank correlation",
    "Pearson correlation": r"pearsonr|pearson(?: r)?(?: correlation)?(?: coefficient)?|pcc",
    "normalized Gini": r"(?:normali[sz]ed )?gini(?: coefficient| index| score)?|gini normali[sz]ed",
    "sample-averaged F1": r"(?:(?:samples?|example|instance|row) (?:averaged?|wise|based) |samples? )f1(?: score)?"
    r"|(?:mean )?f1 of sets|f1(?: score)? (?:sample averaged|samples)"
    r"|f1(?: score)? (?:of the \w+ of each row ,? ?)?averaged over (?:the )?(?:samples|rows)",
    "micro F1 of sets": r"micro (?:averaged )?f1 of sets|multi ?label (?:micro f1|f1 micro)",
    "macro F1 of sets": r"macro (?:averaged )?f1 of sets|multi ?label (?:macro f1|f1 macro)"
    r"|label (?:averaged|based macro) f1",
    "MAP@": r"(?:map|mapk|mean average precision) (?:at (?:(?:the|top|k|with|where|=|,) )*)?#",
    "top- accuracy": r"top # (?:categorical |classification )?accuracy"
    r"|(?:classification )?accuracy at (?:the )?(?:top )?#",
    "pinball loss ": r"(?:mean |average )?(?:pinball|quantile|check) (?:loss|score|error)(?: function)?"
    r"(?: (?:at|for|with|of|the|a|level|quantile|alpha|tau|q|p|=|\())* #"
    r"(?: (?:th|percent|quantile|percentile))*(?: \))?",
    "interval score ": r"(?:mean |average )?(?:winkler (?:interval )?(?:score|loss)|interval score|winkler)"
    r"(?: (?:at|for|with|of|the|a|level|coverage|nominal|alpha|=|\())* #(?: percent)?"
    r"(?: prediction intervals?)?(?: \))?",
}
#: What a name of these is without its number, and what it lacks.
LACKS = {
    r"(?:map|mapk|mean average precision)(?: at k)?": "the number of guesses that count, as in MAP@3",
    r"top k accuracy": "the number of guesses that count, as in top-5 accuracy",
    r"(?:pinball|quantile|check) (?:loss|score|error)": "its quantile, as in pinball loss 0.9",
    r"winkler(?: interval)?(?: score)?|interval score": "the share that intervals should cover, "
    "as in interval score 0.9",
}
#: A mean over columns, which these metrics have names for.
COLUMN_WISE = r"(?:mean |average )?column ?(?:wise|averaged) (?:mean )?"
OF_COLUMNS = {"RMSE": "MCRMSE", "ROC-AUC": "mean column-wise ROC-AUC", "log loss": "mean column-wise log loss"}
WEIGHTED = r"(?:sample |row )?weighted "
_PREFIXES = {"mc": "mean column wise", "w": "weighted"}
#: Names of other metrics, which make a sentence one about two.
OTHERS = r"""n?dcg|mrr|m?iou|jaccard|dice|levenshtein|hausdorff|bleu|rouge|crps|perplexity|wape|wmape|mase|rmsse|wrmsse
|rmspe|kappa|kendall|f2|f0\.5|f beta|fbeta|precision|recall|sensitivity|specificity|hamming|huber|hinge|lift|error rate
|edit distance|concordance|deviance|correlation|reciprocal rank|medape|msle|skill score|log likelihood|divergence"""

#: Words beside a metric that change nothing.
HARMLESS = word_set(
    """classification categorization multiclass multi class binary overall standard simple simply plain usual popular
    well known common commonly used widely official final resulting total achieved predicted test hidden private
    public leaderboard following same single prediction predictive label labels lowest smallest highest best largest
    greatest minimum minimum maximum high low good scikit learn sklearn so called familiar classical classic
    traditional ordinary corresponding obtained basic main primary sole only solely evaluation metric competition
    performance quality lower higher smaller larger forecast model regression resultant respective submission
    submissions unweighted scores score actual just also directly current regular typical measured reported true
    truth real observed ground target targets value values predictions forecasts probabilities probability answers
    answer rows data set entries your our their its all whole entire unseen holdout held out coefficient error loss
    measure file solution given below above in per cent percent percentage defined described explained outcome
    kaggle page wiki euros rounded decimals decimal places digits participants outcomes classes hereafter formula
    task challenge contest"""
)
#: Words that begin another part of a sentence, on either side of a metric.
BOUNDARIES = word_set(
    """computed the a an this that these those by using with via as to from under through at based according is are was
    were be been will would can may should must has have had does do use uses employs employ minimize minimise
    minimizes maximize maximise maximizes optimize called named calculate calculates evaluate evaluates measures
    report reports show shows where when if because since while which what who it we you they here there namely i e
    g for of on in and or between against than so el la le il der die das den dem des es el o os es ist nach auf im
    zum von mit wie usa usar selon según counts decides wins matters applies per par por con del du un una une unter
    y und et bewertet"""
)
#: Words that change a metric wherever they stand in its sentence.
CHANGING = word_set(
    """weighted weight weights weighting weighs partial partially skill top capped cap clipped clip truncated trimmed
    relative relatively log logs logarithm logarithms logarithmic ln log10 log1p log2 squared square root inverse
    negative difference differences ratio ratios variance standardised standardized normalized normalised scaled
    transformed improvement improvements reduction gain uplift stability minus plus times divided multiplied product
    sum sums totals aggregated aggregates medians median combination combined combines harmonic geometric blend mix
    per each every individual averaged averaging average mean across during within worst only except excluding
    ignoring unless but instead rather unlike no neither nor without after twice doubled summed cumulative demeaned
    deviation sqrt exp max min abs tries attempts guesses twice double triple half penalty penalties penalised
    penalized bonus threshold thresholds modified modification variant custom generalised generalized base skipped
    dropped floor restricted limited subset subsets group groups subgroup cost costs global probabilistic adjusted
    smoothed"""
)
#: Those that do so in the sentences after it, too: rows count otherwise.
ROWS_CHANGED = (
    r"\b(?:weighted|weights?|counts? (?:twice|double|half|\w+ times)|left out|excluded|ignored|capped|clipped|twice as"
    r"|(?:is|are|do|does) not (?:scored?|counte?d?|evaluated)|doubled|tripled|halved|multiplied|summed|costs?|penalt\w+"
    r"|bonus|half|quarter|only (?:scored|counted|evaluated|computed|calculated)|times as much|macro|micro)\b"
)


@dataclass(frozen=True, slots=True)
class Mention:
    """A metric in a normal text: its name, empty for another metric than those of the table."""

    name: str
    start: int
    end: int
    weighted: bool = False
    lacks: str = ""


def normal(text: str) -> str:
    """Lower case, words and marks separated by single blanks."""
    text = text.lower().translate(_MARKS)
    text = re.sub(r"'s\b", "", re.sub(r"n't\b", " not", text))
    # MCRMSE and WMAE.
    means = r"\b(mc|w)(?=(?:rmse|mae|mse|auc|rocauc|logloss|rmsle|smape)\b)"
    text = re.sub(means, lambda at: f"{_PREFIXES[at[0]]} ", text)
    # F_1 and R^2.
    text = re.sub(r"\b([fr])\s?[-^]?\s?\{?\$?([12]|0\.5)\b\}?", r"\1\2", text)
    text = text.replace("@", " at ").replace("%", " percent ").replace("per cent", "percent")
    text = re.sub(r"(?<=[a-z])[-\u2013](?=\w)|(?<=[a-z]\d)-(?=[a-z])|(?<=\d)(?=th\b)", " ", text)
    return " ".join(re.findall(r"(?:\d*\.)?\d+(?![^\W\d_])|[^\W_]+(?:\.\d+)?|[^\w\s]", text))


def _named(name: str, found: re.Match[str]) -> str | None:
    """The name with the number that was read; none if the number makes no sense."""
    number = next((text for text in found.groups() if text), "")
    if not number or not name.endswith(("@", " ", "top- accuracy")):
        return name
    value = float(NUMBERS.index(number) + 1 if number in NUMBERS else number)
    if name in ("MAP@", "top- accuracy"):
        if not value.is_integer() or not 1 <= value <= 100:
            return None
        return "accuracy" if name != "MAP@" and value == 1 else re.sub("[@-]", lambda mark: f"{mark[0]}{value:g}", name)
    share = round(value / 100 if "perc" in found[0] or (number.isdigit() and value > 1) else value, 6)
    is_fine = 0 < share < 1 and round(share, 4) == share and (name == "pinball loss " or share >= 0.5)
    return f"{name}{share:g}" if is_fine else None


def _whole(pattern: str) -> re.Pattern[str]:
    """Whole words."""
    return re.compile(rf"(?<!\S)(?:{pattern})(?!\S)")


_NUMBER = r"((?:\d*\.)?\d+(?! ?(?:,|and|or) ?\d)|" + "|".join(NUMBERS) + ")"
_PATTERNS = {name: _whole(pattern.replace("#", _NUMBER)) for name, pattern in SPELLINGS.items()}
_LACKS = {what: _whole(pattern) for pattern, what in LACKS.items()}
_OTHERS = _whole(OTHERS.replace("\n", ""))
_COLUMN_WISE = re.compile(rf"(?<!\S)(?:{COLUMN_WISE})$")
_WEIGHTED = re.compile(rf"(?<!\S){WEIGHTED}$")


def mentions(text: str) -> list[Mention]:
    """The metrics in a normal text, in order; of those that overlap, the longest."""
    found = [
        Mention("", match.start(), match.end(), lacks=what)
        for what, pattern in _LACKS.items()
        for match in pattern.finditer(text)
    ]
    found += [Mention("", match.start(), match.end()) for match in _OTHERS.finditer(text)]
    for name, pattern in _PATTERNS.items():
        named = ((_named(name, match), match) for match in pattern.finditer(text))
        found += [Mention(full, match.start(), match.end()) for full, match in named if full]
    found.sort(key=lambda one: (one.start - one.end, one.name == ""))
    kept: list[Mention] = []
    for one in found:
        if all(one.end <= other.start or one.start >= other.end for other in kept):
            kept.append(one)
    return sorted((_with_prefix(text, one) for one in kept), key=lambda one: one.start)


def without(text: str, named: list[Mention], instead: str = " ") -> str:
    """The text without its metrics."""
    for one in reversed(named):
        text = text[: one.start] + instead + text[one.end :]
    return text


def _with_prefix(text: str, one: Mention) -> Mention:
    if one.name and (found := _COLUMN_WISE.search(text[: one.start])):
        return Mention(OF_COLUMNS.get(one.name, one.name), found.start(), one.end)
    if one.name and (found := _WEIGHTED.search(text[: one.start])):
        return Mention(one.name, found.start(), one.end, weighted=True)
    return one


def parse(name: str) -> Mention | None:
    """The metric of this name in any usual spelling, also with its short form: `mean absolute error (MAE)`."""
    text = normal(name).removesuffix(" metric")
    found = mentions(text)
    others = set(without(text, found).split()) - {"(", ")", "mean", "metric", "score"}
    is_one = len({of_column(one.name) for one in found}) == 1 and not others
    # The weights of WMAPE are the true values.
    return found[0] if is_one and not (found[0].weighted and found[0].name == "MAPE") else None


def of_column(name: str) -> str:
    """The metric of each column, for a mean over columns."""
    return next((each for each, mean in OF_COLUMNS.items() if mean == name), name)


def nearest(name: str) -> str | None:
    """The metric that may be meant by a name with a slip."""
    names = {normal(one): one for one in SPELLINGS if not one.endswith((" ", "@")) and one != "top- accuracy"}
    found = difflib.get_close_matches(normal(name), names, n=1, cutoff=0.75)
    return names[found[0]] if found else None


# Formulas, and whether they are those of a metric, or make another one of it

#: What is computed of a row, where truth and prediction are both `v`; a mean, a root or a factor may stand around it.
_KERNELS = {
    "RMSLE": ("(log(1+v)-log(1+v))^2",),
    "SMAPE": ("|v-v|/((|v|+|v|)/2)", "|v-v|/(|v|+|v|)"),
    "MAPE": ("|v-v|/|v|", "|(v-v)/v|"),
    "RMSE": ("(v-v)^2",),
    "MSE": ("(v-v)^2",),
    "MAE": ("|v-v|",),
    "log loss": ("vlog(v)+(1-v)log(1-v)", "vlog(v)", "v*log(v)+(1-v)*log(1-v)", "v*log(v)"),
}
_FUNCTIONS = word_set("sum mean average avg sqrt log log1p ln abs min max n")
_SAME = {
    "**": "^", "\u00b2": "^2", "\u00d7": "*", "\u00b7": "*", "\u2211": "sum", "\u03a3": "sum", "\u221a": "sqrt",
    "\u2212": "-", "ln(": "log(", "logv": "log(v)", "v+1": "1+v", "log1p(v)": "log(1+v)", "abs(v-v)": "|v-v|",
    "abs(v)": "|v|", "[": "", "]": "",
}  # fmt: skip
_SIGNS = r" [-/*+] |[|^]|\*\*|\)/|/\(|log|sqrt|exp\(|m(?:in|ax)\("


#: What stands for a formula or a name in code.
_QUOTE = " \u201c "


def without_formulas(text: str) -> tuple[str, list[str]]:
    """The normal text, and the formulas between backticks and dollar signs, but for the name before `=`."""
    formulas: list[str] = []

    def taken(found: re.Match[str]) -> str:
        inner = found[0].strip("`$ ")
        if not found[0].startswith("$") and not re.search(_SIGNS, inner):
            return f" {inner} " if mentions(normal(inner)) else _QUOTE
        name, _, rest = inner.partition("=")
        plain = normal(re.sub(r"\\[a-zA-Z]+|[{}]", " ", name))
        if rest and mentions(plain):
            formulas.append(rest)
            return f" {plain} = "
        if re.search(r"[-+/*^|=]|\\frac|log|sqrt", inner):
            formulas.append(rest or inner)
        return _QUOTE

    text = re.sub(r"\$\$.+?\$\$|`[^`]+`|\$[^$]+\$", taken, text, flags=re.DOTALL)
    return normal(text), formulas


def is_own(formula: str, name: str) -> bool:
    """Whether a formula is that of the metric; one of a metric without a known formula is not looked at."""
    kernels = _KERNELS.get(of_column(name))
    if kernels is None:
        return True
    bare = _bare(formula)
    is_root = "sqrt" in bare or bare.endswith(("^0.5", "^(1/2)"))
    if is_root != (of_column(name) in ("RMSE", "RMSLE")) and "v-v" in bare and ("sum" in bare or "mean" in bare):
        return False
    for kernel in kernels:
        before, found, after = bare.partition(kernel)
        rest = re.sub("sum|mean|average|avg|sqrt|n", "", before + after)
        if found and re.fullmatch(r"[-0-9./*()^]*", rest):
            return True
    return False


def _bare(formula: str) -> str:
    """A formula without blanks and indices, in which each quantity is called `v`."""
    text = re.sub(r"\\(?:left|right|,|;|!|quad|big[lrg]?|Big[lrg]?)(?![a-z])|&|\\\\", "", formula)
    text = re.sub(r"\\(?:text|textrm|mathrm|operatorname|hat|bar|widehat|tilde) ?\{ ?([^{}]*?) ?\}", r"\1", text)
    text = re.sub(r"\\(sum|prod)(?:_(?:\{[^{}]*\}|\w)|\^(?:\{[^{}]*\}|\w))*", r" \1 ", text)
    text = re.sub(r"_(?:\{[^{}]*\}|\w+)", "", text)
    for _ in range(4):
        text = re.sub(r"\\[dt]?frac ?\{([^{}]*)\} ?\{([^{}]*)\}", r"(\1)/(\2)", text)
        text = re.sub(r"\\sqrt ?\{([^{}]*)\}", r"sqrt(\1)", text)
    text = re.sub(r"\\(?:lvert|rvert|vert|mid)", "|", re.sub(r"\\(?:cdot|times)", "*", text)).replace("\\", " ")
    text = text.replace("np.", "").replace("{", "(").replace("}", ")").lower()
    text = re.sub(r"[^\W\d]\w*", lambda at: at[0] if at[0] in _FUNCTIONS else "v", text)
    text = re.sub(r"\s", "", text)
    for one, other in _SAME.items():
        text = text.replace(one, other)
    return text
