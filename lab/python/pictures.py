"""The pictures of results in the documentation.

pictures.py PROGRAM

writes `docs/quality.svg` from the table of real data in `lab/quality.md`: the mean gain of each program over a constant
prediction as a share of AutoGluon's, with a 95 % bootstrap interval over the tables; and `docs/run.svg`, in which the picture
that `PROGRAM show --svg` prints of the recorded run is drawn as the run went, in 12 of 15 seconds.
"""

import json
import re
import subprocess
import sys
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
    lines = ["gain over a constant prediction, as a share of AutoGluon's", f"mean of {len(both)} real tables, 60 s each, one core, no key; lines are 95 % intervals"]
    for number, line in enumerate(lines):
        parts.append(f'<text class="soft" x="{LEFT}" y="{len(bars) * BAR + 24 + 18 * number}">{line}</text>')
    height, title = len(bars) * BAR + 52, f"{lines[0]}: LightGBM {both[:, 0].mean():.3f}, mle-star {both[:, 1].mean():.3f}"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img"><title>{title}</title>'
    return "\n".join([head, f"<style>{STYLE}</style>", *parts, "</svg>", ""])


# What the picture of a run is drawn with: the times at which it is begun, complete and begun again.
PLAYED = """.played { clip-path: url(#played) } .typed { font: 600 17px ui-monospace, monospace !important }
@media (prefers-reduced-motion: reduce) { .played { clip-path: none } .clock { display: none } }"""


def run(program: str) -> str:
    """The picture of the recorded run, revealed from left to right."""
    recorded = str(ROOT / "examples/recorded/flight-delays")
    show = [program, "show", recorded]
    picture = subprocess.run([*show, "--svg"], check=True, capture_output=True, text=True).stdout
    told = json.loads(subprocess.run([*show, "--json"], check=True, capture_output=True, text=True).stdout)
    expected, metric = told["score"]["expected"], told["run"]["metric"]
    low, high = expected["interval"]
    left, top, width, height = map(float, re.search(r'viewBox="([^"]+)"', picture)[1].split())
    start = float(re.search(r'class="edge" d="M([\d.]+)', picture)[1])
    # It is whole at first, for those who look at it without time.
    loop = 'keyTimes="0;0.2;0.2;1" dur="15s" repeatCount="indefinite"'
    wipe = f'values="{width};{width};{start - left};{width}" {loop}'
    clock = f'values="{left + width};{left + width};{start};{left + width}" {loop}'
    late = f'values="1;1;0;0" {loop}'
    head, style, body = re.match(r"(<svg.*?>)<style>(.*?)</style>(.*)</svg>", picture, re.DOTALL).groups()
    paper, body = body.split("/>", 1)
    taller = f'viewBox="{left} {top - 40} {width} {height + 72}"'
    end = f"expect {metric} {expected['score']:.3f} [{low:.2f}, {high:.2f}]; wrote submission.csv and solution.py"
    return "\n".join(
        [
            re.sub(r'viewBox="[^"]+"', taller, head),
            f"<style>{style}{PLAYED}</style>",
            f"{paper}/>".replace(f'y="{top:.0f}"', f'y="{top - 40:.0f}"'),
            f'<clipPath id="played"><rect x="{left}" y="{top}" width="{width}" height="34"/>'
            f'<rect x="{left}" y="{top}" height="{height}" width="{width}"><animate attributeName="width" {wipe}/></rect></clipPath>',
            f'<text class="typed" x="0" y="{top - 14}">$ mle-star run examples/flight-delays --agents offline</text>',
            f'<g class="played">{body}</g>',
            f'<path class="edge clock" d="M0 {top + 40}V{top + height}"><animateTransform attributeName="transform" '
            f'type="translate" {clock}/><animate attributeName="opacity" values="0;0;1;1" {loop}/></path>',
            f'<text class="typed" x="0" y="{top + height + 18}">{end}<animate attributeName="opacity" {late}/></text>',
            "</svg>",
            "",
        ]
    )


if __name__ == "__main__":
    (ROOT / "docs/quality.svg").write_text(quality())
    (ROOT / "docs/run.svg").write_text(run(sys.argv[1]))
