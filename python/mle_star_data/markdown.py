"""Texts, numbers and shares as agents are shown them, with no way out of a table or a code span of Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence

NAME, PATH, VALUE = 40, 80, 24
"""Characters of a column's name, of a path, of a value."""
INVISIBLE = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]")
"""Letters that change the direction of a text or have no shape."""
CONTROL = re.compile(r"[\s\x00-\x1f\x7f-\x9f]")


def plain(text: str, most: int) -> str:
    found = INVISIBLE.sub("", text.strip())
    cut = CONTROL.sub(" ", found[:most]).replace("|", "\\|").replace("`", "'")
    return f"{cut}…" if len(found) > most else cut


def name(text: str, most: int = NAME) -> str:
    """A name as code."""
    return f"`{plain(text, most)}`"


def path(text: str) -> str:
    return name(text, PATH)


def value(text: str) -> str:
    return name(text, VALUE)


def number(value: float) -> str:
    """About four digits; whole numbers with all of theirs."""
    size = abs(value)
    if value % 1 == 0 and size < 1e15:
        return f"{value + 0.0:.0f}"
    return f"{value:.1f}" if 1_000 <= size < 1e7 else f"{value:.4g}"


def counted(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def share(part: int, whole: int) -> str:
    percent = 100.0 * part / max(whole, 1)
    if part in (0, whole):
        return "0%" if part == 0 else "100%"
    if percent < 0.1 or percent > 99.9:
        return "<0.1%" if percent < 0.1 else ">99.9%"
    return f"{percent:.0f}%" if 10.0 <= percent <= 99.0 else f"{percent:.1f}%"


def percent(share: float) -> str:
    """With two digits."""
    percent = 100.0 * share
    return f"{percent:.{0 if percent >= 9.95 else 1 if percent >= 0.995 else 2}f}%"


def size(bytes: float) -> str:
    unit = "bytes"
    for larger in ("kB", "MB", "GB", "TB"):
        if bytes < 1_000:
            break
        bytes, unit = bytes / 1_000, larger
    return f"{bytes:.1f} {unit}" if bytes < 10 and unit != "bytes" else f"{bytes:.0f} {unit}"


def listed(texts: Sequence[str], most: int) -> str:
    more = f" and {len(texts) - most:,} more" if len(texts) > most else ""
    return ", ".join(texts[:most]) + more


def fit(lines: Sequence[str], room: int) -> list[str]:
    """Whole lines with at most `room` characters in all; the last one says how many are missing."""
    if sum(len(line) + 1 for line in lines) <= room:
        return list(lines)
    left, shown = room - len("- and 1,000,000 more\n"), []
    for line in lines:
        left -= len(line) + 1
        if left < 0:
            break
        shown.append(line)
    return [*shown, f"- and {len(lines) - len(shown):,} more"]


def section(title: str, lines: Sequence[str], room: int) -> str:
    """Empty without lines."""
    return f"## {title}\n\n" + "\n".join(fit(lines, max(room - len(title) - 5, 0))) if lines else ""
