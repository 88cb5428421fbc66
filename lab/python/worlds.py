"""Simulated worlds with a known truth: small tasks that tell whether reported intervals hold.

worlds.py FOLDER COUNT [KIND ...]

writes COUNT tasks of each kind as FOLDER/tasks/KIND-SEED/, FOLDER/answers/KIND-SEED.csv and FOLDER/tasks.json. Kind and seed
determine every byte. In tasks.json, `best` is the score of what could be known of the hidden rows.

time        days of three stores with drift, seasons and jumps; the hidden rows are the next 28 days
groups10    ten sites; the hidden rows are those of five other sites
groups100   a hundred sites; the hidden rows are those of fifty other sites
rows        rows without any order
"""

import json
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from series import write_task
from series_sources import TARGET

ID, EXPECTED = "row_id", "expected"
METRIC = "MAE"
STORES, DAYS, HIDDEN_DAYS = 3, 728, 28
GROUPED_ROWS = 2_000
PLAIN_ROWS, HIDDEN_PLAIN_ROWS = 1_500, 1_000


class World(NamedTuple):
    """All rows with what could be known of their target, which of them are hidden, and what to predict."""

    table: pd.DataFrame
    hidden: pd.Series
    about: str


def days(random: np.random.Generator) -> World:
    """Logarithms of sales: levels that wander and jump, together and each alone, seasons, promotions, noise."""
    size = DAYS + HIDDEN_DAYS
    day = np.arange(size)
    year = sum(
        random.normal(0, 0.12) * wave(2 * np.pi * day * turn / 365.25) for turn in (1, 2) for wave in (np.sin, np.cos)
    )
    week = random.normal(0, 0.15, 7)[day % 7]
    together = wandering(random, size)
    tables = []
    for store in range(STORES):
        level = random.normal(3, 0.5) + together + wandering(random, size)
        promotion = random.random(size) < 0.2
        known = year + week + random.normal(0.2, 0.05) * promotion
        noise = random.normal(0, 0.1, size)
        # Nobody can know how a level goes on.
        remaining = np.where(day < DAYS, level, level[DAYS - 1])
        columns = {"date": pd.date_range("2022-01-01", periods=size), "store": f"store {store}", "promotion": promotion}
        sales = {TARGET: np.exp(level + known + noise).round(3), EXPECTED: np.exp(remaining + known)}
        tables.append(pd.DataFrame(columns | sales))
    table = pd.concat(tables).sort_values(["date", "store"], ignore_index=True)
    hidden = table["date"] >= table["date"].min() + pd.Timedelta(days=DAYS)
    return World(
        table, hidden, "Predict the sales of a store on a day. The test rows are the 28 days after the training rows."
    )


def wandering(random: np.random.Generator, size: int) -> np.ndarray:
    """A random walk that jumps twice a year."""
    return np.cumsum(random.normal(0, 0.006, size) + (random.random(size) < 1 / 182) * random.normal(0, 0.15, size))


def sites(count: int) -> Callable[[np.random.Generator], World]:
    """Sites with levels, slopes and noise of their own, which their area explains in part."""

    def world(random: np.random.Generator) -> World:
        every = count + count // 2
        site = np.repeat(np.arange(every), GROUPED_ROWS // count)
        area = random.normal(0, 1, every)
        level, slope = random.normal(0, 0.7, every), random.normal(0, 0.4, every)
        x = random.normal(0, 1, (len(site), 4))
        expected = relation(x) + 0.6 * area[site]
        noise = random.normal(0, 1, len(site)) * random.lognormal(-0.5, 0.4, every)[site]
        names = random.permutation(every)[site]
        columns = {"site": [f"site {name}" for name in names], "area": area[site].round(3)}
        columns |= {f"x{at}": x[:, at].round(3) for at in range(4)}
        target = expected + level[site] + slope[site] * x[:, 1] + noise
        table = pd.DataFrame(columns | {TARGET: target.round(3), EXPECTED: expected})
        order = random.permutation(len(table))
        hidden = pd.Series(site >= count)[order].reset_index(drop=True)
        about = "Predict what a sensor measures. The test rows belong to other sites than the training rows."
        return World(table.iloc[order].reset_index(drop=True), hidden, about)

    return world


def rows(random: np.random.Generator) -> World:
    """The noise grows with one of the columns."""
    size = PLAIN_ROWS + HIDDEN_PLAIN_ROWS
    x = random.normal(0, 1, (size, 4))
    expected = relation(x)
    target = expected + random.normal(0, 0.5, size) * np.exp(0.4 * x[:, 3])
    columns = {f"x{at}": x[:, at].round(3) for at in range(4)}
    table = pd.DataFrame(columns | {TARGET: target.round(3), EXPECTED: expected})
    return World(table, pd.Series(np.arange(size) >= PLAIN_ROWS), "Predict what a sensor measures.")


def relation(x: np.ndarray) -> np.ndarray:
    return x[:, 0] + np.sin(2 * x[:, 1]) + 0.5 * x[:, 0] * x[:, 2]


KINDS = {"time": days, "groups10": sites(10), "groups100": sites(100), "rows": rows}


def write(folder: Path, kind: str, seed: int) -> dict:
    world = KINDS[kind](np.random.default_rng([zlib.crc32(kind.encode()), seed]))
    name = f"{kind}-{seed}"
    table = world.table.copy()
    table.insert(0, ID, range(len(table)))
    train, hidden = (table[rows].drop(columns=EXPECTED) for rows in (~world.hidden, world.hidden))
    text = (
        f"{world.about}\n\nThe column to predict is `{TARGET}`. Submissions are scored by {METRIC}; lower is better. They "
        "have the columns of `sample_submission.csv`.\n"
    )
    written = write_task(folder, name, METRIC, text, train, hidden)
    errors = (table[TARGET] - table[EXPECTED])[world.hidden].abs()
    return written | {"best": float(errors.mean())}


def main(folder: Path, count: int, kinds: list[str]) -> None:
    tasks = {f"{kind}-{seed}": write(folder, kind, seed) for kind in kinds or KINDS for seed in range(1, count + 1)}
    (folder / "tasks.json").write_text(json.dumps(tasks, indent=2))
    print(f"{len(tasks)} tasks")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
