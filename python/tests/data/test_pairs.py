"""Pairs of columns that tell more of the target together, as agents are told of them."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from mle_star_data import describe, pairs, roles
from numpy.typing import NDArray

ROWS = 3_000
Columns = dict[str, Any]


def told(path: Path, columns: Mapping[str, Any], metric: str = "accuracy", **further: Any) -> str:
    """The section of the target, for random columns beside these."""
    rng, rows = np.random.default_rng(1), len(columns["y"])
    noise = {
        f"n{at}": rng.normal(size=rows).round(4) if at % 2 else rng.choice(list("abcde"), rows) for at in range(12)
    }
    train = pl.DataFrame({"id": range(rows), **noise, **columns})
    train.write_csv(path / "train.csv")
    train.head(50).drop("y").write_csv(path / "test.csv")
    facts = roles.inspect(str(path), {"target": "y", "metric": metric, "id": "id"}) | further
    text = describe.describe(str(path), facts)
    return text.split("## Target by column")[1].split("\n## ")[0]


def shown(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("- ")]


def probability(log_odds: NDArray[Any]) -> NDArray[Any]:
    found: NDArray[Any] = 1.0 / (1.0 + np.exp(-log_odds))
    return found


def either(rng: np.random.Generator) -> Columns:
    a, b = rng.normal(size=(2, ROWS)).round(4)
    return {"a": a, "b": b, "y": np.where(rng.random(ROWS) < 0.3, rng.integers(0, 2, ROWS), (a > 0) ^ (b > 0))}


def product(rng: np.random.Generator) -> Columns:
    a, b = rng.normal(size=(2, ROWS)).round(4)
    return {"a": a, "b": b, "y": (a * b + rng.normal(size=ROWS)).round(4)}


def amount(rng: np.random.Generator) -> Columns:
    """Large amounts are risky without a card and safe with one; some are missing."""
    a, b = np.exp(rng.normal(size=ROWS)).round(4), rng.choice(["no", "yes"], ROWS)
    y = rng.random(ROWS) < np.where(b == "no", np.where(a > 2, 0.5, 0.05), np.where(a > 2, 0.02, 0.1))
    return {"a": pl.Series(a).set(pl.Series(rng.random(ROWS) < 0.1), None), "b": b, "y": y.astype(int)}


def of_three(rng: np.random.Generator) -> Columns:
    """The third class is where a date is late and a flag is set."""
    days, b = rng.integers(0, 300, ROWS), rng.choice(["True", "False"], ROWS)
    is_third = (days > 150) & (b == "True") & (rng.random(ROWS) < 0.8)
    a = (np.datetime64("2024-01-01") + days).astype(str)
    return {"a": a, "b": b, "y": np.where(is_third, "third", rng.choice(["first", "second"], ROWS))}


FOUND = {either: r"`y` = `[01]` \d+% ±\d, expected \d+%; no effect of `a` or `b` alone is visible$",
         product: r"-?\d\.\d+ ±0\.\d+, expected -?\d\.\d+; no effect of `a` or `b` alone is visible$",
         amount: r"^- `a` > \S+ and `b` = `(no|yes)` \(\d+ rows\): `y` = `1` \d+% ±\d, expected \d+%$",
         of_three: r"`b` = `(True|False)` and `a` (>|≤) 2024-\d\d-\d\d \(\d+ rows\): `y` = `\w+` \d+% ±"}  # fmt: skip


@pytest.mark.parametrize("made", FOUND)
def test_a_pair_is_told(made: Any, tmp_path: Path) -> None:
    columns = made(np.random.default_rng(0))
    lines = shown(text := told(tmp_path, columns, "RMSE" if made is product else "accuracy"))
    assert len(lines) == 1, text
    assert re.search(FOUND[made], lines[0]), text


def test_what_is_told_of_a_pair_is_true(tmp_path: Path) -> None:
    """The rows are half of all such rows, and their share is about that of all."""
    columns = amount(np.random.default_rng(0))
    form = r"- `a` > (\S+) and `b` = `yes` \((\d+) rows\): `y` = `1` (\d+)% ±(\d), expected"
    found = re.match(form, shown(told(tmp_path, columns))[0])
    assert found is not None
    above, rows, share, error = map(float, found.groups())
    chosen = columns["y"][(columns["a"] > above).fill_null(False).to_numpy() & (columns["b"] == "yes")]
    assert abs(len(chosen) / 2 - rows) < 4 * rows**0.5
    assert abs(100 * chosen.mean() - share) < 3 * error


def additive(rng: np.random.Generator, rows: int) -> Columns:
    """Log odds are a sum, and the columns are correlated."""
    common = rng.normal(size=rows)
    a, b, c = (common + rng.normal(size=(3, rows))).round(4)
    return {"a": a, "b": b, "c": c, "y": (rng.random(rows) < probability(a - b + c**2 / 2 - 3)).astype(int)}


@pytest.mark.parametrize("seed", range(4))
def test_effects_of_single_columns_are_no_pairs(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    assert shown(told(tmp_path, additive(rng, 10_000))) == []
    assert shown(told(tmp_path, {"y": np.exp(rng.normal(size=ROWS)).round(4)}, "RMSE")) == []


def test_rows_of_a_group_are_no_evidence(tmp_path: Path) -> None:
    """Groups differ in columns and target, but these have nothing to do with each other."""
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 120, ROWS)
    of_group = {f"g{at}": rng.choice(list("abc"), 120)[groups] for at in range(8)}
    columns = {**of_group, "who": groups, "y": (rng.random(120) < 0.5)[groups].astype(int)}
    assert shown(told(tmp_path, columns)) != []
    assert shown(told(tmp_path, columns, split={"kind": "groups", "column": "who"})) == []


def test_columns_without_an_effect_are_named(tmp_path: Path) -> None:
    columns = either(np.random.default_rng(0))
    columns["c"] = np.where(columns["y"] == 1, "x", "z")
    text = told(tmp_path, columns)
    assert "No effect is visible of `n0`, `n1`, `n2`" in text
    wide = columns | {f"w{at}": np.random.default_rng(at).normal(size=ROWS) for at in range(40)}
    (tmp_path / "wide").mkdir()
    assert re.search(r"`w\d+` and \d+ more\.", told(tmp_path / "wide", wide))


def test_nothing_is_told_where_pairs_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    columns = either(np.random.default_rng(0))
    monkeypatch.setattr(pairs, "find", None)
    assert shown(told(tmp_path, columns)) == []
