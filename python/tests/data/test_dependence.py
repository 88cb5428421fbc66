"""Partial dependence: what is asked of a model, and what becomes of its answers."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from mle_star_data.dependence import CURVES, dependence, dependence_rows

LAYOUT = {"columns": ["id", "size", "town", "flag", "note"], "header": ["id", "y"], "id": "id"}


def table(path: Path, rows: int) -> Path:
    cells = (f"{row},{row * 0.5},{'abc'[row % 3]},{row % 2},some words of row {row},{row}\n" for row in range(rows))
    (path / "train.csv").write_text("id,size,town,flag,note,y\n" + "".join(cells))
    return path / "train.csv"


def asked(
    path: Path,
    columns: Sequence[str],
    model: Callable[[pl.DataFrame], Any],
    most: float = 50_000.0,
    regression: bool = True,
) -> tuple[dict[str, Any], dict[str, Any]]:
    rows, predicted = path / "rows.csv", path / "predicted.csv"
    grid = dependence_rows([str(table(path, 900))], columns, LAYOUT, most, str(rows))
    copies = pl.read_csv(rows, schema_overrides={"town": pl.String})
    pl.DataFrame({"id": copies["id"], "y": model(copies)}).write_csv(predicted)
    assert copies["id"].is_unique().all()
    assert copies.height == grid["rows"] * sum(len(one["values"]) for one in grid["columns"])
    return grid, dependence(str(predicted), grid, LAYOUT, regression)


def test_the_curve_of_an_additive_model_is_its_term(tmp_path: Path) -> None:
    grid, found = asked(tmp_path, ["size", "town"], lambda rows: rows["size"] ** 2 + rows["flag"] * 7)
    assert (grid["rows"], found["ordered"]) == (450, True)
    size, town = found["curves"]
    assert len(size["at"]) == 20
    assert (size["at"][0], size["at"][-1]) == (11.0, 438.5), "the outermost 2.5 % are left out"
    assert len({round(mean - at**2, 6) for mean, at in zip(size["lines"][0]["means"], size["at"], strict=True)}) == 1
    assert (town["values"], town["at"]) == (["a", "b", "c"], None)
    assert np.ptp(town["lines"][0]["means"]) == 0


def test_without_known_strength_the_columns_that_move_it_most_come_first(tmp_path: Path) -> None:
    _, found = asked(
        tmp_path, [], lambda rows: rows["size"] * 0.001 + (rows["town"] == "b").cast(pl.Float64) * 5, most=500.0
    )
    assert (found["ordered"], found["rows"]) == (False, 20)
    # Neither the ID nor texts are tried.
    assert found["curves"][0]["column"] == "town"
    assert {one["column"] for one in found["curves"]} == {"size", "town", "flag"}
    assert len(found["curves"]) <= CURVES


@pytest.mark.parametrize(
    ("model", "names", "means"),
    [
        (lambda rows: rows["flag"], ["share of 1"], [[0.0, 1.0]]),
        (lambda rows: rows["flag"].cast(pl.String).replace({"0": "no", "1": "yes"}), ["share of yes"], [[0.0, 1.0]]),
        (lambda rows: rows["flag"] * 0.5 + rows["size"] * 1e-9, ["y"], [[0.0, 0.5]]),
    ],
)
def test_labels_have_shares_and_probabilities_have_means(
    model: Any, names: list[str], means: list[list[float]], tmp_path: Path
) -> None:
    _, found = asked(tmp_path, ["flag"], model, regression=False)
    (curve,) = found["curves"]
    assert [line["name"] for line in curve["lines"]] == names
    np.testing.assert_allclose([line["means"] for line in curve["lines"]], means, atol=1e-6)


def test_a_column_without_other_values_is_not_asked_about(tmp_path: Path) -> None:
    grid = dependence_rows([str(table(tmp_path, 1))], ["size"], LAYOUT, 100.0, str(tmp_path / "rows.csv"))
    assert grid["columns"] == []
    assert (tmp_path / "rows.csv").read_text() == "id,size,town,flag,note\n"
