"""Where predictions are right and where they are wrong."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from mle_star_data import metrics
from mle_star_data.diagnose import diagnose
from mle_star_data.labels import Columns, read
from mle_star_data.measure import Scoring
from mle_star_data.partitions import Partition, PartitionedRows
from mle_star_data.predictions import Layout


def diagnosed(
    path: Path,
    name: str,
    truth: str,
    predicted: str,
    divisions: Sequence[dict[str, Any]] = (),
    scores: str | None = None,
    header: Sequence[str] = ("id", "y"),
    columns: Columns | None = None,
) -> dict[str, Any]:
    for file, text in (("truth", truth), ("predicted", predicted), ("scores", scores or "")):
        (path / file).write_text(text)
    metric = metrics.named(name)
    assert metric is not None
    labels = read(path / "truth", columns or Columns("y", "id"), metric)
    behind = None if scores is None else str(path / "scores")
    layout = Layout(header, "id")
    found = diagnose(labels, Scoring(), str(path / "predicted"), behind, layout, "ignore", divisions)
    told: dict[str, Any] = json.loads(json.dumps(found, allow_nan=False))
    assert told == found
    return told


@pytest.mark.parametrize(
    ("predicted", "confusion", "area", "precision", "worst"),
    [
        ("id,y\na,0.1\nb,0.4\nc,0.35\nd,0.8\n", [[2, 0], [1, 1]], 0.75, 0.8333333333333333, "c"),
        ("id,y\na,0.5\nb,0.5\nc,0.5\nd,0.5\n", [[2, 0], [2, 0]], 0.5, 0.5, ""),
        ("id,y\nd,0.9\nc,0.7\nb,0.2\na,0.6\n", [[1, 1], [0, 2]], 1.0, 1.0, "a"),
    ],
)
def test_probabilities_of_two_classes_have_curves_and_are_counted_above_one_half(
    tmp_path: Path, predicted: str, confusion: list[list[int]], area: float, precision: float, worst: str
) -> None:
    found = diagnosed(tmp_path, "ROC-AUC", "id,y\na,0\nb,0\nc,1\nd,1\n", predicted)
    target = found["targets"][0]
    classes = target["classes"]
    assert (classes["confusion"], classes["threshold"], classes["calibrated"]) == (confusion, 0.5, "1")
    (curve,) = classes["curves"]
    assert (curve["class"], curve["share"], curve["area"]) == ("1", 0.5, pytest.approx(area))
    assert curve["average_precision"] == pytest.approx(precision)
    assert (curve["roc"][0], curve["roc"][-1]) == ([0, 0], [1, 1])
    # Every threshold has a point, the largest first, and no point stands for none of them.
    assert len(curve["precision"]) == len(curve["roc"]) - 1
    assert curve["precision"][-1] == [1, 0.5]
    assert found["score"] == pytest.approx(area)
    # Of rows with the same loss any is the first.
    assert target["worst"][0]["id"] == worst or not worst


def test_probabilities_are_compared_with_what_came_true(tmp_path: Path) -> None:
    # Of every ten rows with the probability n/10, n are of the class.
    truth = "id,y\n" + "".join(f"{row},{int(row // 10 % 10 < row % 10)}\n" for row in range(1000))
    predicted = "id,y\n" + "".join(f"{row},{row % 10 / 10}\n" for row in range(1000))
    classes = diagnosed(tmp_path, "log loss", truth, predicted)["targets"][0]["classes"]
    assert [one["rows"] for one in classes["calibration"]] == [100] * 10
    for one in classes["calibration"]:
        assert one["predicted"] == pytest.approx(one["observed"])
        assert 0 <= one["interval"][0] <= one["observed"] <= one["interval"][1] <= 1
    # Wilson's interval of 50 in 100 rows.
    assert classes["calibration"][5]["interval"] == pytest.approx([0.4038, 0.5962], abs=1e-4)


def test_few_rows_are_in_bins_of_ten_and_curves_are_thinned(tmp_path: Path) -> None:
    truth = "id,y\n" + "".join(f"{row},{row % 3 % 2}\n" for row in range(25))
    predicted = "id,y\n" + "".join(f"{row},{row / 25}\n" for row in range(25))
    classes = diagnosed(tmp_path, "log loss", truth, predicted)["targets"][0]["classes"]
    assert [one["rows"] for one in classes["calibration"]] == [10, 10, 5]
    truth = "id,y\n" + "".join(f"{row},{row * 7 % 3 % 2}\n" for row in range(3000))
    predicted = "id,y\n" + "".join(f"{row},{row / 3000}\n" for row in range(3000))
    (curve,) = diagnosed(tmp_path, "log loss", truth, predicted)["targets"][0]["classes"]["curves"]
    assert 100 < len(curve["roc"]) <= 151
    assert curve["roc"][-1] == [1, 1]


def test_errors_of_numbers_are_binned_and_sampled(tmp_path: Path) -> None:
    errors = [1000 if row == 7 else row % 21 - 10 for row in range(3000)]
    truth = "id,y\n" + "".join(f"{row},{row % 100}\n" for row in range(3000))
    predicted = "id,y\n" + "".join(f"{row},{row % 100 + error}\n" for row, error in enumerate(errors))
    target = diagnosed(tmp_path, "RMSE", truth, predicted)["targets"][0]
    numbers, worst = target["numbers"], target["worst"]
    assert 300 <= len(numbers["points"]) <= 500
    (spread,) = numbers["spread"]["parts"]
    assert sum(spread["rows"]) == 3000
    # The outlier is in the last bin.
    assert numbers["spread"]["labels"] == ["-10", "11"]
    assert (numbers["median_size"], numbers["most"]) == (5, 9)
    assert worst[0] == {"id": "7", "truth": "7", "predicted": "1007", "loss": 1000, "cells": []}
    assert len(worst) == 10
    # All errors are the same.
    found = diagnosed(tmp_path, "MAE", "id,y\n1,1\n2,2\n", "id,y\n1,2\n2,3\n")
    assert found["targets"][0]["numbers"]["spread"]["parts"][0]["rows"] == [2]


def test_the_middle_of_intervals_is_compared(tmp_path: Path) -> None:
    predicted = "id,low,high\n1,0,2\n2,1,6.5\n"
    header = ["id", "low", "high"]
    found = diagnosed(tmp_path, "interval score 0.9", "id,y\n1,1\n2,2\n", predicted, header=header)
    (worst,) = found["targets"][0]["worst"]
    assert (worst["predicted"], worst["loss"]) == ("1 to 6.5", 1.75)


def test_predicted_labels_are_counted_and_may_have_scores(tmp_path: Path) -> None:
    truth, predicted = "id,y\n1,a\n2,b\n3,c\n4,a\n", "id,y\n1,a\n2,c\n3,c\n4,d\n"
    target = diagnosed(tmp_path, "accuracy", truth, predicted)["targets"][0]
    assert target["classes"]["names"] == ["a", "b", "c", "d"]
    assert target["classes"]["confusion"] == [[1, 0, 0, 1], [0, 0, 1, 0], [0, 0, 1, 0], [0, 0, 0, 0]]
    assert (target["classes"]["threshold"], target["classes"]["curves"]) == (None, [])
    assert sorted((one["id"], one["truth"], one["predicted"]) for one in target["worst"]) == [
        ("2", "b", "c"),
        ("4", "a", "d"),
    ]
    assert target["loss"] == "1 for a wrong class"
    scores = "id,a,b,c\n1,0.8,0.1,0.1\n2,0.2,0.1,0.7\n3,0.1,0.2,0.7\n4,0.6,0.2,0.2\n"
    target = diagnosed(tmp_path, "accuracy", truth, predicted, scores=scores)["targets"][0]
    assert [one["class"] for one in target["classes"]["curves"]] == ["a", "b", "c"]
    assert target["classes"]["confusion"][1] == [0, 0, 1, 0]
    assert target["classes"]["calibrated"] is None
    assert [one["rows"] for one in target["classes"]["calibration"]] == [4]
    assert target["worst"][0]["predicted"] == "c (0.100 for b)"
    # Scores that cannot be read tell nothing.
    assert diagnosed(tmp_path, "accuracy", truth, predicted, scores="id,z\n")["targets"][0]["classes"]["curves"] == []


@pytest.mark.parametrize(
    ("parts", "is_ordered", "expected"),
    [
        ([0, 0, 1, 1, 2], True, [("a", 2, 0), ("b", 2, 2), ("c", 1, 4)]),
        ([0, 0, 1, 1, 2], False, [("c", 1, 4), ("b", 2, 2), ("a", 2, 0)]),
        ([1, 1, 1, 1, 1], True, None),
    ],
)
def test_parts_have_their_own_score(
    tmp_path: Path, parts: list[int], is_ordered: bool, expected: list[tuple[str, int, float]] | None
) -> None:
    division = Partition("store", [f"{at + 1}.0" for at in range(len(parts))], parts, ["a", "b", "c"], is_ordered)
    truth, predicted = "id,y\n1,1\n2,2\n3,3\n4,4\n5,5\n", "id,y\n1,1\n2,2\n3,5\n4,6\n5,9\n"
    told = diagnosed(tmp_path, "MAE", truth, predicted, [division])["parts"]
    found = [[(one["name"], one["rows"], one["score"]) for one in by["parts"]] for by in told]
    assert found == ([] if expected is None else [expected])
    assert all(by["score"] == 1.6 for by in told)


def test_a_part_without_a_score_comes_last_and_further_targets_are_counted(tmp_path: Path) -> None:
    division = Partition("day", ["1", "2", "3", "4"], [0, 0, 1, 1], ["x", "y"], False)
    truth, predicted = "id,y\n1,0\n2,0\n3,0\n4,1\n", "id,y\n1,0.1\n2,0.2\n3,0.1\n4,0.2\n"
    (told,) = diagnosed(tmp_path, "ROC-AUC", truth, predicted, [division])["parts"]
    assert [(one["name"], one["score"]) for one in told["parts"]] == [("y", 1), ("x", None)]
    header = ["id", *"abcdef"]
    text = ",".join(header) + "\n1,1,2,3,4,5,6\n2,2,3,4,5,6,7\n"
    columns = Columns("a", "id", further=list("bcdef"))
    found = diagnosed(tmp_path, "MCRMSE", text, text, header=header, columns=columns)
    assert ([one["target"] for one in found["targets"]], found["targets_left_out"]) == (list("abcd"), 2)
    assert found["score"] == 0


def test_rows_are_divided_and_shown_by_their_id_or_number(tmp_path: Path) -> None:
    (tmp_path / "train.csv").write_text("id,a,b,y\n7,x,1,0\n8.0,,2,1\n")
    (tmp_path / "test.csv").write_text("id,a,b\n9,z,3\n")

    def check(role: str, id: str | None, wanted: str, groups: list[str], cells: list[tuple[str, str]]) -> None:
        divided = PartitionedRows(str(tmp_path), role, id)
        found = divided.by({"kind": "groups", "column": "a"}, None, None)
        assert [list(one.ids) for one in found] == [groups]
        # The strongest columns come first; the target and further tables' columns are no cells.
        assert divided.cells([wanted], ["b", "y", "of another table"], ["y"]) == [cells]

    check("train", "id", "8", ["7"], [("b", "2"), ("a", "")])
    check("train", None, "0", ["0"], [("b", "1"), ("id", "7"), ("a", "x")])
    check("test", "id", "9", ["9"], [("b", "3"), ("a", "z")])


def test_times_are_parts_of_about_the_same_size(tmp_path: Path) -> None:
    days = "".join(f"{row},2024-01-{1 + row // 2:02}\n" for row in range(40))
    (tmp_path / "train.csv").write_text(f"id,day\n{days}")
    (division,) = PartitionedRows(str(tmp_path), "train", "id").by({"kind": "time", "column": "day"}, None, None)
    assert (len(division.names), division.names[0]) == (10, "2024-01-01 to 2024-01-02")
    assert list(division.parts) == [row // 4 for row in range(40)]
    (tmp_path / "folds.csv").write_text("id,fold\n0,1\n1,0\n")
    periods = [{"from": "a", "to": "b"}, {"from": "c", "to": "c"}]
    split = {"kind": "time", "column": "day"}
    (division,) = PartitionedRows(str(tmp_path), "train", "id").by(split, str(tmp_path / "folds.csv"), periods)
    assert (division.by, list(division.parts), list(division.names)) == ("period", [1, 0], ["a to b", "c"])
