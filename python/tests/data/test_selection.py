"""Ensembles of predictions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mle_star_data import metrics, selection
from mle_star_data.labels import Columns
from mle_star_data.labels import read as read_labels
from mle_star_data.measure import Scoring
from mle_star_data.metrics import Metric
from mle_star_data.predictions import Layout
from mle_star_data.tables import Refused

LAYOUT = Layout(["id", "y"], "id")
Write = Callable[[str], str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    count = iter(range(1_000))

    def write(text: str) -> str:
        file = tmp_path / f"{next(count)}.csv"
        file.write_text(text)
        return str(file)

    return write


def table(values: Sequence[object], header: str = "id,y") -> str:
    return f"{header}\n" + "".join(f"{row},{value}\n" for row, value in enumerate(values))


def metric(name: str) -> Metric:
    found = metrics.named(name)
    assert found is not None
    return found


def select(
    name: str,
    truth: str,
    files: Sequence[str],
    seconds: Sequence[float] | None = None,
    layout: Layout = LAYOUT,
    columns: Columns | None = None,
) -> dict[str, Any] | None:
    labels = read_labels(truth, columns or Columns("y", "id"), metric(name))
    return selection.select(labels, Scoring(), files, seconds or [1.0] * len(files), layout, 10.0, 50)


def numbers(write: Write, rows: int, errors: Sequence[float]) -> tuple[str, list[str]]:
    """A truth, and predictions of it with independent errors of these sizes."""
    truth, draw = np.arange(rows) % 97 / 10, np.random.default_rng(0)
    files = [write(table((truth + size * (draw.random(rows) - 0.5)).tolist())) for size in errors]
    return write(table(truth.tolist())), files


def test_members_with_independent_errors_share_the_weight(write: Write) -> None:
    truth, files = numbers(write, 2_000, [1.0, 1.0, 4.0])
    found = select("RMSE", truth, files)
    assert found is not None
    weights = found["weights"]
    assert sum(weights) == pytest.approx(1)
    assert weights[0] == pytest.approx(0.5, abs=0.1)
    assert weights[2] < 0.1
    # The error of one of them is 1 / sqrt(12), and that of their mean smaller by sqrt(2).
    assert found["measured"]["score"] == pytest.approx(0.2887 / 2**0.5, abs=0.01)
    assert found["measured"]["rows"] == 2_000
    assert found["is_better"]
    assert found["lead"]["by"] < -3 * found["lead"]["standard_error"] < 0


def test_members_fit_into_the_time_and_one_is_no_ensemble(write: Write) -> None:
    truth, files = numbers(write, 500, [1.0, 1.0, 1.0])
    found = select("MAE", truth, files, [5.0, 5.0, 5.0])
    assert found is not None
    assert sum(weight > 0 for weight in found["weights"]) == 2
    assert select("MAE", truth, files, [5.0, 6.0, 6.0]) is None


def test_labels_are_voted_on(write: Write) -> None:
    names, draw = ["low", "mid", "top"], np.random.default_rng(1)
    # Each member is wrong on other rows.
    files = [write(table([names[(row + (draw.random() < 0.3)) % 3] for row in range(600)])) for _ in range(3)]
    found = select("accuracy", write(table([names[row % 3] for row in range(600)])), files)
    assert found is not None
    assert found["lead"]["by"] > 3 * found["lead"]["standard_error"] > 0


def test_files_with_other_rows_have_no_weight(write: Write) -> None:
    truth, files = numbers(write, 400, [1.0, 1.0])
    fewer = write("".join(Path(files[1]).read_text().splitlines(keepends=True)[:300]))
    assert select("RMSE", truth, [files[0], fewer]) is None
    found = select("RMSE", truth, [files[0], write("id,z\n"), "missing.csv", files[1]])
    assert found is not None
    assert found["weights"][1:3] == [0.0, 0.0]
    assert found["weights"][3] > 0
    with pytest.raises(Refused, match="cannot read missing"):
        select("RMSE", truth, ["missing.csv", files[0]])


def test_metrics_of_order_combine_large_tables_of_any_scale(write: Write) -> None:
    rows, draw = 30_000, np.random.default_rng(2)
    truth = draw.random(rows) < 0.02
    scores = [truth + draw.normal(size=rows) for _ in range(3)]
    files = [write(table(np.clip(0.5 + one / 100, 0, 1).tolist())) for one in scores]
    found = select("ROC-AUC", write(table(truth.astype(int).tolist())), files)
    assert found is not None
    assert found["weights"] == pytest.approx([1 / 3] * 3, abs=0.12)
    # One of them separates the classes by 1 standard deviation, their mean by sqrt(3).
    assert found["measured"]["score"] == pytest.approx(0.89, abs=0.02)
    assert found["lead"]["by"] == pytest.approx(0.13, abs=0.03)


def test_accuracy_goes_by_probabilities_and_guesses_by_their_places(write: Write) -> None:
    draw, rows = np.random.default_rng(3), 900
    names, truth = ["a", "b", "c"], np.arange(900) % 3
    files, guesses = [], []
    for _ in range(3):
        scores = np.eye(3)[truth] + draw.random((rows, 3)) * 1.6
        shares = scores / scores.sum(axis=1, keepdims=True)
        files.append(write(table([",".join(map(str, one)) for one in shares.tolist()], "id,a,b,c")))
        guesses.append(write(table([f"{names[one[0]]} {names[one[1]]}" for one in np.argsort(-scores, axis=1)])))
    file = write(table([names[one] for one in truth]))
    for name, own, layout in (
        ("accuracy", files, Layout(["id", "a", "b", "c"], "id")),
        ("macro F1", files, Layout(["id", "a", "b", "c"], "id")),
        ("MAP@2", guesses, LAYOUT),
    ):
        found = select(name, file, own, layout=layout)
        assert found is not None
        assert found["lead"]["by"] > 0.02, name
        assert found["is_better"]


def test_targets_share_weights(write: Write) -> None:
    draw, truth = np.random.default_rng(4), np.arange(600) % 13.0
    text = "id,y,z\n" + "".join(f"{row},{one},{2 * one}\n" for row, one in enumerate(truth))
    files = []
    for _ in range(2):
        pairs = zip((truth + draw.normal(size=600)).tolist(), (2 * truth + draw.normal(size=600)).tolist(), strict=True)
        files.append(write("id,y,z\n" + "".join(f"{row},{y},{z}\n" for row, (y, z) in enumerate(pairs))))
    columns = Columns("y", "id", further=["z"])
    found = select("MCRMSE", write(text), files, layout=Layout(["id", "y", "z"], "id"), columns=columns)
    assert found is not None
    assert found["weights"] == pytest.approx([0.5, 0.5], abs=0.1)
    assert found["measured"]["score"] == pytest.approx(0.5**0.5, abs=0.05)


def test_rows_of_a_unit_are_drawn_together() -> None:
    units = np.arange(1_000, dtype=np.uint64) // np.uint64(10)
    bag = selection._bag(0, units, np.zeros(1_000, dtype=np.int64)).reshape(100, 10)
    assert (bag == bag[:, :1]).all()
    assert 50 < (bag[:, 0] > 0).sum() < 80


def test_rare_classes_are_in_every_bag() -> None:
    classes = np.where(np.arange(100_000) % 5_000 == 0, 1, 0)
    bag = selection._bag(3, np.arange(100_000, dtype=np.uint64), classes)
    assert set(np.unique(bag[classes == 1])) <= set(range(12))
    # Half of the most rows and 20, of which each is drawn with probability 1 - 1/e.
    assert (bag > 0).sum() == pytest.approx(0.632 * (selection.MAX_ROWS // 2 + 20), rel=0.05)
    assert bag.sum() == pytest.approx(100_000, rel=0.05)


@pytest.mark.parametrize(
    ("name", "files", "expected"),
    [
        ("RMSE", ["id,y\na,1\nb,2\n", "y,id\n5,b\n2,a\n"], "id,y\na,1.5\nb,3.5\n"),
        ("accuracy", ["id,y\n1,cat\n2,0\n", "id,y\n1,dog\n2,1.0\n", "id,y\n2,1\n1,dog\n"], "id,y\n1,dog\n2,1.0\n"),
        ("accuracy", ["id,y\n1,cat\n2,0\n", "id,y\n1,dog\n2,1.0\n"], "id,y\n1,cat\n2,0\n"),
        ("MAP@3", ["id,y\n1,a b-1 c\n", "id,y\n1,b-1 a d\n", "id,y\n1,b-1 e\n"], "id,y\n1,b-1 a e\n"),
        (
            "sample-averaged F1",
            ["id,y\n1,x z\n2,w\n", "id,y\n1,y y\n2,\n", "id,y\n1,z x\n2,\n"],
            "id,y\n1,x z\n2,\n",
        ),
        ("RMSE", ["id,y\na,1\n", "id,y\n a ,3\n"], "id,y\na,2\n"),
    ],
)
def test_numbers_have_a_mean_and_labels_a_majority(write: Write, name: str, files: list[str], expected: str) -> None:
    out = write("")
    selection.combine(metric(name), [(1.0, write(file)) for file in files], LAYOUT, out)
    assert Path(out).read_text() == expected


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ([], "there is no file to average"),
        (["id,y\na,1\n", "id,y\nb,1\n"], "file 2: the ID `b` is not in the first file"),
        (["id,y\na,1\nb,1\n", "id,y\nb,1\n"], "file 2: the ID `a` is missing"),
        (["id,y\na,1\nb,1\n", "id,y\nb,1\nb,1\na,1\n"], "file 2: the ID `b` occurs more than once"),
        (["id,y\na,1\na,1\n"], "file 1: the ID `a` occurs more than once"),
        (["id,y\n"], "file 1: the file has no rows"),
        (["id,y\na,1\n", "id,y\na,x\n"], "file 2: the row with ID `a` has `x`, which is not a finite number"),
    ],
)
def test_files_that_do_not_match_are_named(write: Write, files: list[str], why: str) -> None:
    with pytest.raises(Refused) as error:
        selection.combine(metric("RMSE"), [(1.0, write(file)) for file in files], LAYOUT, write(""))
    assert str(error.value) == why


def test_the_class_with_the_largest_mean_score_is_written(write: Write) -> None:
    one, out = write("id,cat,dog\n7,0.6,0.4\n8,0.5,0.5\n"), write("")
    other = write("id,cat,dog\n8,0.5,0.5\n7,0.1,0.9\n")
    assert selection.class_columns(one, "id") == ["id", "cat", "dog"]
    assert selection.class_columns(one, None) == ["cat", "dog"]
    classes = Layout(["id", "cat", "dog"], "id")
    selection.combine_classes([(0.9, one), (0.1, other)], classes, LAYOUT, out)
    assert Path(out).read_text() == "id,y\n7,cat\n8,cat\n"
    selection.combine_classes([(0.5, one), (0.5, other)], classes, LAYOUT, out)
    assert Path(out).read_text() == "id,y\n7,dog\n8,cat\n"
