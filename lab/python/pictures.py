"""The pictures of results in the documentation.

pictures.py

reads the table of real data in `lab/quality.md` and writes `docs/quality.svg`: the mean gain of each program over a constant
prediction as a share of AutoGluon's, with a 95 % bootstrap interval over the tables.
"""

import re
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
WIDTH, BAR, LEFT, END = 720, 34, 120, 1.1
STYLE = """text { font: 15px system-ui, sans-serif; fill: #24292f } .soft { fill: #57606a; font-size: 13px }
.other { fill: #8c959f } .this { fill: #0b6bcb } line { stroke: #24292f; stroke-width: 2 } .one { stroke-dasharray: 4 4; stroke-width: 1 }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .soft { fill: #9198a1 } .this { fill: #4493f8 } line { stroke: #e6edf3 } }"""


def ratios() -> np.ndarray:
    """The gains of LightGBM and of this program, divided by AutoGluon's; a row for each table."""
    text = (ROOT / "lab/quality.md").read_text().split("## Real data")[1].split("###")[0]
    rows = re.findall(r"^\| \w+ \| [^|]*[↑↓] \|.*\| ([\d.]+) \| ([\d.]+) \|$", text, re.MULTILINE)
    return np.array(rows, dtype=float)


def quality() -> str:
    both = ratios()
    drawn = np.random.default_rng(0).integers(len(both), size=(20_000, len(both)))
    low, high = np.quantile(both[drawn].mean(axis=1), [0.025, 0.975], axis=0)
    bars = [("LightGBM", 0), ("AutoGluon", None), ("mle-star", 1)]
    x = lambda value: LEFT + value / END * (WIDTH - LEFT - 20)  # noqa: E731
    parts = [f'<line class="one" x1="{x(1):.0f}" x2="{x(1):.0f}" y1="4" y2="{len(bars) * BAR + 4}"/>']
    for row, (name, column) in enumerate(bars):
        mean = 1.0 if column is None else both[:, column].mean()
        top, middle = row * BAR + 9, row * BAR + 9 + BAR // 3
        parts.append(f'<text x="{LEFT - 10}" y="{middle + 5}" text-anchor="end">{name}</text>')
        kind = "this" if column == 1 else "other"
        parts.append(f'<rect class="{kind}" x="{LEFT}" y="{top}" width="{x(mean) - LEFT:.0f}" height="{BAR * 2 // 3}"/>')
        parts.append(f'<text x="{LEFT + 10}" y="{middle + 5}" fill="#fff" style="fill: #fff">{mean:.3f}</text>')
        if column is not None:
            ends = f'x1="{x(low[column]):.0f}" x2="{x(high[column]):.0f}"'
            parts.append(f'<line {ends} y1="{middle}" y2="{middle}"/>')
    words = f"gain over a constant prediction, AutoGluon's = 1: mean of {len(both)} real tables, 60 s each, 95 % interval"
    parts.append(f'<text class="soft" x="{LEFT}" y="{len(bars) * BAR + 24}">{words}</text>')
    height, title = len(bars) * BAR + 34, f"{words}: LightGBM {both[:, 0].mean():.3f}, mle-star {both[:, 1].mean():.3f}"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img"><title>{title}</title>'
    return "\n".join([head, f"<style>{STYLE}</style>", *parts, "</svg>", ""])


if __name__ == "__main__":
    (ROOT / "docs/quality.svg").write_text(quality())
