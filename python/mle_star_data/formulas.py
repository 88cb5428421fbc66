"""Formulas in a description: whether they are those of a metric, or make another one of it."""

from __future__ import annotations

import re

from .naming import word_set
from .spellings import mentions, normal, of_column

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
