"""A description in Markdown, HTML or plain text as sentences that know the heading above them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from html import unescape
from typing import Literal

Section = Literal["evaluation", "aside", "references", "other"]

#: What begins a word of a heading about evaluation, about other things, and about literature.
_EVALUATION = (
    r"\b(?:evalu|évalu|avali|valutaz|bewert|auswert|metri|métri|scor|rank|judg|grad|assess|leaderboard|gütemaß)"
)
_ASIDE = (
    r"\b(?:related|background|baseline|benchmark|previous|histor|acknowledg|paper|prize|timeline|licen|starter|past)"
)
_REFERENCES = r"\b(?:referenc|citation|literature|bibliograph|cite|citing)"
_LONGEST_HEADING = 12
#: The most characters of a sentence, and of a description.
_LONGEST, _MOST = 2_000, 200_000
_ABBREVIATIONS = r"(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)(?<!\bcf)(?<!\bapprox)(?<!\bfig)(?<!\beq)(?<!\bet al)(?<!\b[A-Za-z])"
#: What tags of HTML are in Markdown; all others are left out.
_TAGS = {
    r"<(script|style|del|s)\b[^<>]*>.*?</\1\s*>|<!--.*?-->": "",
    r"</?(?:p|div|br|li|ul|ol|table|tr|section|article|pre|blockquote|hr)\b[^<>]*>|</h[1-6]>": "\n\n",
    r"<t[dh]\b[^<>]*>": " | ",
    r"</code>": "`",
}


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, as people read it."""

    text: str
    section: Section
    is_heading: bool = False
    is_code: bool = False

    def quoted(self) -> str:
        """The sentence in quotation marks, not much longer than two lines."""
        text = " ".join(self.text.split())
        return f'"{text}"' if len(text) <= 240 else f'"{text[:240].rstrip()}…"'


@lru_cache(maxsize=4)
def sentences(text: str) -> tuple[Sentence, ...]:
    """The sentences in order; of literature there are none."""
    found: list[Sentence] = []
    above: list[tuple[int, Section]] = []
    for level, block in _blocks(_without_html(_plain_ends(text[:_MOST]))):
        if level > 0:
            above = [one for one in above if one[0] < level]
            inherited: Section = above[-1][1] if above else "other"
            section = _below(block) or inherited
            above.append((level, section))
            found.append(Sentence(block, section, is_heading=True))
            continue
        section = above[-1][1] if above else "other"
        if section == "references":
            continue
        if level < 0:
            found.append(Sentence(block, section, is_code=True))
        else:
            found += [Sentence(one, section) for one in _split(block)]
    return tuple(found)


def _plain_ends(text: str) -> str:
    return re.sub(r"\n{3,}", "\n\n", text.replace("\r\n", "\n").replace("\xa0", " "))


def _without_html(text: str) -> str:
    if not re.search(r"</?(?:p|h[1-6]|div|li|br|b|table|del|s|span|a|strong|em|ul)\b[^<>]*>", text, re.IGNORECASE):
        return text
    # A sign before a number or a name of a label, such as `<=50K`, begins no tag.
    for tags, instead in _TAGS.items():
        text = re.sub(tags, instead, text, flags=re.IGNORECASE | re.DOTALL)
    text = re.sub(r"<h([1-6])\b[^<>]*>", lambda tag: "\n\n" + "#" * int(tag[1]) + " ", text, flags=re.IGNORECASE)
    return unescape(re.sub(r"</?[a-zA-Z][^<>]*>", "", text))


def _blocks(text: str) -> list[tuple[int, str]]:
    """Headings with their level, code with -1, and everything else with 0."""
    blocks: list[tuple[int, str]] = []
    for at, part in enumerate(re.split(r"^[ \t]*(?:```|~~~)[^\n]*\n?", text, flags=re.MULTILINE)):
        if at % 2:
            blocks.append((-1, part.strip()))
            continue
        begins = r"\n[ \t]*\n|\n(?=[ \t]*(?:#{1,6} |[-*+] |\d+[.)] |\||>))|(?<=\|)\n|(?<=\\\n)"
        for one in re.split(begins, _headings_end(part)):
            blocks += [block for block in [_block(one)] if block[1]]
    return blocks


def _headings_end(text: str) -> str:
    return re.sub(r"^([ \t]*#{1,6} [^\n]*)\n", r"\1\n\n", text, flags=re.MULTILINE)


def _block(text: str) -> tuple[int, str]:
    text = text.strip()
    mark = re.match(r"(#{1,6}) ", text)
    is_strong = bool(re.fullmatch(r"(\*\*|__)[^*\n]+\1:?", text))
    plain = _unmarked(re.sub(r"^#{1,6} |^(?:[-*+>]|\d+[.)]) ", "", text))
    if text.startswith("|"):
        cells = [cell.strip() for cell in plain.strip("|").split("|")]
        is_rule = all(re.fullmatch(r":?-*:?", cell) for cell in cells)
        return 0, "" if is_rule else ": ".join(cells) if len(cells) == 2 else "; ".join(cells)
    if mark:
        return len(mark[1]), plain
    is_heading = is_strong and len(plain.split()) <= _LONGEST_HEADING and not plain.endswith((".", "!"))
    return (7, plain) if is_heading else (0, plain)


def _unmarked(text: str) -> str:
    """Without links, images, emphasis and what is struck out."""
    parts = re.split(r"(`[^`]+`|\$\$.+?\$\$)", text, flags=re.DOTALL)
    return "".join(part if at % 2 else _without_marks(part) for at, part in enumerate(parts)).strip()


def _without_marks(text: str) -> str:
    text = re.sub(r"!\[[^\[\]]*\]\([^()]*\)|~~[^~]*~~|</?[a-zA-Z][^<>]*>", "", text)
    text = re.sub(r"\[([^\[\]]*)\]\((?:[^()]|\([^()]*\))*\)", r"\1", text)
    text = re.sub(r"\*\*|__(?=\w)|(?<=\w)__", "", text)
    return re.sub(r"(?<![\w`*])[*_](?=\S)([^*_`$]+?)(?<=\S)[*_](?![\w*])", r"\1", text)


def _split(block: str) -> list[str]:
    """The sentences of a paragraph; marks in code and formulas end none."""
    hidden: list[str] = []

    def hide(found: re.Match[str]) -> str:
        hidden.append(found[0])
        return f"\0{len(hidden) - 1}\0"

    text = re.sub(r"\$\$.+?\$\$|`[^`]+`|\$[^$\n]+\$", hide, block, flags=re.DOTALL)
    ends = rf"{_ABBREVIATIONS}(?<=[.!?])[\"')*”]*\s+(?=[^a-zß-ÿ\s])|(?<=[\u3002\uff01\uff1f])"
    parts = [re.sub("\0(\\d+)\0", lambda at: hidden[int(at[1])], part) for part in re.split(ends, text)]
    return [part.strip()[:_LONGEST] for part in parts if re.search(r"\w", part)]


def _below(heading: str) -> Section | None:
    """What a heading says of the text below it."""
    heading = heading.lower()
    if re.search(_REFERENCES, heading):
        return "references"
    evaluation, aside = re.search(_EVALUATION, heading), re.search(_ASIDE, heading)
    if aside and not (evaluation and re.match(rf"{_EVALUATION}\w*\s*(?:and|&|/|,|\+)", heading)):
        return "aside"
    return "evaluation" if evaluation else None
