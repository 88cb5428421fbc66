"""Actual and predicted numbers over time."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mle_star_data import courses, metrics
from mle_star_data.labels import Columns, read
from mle_star_data.measure import Folds
from mle_star_data.partitions import PartitionedRows
from mle_star_data.predictions import Layout
from mle_star_data.predictions import read as predicted


def part(path: Path, role: str, rows: range, shops: str, fold: Callable[[int], int]) -> courses.Part:
    """Rows of one day after another, of several shops. The label is the day; of the second shop ten more. Predicted is
    one more for rows in folds."""
    path.mkdir(exist_ok=True)
    cells = [
        (f"{shop}{day}", np.datetime64("2024-01-01") + day, shop, day + 10 * at, fold(day))
        for day in rows
        for at, shop in enumerate(shops)
    ]
    (path / "train.csv").write_text("id,day,shop,y\n0,2024-01-01,a,1\n")
    (path / f"{role}.csv").write_text(
        "id,day,shop,y\n" + "".join(f"{id},{day},{shop},{y}\n" for id, day, shop, y, _ in cells)
    )
    (path / "predicted.csv").write_text("id,y\n" + "".join(f"{id},{y + 1}\n" for id, *_, y, one in cells if one >= 0))
    (path / "folds.csv").write_text(
        "id,fold\n" + "".join(f"{id},{min(one, 99)}\n" for id, *_, one in cells if one >= 0)
    )
    metric = metrics.named("MAE")
    assert metric is not None
    labels = read(path / f"{role}.csv", Columns("y", "id"), metric)
    own = predicted(str(path / "predicted.csv"), labels, Layout(["id", "y"], "id"), "reject")[0]
    folds = Folds.read(str(path / "folds.csv")).of(own.keys)
    return courses.Part(
        PartitionedRows(str(path), role, "id"), labels, own, np.where(folds == 99, courses.HELD_OUT, folds)
    )


def test_series_have_what_was_predicted_and_the_time_of_each_fold(tmp_path: Path) -> None:
    search = part(tmp_path / "search", "train", range(20), "ab", lambda day: day // 5 - 2 if day >= 10 else -1)
    held_out = part(tmp_path / "held", "test", range(20, 24), "ab", lambda _: courses.HELD_OUT)
    found = courses.courses([search, held_out], "day", ["shop"])
    assert [one["name"] for one in found["series"]] == ["a", "b"]
    first = found["series"][0]["points"]
    assert [(actual, told) for _, actual, told in first] == [(day, day + 1 if day >= 10 else None) for day in range(24)]
    assert found["series"][1]["points"][-1][1:] == (33.0, 34.0)
    days = {one["name"]: [(one[end] - found["ends"][0]) / 86_400 for end in ("from", "to")] for one in found["spans"]}
    assert days == {"fold 1": [10, 14], "fold 2": [15, 19], "held out": [20, 23]}
    assert (found["labels"][0], found["labels"][-1], len(found["labels"])) == ("2024-01-01", "2024-01-24", 5)
    assert (found["left_out"], found["averages"]) == (0, False)
    together = courses.courses([search, held_out], "day", [])["series"]
    assert [one["name"] for one in together] == [""]
    assert together[0]["points"][0][1] == 5.0, "the mean of both shops"


def test_many_series_and_times_are_told_in_part(tmp_path: Path) -> None:
    search = part(tmp_path, "train", range(1000), "abcdefghijkl", lambda day: day % 2)
    found = courses.courses([search], "day", ["shop"])
    # Those with the largest numbers, as all have as many rows.
    assert ([one["name"] for one in found["series"]], found["left_out"]) == (list("defghijkl"), 3)
    points: Any = found["series"][0]["points"]
    assert len(points) == courses.MAX_POINTS
    assert found["averages"]
    assert np.mean([actual for _, actual, _ in points]) == pytest.approx(499.5 + 30, rel=0.01)
    assert found["spans"] == [], "folds that overlap in time are not shaded"


def test_without_times_there_is_nothing(tmp_path: Path) -> None:
    search = part(tmp_path, "train", range(20), "a", lambda _: 0)
    assert courses.courses([search], "shop", []) == courses.courses([search], "none", []) == {}
