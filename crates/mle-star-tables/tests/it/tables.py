"""Writes pairs of tables, each into a folder of its own below the working directory: `NAME/input/train.csv`, `test.csv`.

The target is `y`. In names that start with `numbers-` it is a number, otherwise a class.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

TRAIN, TEST = 3000, 1500


class Table:
    """Rows of both tables with six features `x0` to `x5`, a category `town`, an increasing `id` and the target `y`."""

    def __init__(self, kind: str, seed: int = 0, train: int = TRAIN, test: int = TEST) -> None:
        self.kind, self.rows = kind, train
        self.random = np.random.default_rng(seed)
        total = train + test
        x = self.normal((total, 6))
        self.frame = pd.DataFrame(x.round(4), columns=[f"x{position}" for position in range(6)])
        self.frame.insert(0, "id", np.arange(total))
        self.frame["town"] = self.random.choice(list("abcde"), total)
        self.set_target(0.3 * x.sum(axis=1) + 0.5 * (self.frame["town"] == "a"))

    def normal(self, size: int | tuple[int, int]) -> np.ndarray:
        return self.random.normal(size=size)

    def set_target(self, signal: pd.Series | np.ndarray) -> None:
        total = len(self.frame)
        if self.kind == "numbers":
            self.frame["y"] = np.round(signal + self.normal(total), 4)
        else:
            self.frame["y"] = (self.random.random(total) < 1 / (1 + np.exp(-signal))).astype(int)

    def copy_of_target(self, noise: float = 0.4) -> pd.Series:
        y = self.frame["y"]
        y = (y - y.mean()) / y.std() / 2
        return (y + noise * self.normal(len(y))).round(4)

    def split(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        return self.frame[: self.rows].reset_index(drop=True), self.frame[self.rows :].reset_index(drop=True)

    def write(self, name: str, train: pd.DataFrame | None = None, test: pd.DataFrame | None = None) -> None:
        first, second = self.split()
        folder = Path(f"{'numbers-' if self.kind == 'numbers' else ''}{name}") / "input"
        folder.mkdir(parents=True)
        (first if train is None else train).to_csv(folder / "train.csv", index=False)
        (second if test is None else test).drop(columns="y").to_csv(folder / "test.csv", index=False)


def honest(kind: str) -> None:
    Table(kind).write("clean")
    table = Table(kind)
    table.frame["strong"] = table.copy_of_target()
    table.write("strong")
    for name, drift in {"little": 0.3, "much": 0.8}.items():
        train, test = table.split()
        test["strong"] += drift
        table.write(f"strong-{name}-drift", train, test)
    test[["x0", "x1", "x2", "x3"]] += 0.7
    table.write("everything-drifts", train, test)
    table = Table(kind, train=100, test=40)
    table.write("hundred-rows")


def leaks(kind: str) -> None:
    table = Table(kind)
    table.frame["scan_no"] = table.copy_of_target()
    train, test = table.split()
    of_test = {
        "noise": table.normal(len(test)).round(4),
        "shuffled": table.random.permutation(test["scan_no"]),
        "missing": np.nan,
        "constant": 0.5,
        "elsewhere": test["scan_no"] + 100,
    }
    for name, values in of_test.items():
        table.write(f"leak-{name}", train, test.assign(scan_no=values))
    table.write("train-only", train.assign(scan_no=train["y"] * 2 + 1), test.drop(columns="scan_no"))
    table.write("train-only-weak", train.assign(scan_no=train["scan_no"] + table.normal(len(train))), test.drop(columns="scan_no"))


def orders(kind: str) -> None:
    table = Table(kind)
    train, test = table.split()
    train = train.sort_values("y", ignore_index=True)
    table.write("sorted-ids", train.assign(id=np.arange(len(train))), test)
    texts = [frame.assign(id=[f"h{number:x}" for number in table.random.integers(1 << 40, size=len(frame))]) for frame in (train, test)]
    table.write("sorted-rows", *texts)
    everything = table.frame.sort_values("y", ignore_index=True)
    everything["id"] = np.arange(len(everything))
    drawn = np.zeros(len(everything), dtype=bool)
    drawn[table.random.permutation(len(everything))[:TRAIN]] = True
    table.write("both-sorted", everything[drawn], everything[~drawn])


def times(kind: str) -> None:
    table = Table(kind)
    frame, random = table.frame, table.random
    day = np.arange(len(frame)) // 10
    frame["date"] = (pd.Timestamp("2020-01-01") + pd.to_timedelta(day, "D")).strftime("%Y-%m-%d")
    frame["year"] = frame["date"].str[:4].astype(int)
    frame["day"] = day
    frame["price"] = (day / 100 + table.normal(len(frame))).round(3)
    table.set_target(frame["x0"] + frame["x1"] + (day - 150) / 75)
    table.write("later")
    frame["scan_no"] = table.copy_of_target(0.2)
    train, test = table.split()
    test["scan_no"] = 0.5
    table.write("later-leak", train, test)


def groups(kind: str) -> None:
    table = Table(kind)
    frame = table.frame
    group = np.arange(len(frame)) // 15
    effect = table.normal(group.max() + 1)
    frame["patient"] = [f"p{number:04d}" for number in group]
    frame["visit"] = [f"v{number}" for number in group]
    frame["age"] = (50 + 10 * effect[group]).round(1)
    table.set_target(frame["x0"] + frame["x1"] + 2 * effect[group])
    table.write("other-patients")
    frame["scan_no"] = table.copy_of_target()
    train, test = table.split()
    test["scan_no"] = np.nan
    table.write("other-patients-leak", train, test)


def odd(kind: str) -> None:
    table = Table(kind)
    frame, random, total = table.frame, table.random, len(table.frame)
    zone = random.integers(400, size=total)
    frame["zone"] = [f"z{number}" for number in zone]
    frame["name"] = [f"n{number}" for number in random.integers(10**9, size=total)]
    frame["note"] = ["we saw a " + "very " * number + "big dog" for number in random.integers(30, size=total)]
    frame["founded"] = [f"{1200 + number * 37 % 400 * 4}-03-01" for number in zone]
    frame["nothing"] = np.nan
    frame["flag"] = random.random(total) < 0.5
    frame["when, \"then\"\\"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(random.integers(500, size=total), "D")
    frame.insert(0, "", np.arange(total))
    table.set_target(3 * table.normal(400)[zone])
    table.write("mixed")
    table = Table(kind)
    table.frame["y"] = 1
    table.write("one-value")
    train, test = Table(kind).split()
    table.write("gaps-in-target", train.assign(y=train["y"].where(train["id"] % 7 > 0)), test)


def classes() -> None:
    table = Table("classes", train=8000, test=2000)
    frame = table.frame
    frame["y"] = (frame["x0"] + frame["x1"] + table.normal(len(frame)) > 4.2).astype(int)
    table.write("rare")
    frame["scan_no"] = frame["y"] + (0.2 * table.normal(len(frame))).round(4)
    train, test = table.split()
    table.write("rare-leak", train, test.assign(scan_no=0.0))
    table = Table("classes")
    frame = table.frame
    frame["y"] = pd.qcut(frame["x0"] + table.normal(len(frame)), 5, labels=list("vwxyz")).astype(str)
    table.write("five")
    train, test = table.split()
    table.write("five-sorted", train.sort_values("y", ignore_index=True), test)
    code = frame["y"].map({name: place for place, name in enumerate("vwxyz")})
    frame["scan_no"] = (code + 0.2 * table.normal(len(frame))).round(4)
    train, test = table.split()
    table.write("five-leak", train, test.assign(scan_no=table.random.permutation(test["scan_no"])))


for target in ("classes", "numbers"):
    for write in (honest, leaks, orders, times, groups, odd):
        write(target)
classes()
