"""The histograms that people see of columns and targets."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from mle_star_data import histograms, roles
from mle_star_data.describe import describe
from mle_star_data.frames import read


def bars(*parts: Sequence[Any]) -> dict[str, Any]:
    return histograms.histogram([(str(at), pl.Series(list(part))) for at, part in enumerate(parts)])


@pytest.mark.parametrize(
    ("parts", "ends", "rows"),
    [
        # Whole numbers have bins of whole width: 0..39 are twenty bins of two.
        ([[float(row) for row in range(40)], [0.0, 1.0, 39.0]], [-0.5, 39.5], [[2] * 20, [2, *[0] * 18, 1]]),
        ([[0.25, 20.25]], [0.25, 20.25], [[1, *[0] * 18, 1]]),
        # What is far away is in the last bin.
        ([[*(row / 10 for row in range(1000)), 1e9]], [0.5, 99.5], [None]),
        ([[1.0, float("nan")], [float("inf")]], [0.5, 1.5], [[1], [1]]),
    ],
)
def test_numbers_have_bins_that_all_parts_share(parts: Any, ends: list[float], rows: list[Any]) -> None:
    found = bars(*parts)
    assert found["ends"] == pytest.approx(ends)
    for part, own, expected in zip(found["parts"], parts, rows, strict=True):
        assert sum(part["rows"]) == sum(number == number for number in own)
        assert expected is None or part["rows"] == expected


def test_other_values_have_a_bar_each() -> None:
    letters = "".join(letter * (20 - at) for at, letter in enumerate("abcdefghijkl"))
    found = bars(list(letters), ["a", "z", "z"])
    assert found["values"] == [*"abcdefgh", ""]
    assert [part["rows"] for part in found["parts"]] == [[*range(20, 12, -1), 12 + 11 + 10 + 9], [1, *[0] * 7, 2]]
    assert bars(["10", "9", "9"])["values"] == ["9", "10"]
    assert bars([None, None]) == {"values": [], "ends": [], "labels": [], "parts": [{"name": "0", "rows": []}]}


def task(path: Path, rows: int) -> Path:
    cells = "".join(
        f"{row},{row},2024-01-{row % 28 + 1:02},{'' if row % 4 else 'x'},{row % 2}\n" for row in range(rows)
    )
    (path / "train.csv").write_text(f"id,size,day,word,y\n{cells}")
    (path / "test.csv").write_text(f"id,size,day,word\n{rows},5,2024-02-01,x\n")
    (path / "sample_submission.csv").write_text(f"id,y\n{rows},0\n")
    return path


def test_columns_are_drawn_against_the_test_table(tmp_path: Path) -> None:
    found = {one["column"]: one for one in roles.inspect(str(task(tmp_path, 400)), {"metric": "AUC"})["histograms"]}
    assert list(found) == ["y", "size", "day", "word"], "no column of IDs"
    assert [part["name"] for part in found["size"]["parts"]] == ["train", "test"]
    assert [sum(part["rows"]) for part in found["size"]["parts"]] == [400, 1]
    assert found["size"]["typical"] == "199"
    assert found["day"]["labels"] == ["2024-01-01", "2024-02-01"]
    assert (found["word"]["parts"][0]["missing"], found["word"]["typical"]) == (0.75, "x")
    assert found["y"]["values"] == ["0", "1"]


def test_a_large_table_is_sampled_evenly(tmp_path: Path) -> None:
    rows = 250_000
    (tmp_path / "train.csv").write_text("n,c\n" + "".join(f"{row},a\n" for row in range(rows)))
    found = histograms.of_columns(read(tmp_path / "train.csv"), None, [], [])[0]["parts"][0]["rows"]
    assert 0.5 * histograms.SAMPLE < sum(found) <= histograms.SAMPLE
    assert max(found) < 1.3 * min(found)


def test_agents_are_told_nothing_more_and_a_failure_harms_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = str(task(tmp_path, 400))
    facts = roles.inspect(folder, {"metric": "AUC"})
    monkeypatch.setattr(histograms, "of_columns", lambda *_: 1 / 0)
    without = roles.inspect(folder, {"metric": "AUC"})
    assert facts["histograms"]
    assert without == facts | {"histograms": []}
    assert describe(folder, facts, None) == describe(folder, without, None)
