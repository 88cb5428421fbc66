"""Rows that a finished run predicts: their spellings, their names, and the check of a model."""

from pathlib import Path

import polars as pl
import pytest
from mle_star_data import new_rows
from mle_star_data.tables import Refused

LAYOUT = {"columns": ["id", "a", "b"], "header": ["id", "y"], "id": "id"}


def spellings(folder: Path) -> dict[str, object]:
    rows = [f"{row},{row % 2 == 0},A{row % 3},{row}.5,{row % 2}" for row in range(20)]
    tables = {
        "train.csv": "id,open,grade,size,new,y\n" + "".join(f"{row},1\n" for row in rows),
        "test.csv": "id,open,grade,size,new\n50,True,a1,1,0\n",
        "sample_submission.csv": "id,y\n50,0\n",
    }
    for name, text in tables.items():
        (folder / name).write_text(text)
    found = new_rows.rows_to_predict(str(folder), "id")
    assert found["layout"] == {"columns": ["id", "open", "grade", "size", "new"], "header": ["id", "y"], "id": "id"}
    assert [found[role] for role in ("train", "test", "sample")] == [*tables]
    known: dict[str, object] = found["spellings"]
    return known


@pytest.mark.parametrize(
    ("cells", "written", "note"),
    [
        (["1", "A0  ", "3", "TRUE"], ["True", "A0", "3", "1"], ""),
        (["FALSE", "a2", "3", "0.0"], ["False", "A2", "3", "0"], ""),
        # The test table has it, too.
        (["True", "a1", "3", "0"], ["True", "a1", "3", "0"], ""),
        (
            ["", "B9", "18.2 m2", ""],
            ["", "B9", "18.2 m2", ""],
            "most values of `grade` were never seen in training, such as `B9`; "
            "most values of `size` are no numbers, unlike in training, such as `18.2 m2`",
        ),
    ],
)
def test_cells_are_read_as_the_training_table_has_them(
    cells: list[str], written: list[str], note: str, tmp_path: Path
) -> None:
    names = ["open", "grade", "size", "new"]
    frame = pl.DataFrame([pl.Series(name, [cell]) for name, cell in zip(names, cells, strict=True)])
    found, notes = new_rows.match_spelling(frame, spellings(tmp_path))
    assert (list(found.row(0)), "; ".join(notes)) == (written, note)


def test_a_test_table_of_fewer_rows_than_the_sample_is_refused(tmp_path: Path) -> None:
    spellings(tmp_path)
    (tmp_path / "sample_submission.csv").write_text("id,y\n50,0\n51,0\n")
    with pytest.raises(Refused, match="2 rows for the 1 rows"):
        new_rows.rows_to_predict(str(tmp_path), "id")


TRAIN = "id,a,b,y\n1,x,1.0,5\n2,y,2,6\n"


@pytest.mark.parametrize(
    ("train", "rows", "but", "shared"),
    [
        (TRAIN, "id,a,b\n1,x,1\n2,x,2\n3,y,2\n", None, 1),
        (TRAIN, "id,a,b\n0,x,1\n1,x,2\n2,y,2\n", "id", 2),
        ("id,a,y\n1,x,5\n2,x,6\n", "id,a\n0,x\n", "id", None),
        (TRAIN, "id,z\n1,x\n", "id", None),
    ],
)
def test_rows_of_the_training_table_are_counted(
    train: str, rows: str, but: str | None, shared: int | None, tmp_path: Path
) -> None:
    (tmp_path / "train.csv").write_text(train)
    (tmp_path / "rows.csv").write_text(rows)
    found = new_rows.shared_rows(str(tmp_path / "train.csv"), str(tmp_path / "rows.csv"), but)
    assert found == {"shared": shared}


@pytest.mark.parametrize(
    ("predicted", "by", "expected"),
    [
        ("id,y\nl,2\nk,1\n", "own", "id,y\nk,1\nl,2\n"),
        ("id,y\n1,2\n0,1\n", "numbers", "id,y\nk,1\nl,2\n"),
        ("id,y\n7,2\n8,1\n", "order", "id,y\nk,2\nl,1\n"),
        ("y\n1\n2\n", "own", "y\n1\n2\n"),
        ("id,y\nk,1\nm,2\n", "own", "other names"),
        ("id,y\nk,1\nk,2\n", "own", "other names"),
        ("id,y\nk,1\n", "order", "more or fewer rows"),
    ],
)
def test_predictions_are_in_the_order_of_the_rows(predicted: str, by: str, expected: str, tmp_path: Path) -> None:
    file, into = tmp_path / "predicted.csv", tmp_path / "into.csv"
    file.write_text(predicted)
    if "\n" not in expected:
        with pytest.raises(Refused, match=expected):
            new_rows.name_predictions(str(file), ["k", "l"], by, LAYOUT, str(into))
        return
    new_rows.name_predictions(str(file), ["k", "l"], by, LAYOUT, str(into))
    assert into.read_text() == expected


def test_names_are_numbers_where_a_script_wrote_them_so() -> None:
    assert new_rows._positions(["007", "8"], ["8", "7"]) == [1, 0]
    assert new_rows._positions(["k", "l", "k"], ["k", "l", "k"]) == [0, 1, 2]
    assert new_rows._positions(["k", "l", "k"], ["k", "k", "l"]) is None


def test_a_sample_has_the_first_row_for_each_name(tmp_path: Path) -> None:
    sample, into = tmp_path / "sample.csv", tmp_path / "into.csv"
    sample.write_text("id,y\n1,0.5\n2,0.7\n")
    new_rows.sample_for(str(sample), ["k", "l"], LAYOUT, str(into))
    assert into.read_text() == "id,y\nk,0.5\nl,0.5\n"


@pytest.mark.parametrize(("change", "different"), [(0.0, 0), (1e-9, 0), (1e-3, 1)])
def test_predictions_in_another_order_are_compared(change: float, different: int, tmp_path: Path) -> None:
    expected, shuffled = tmp_path / "expected.csv", tmp_path / "shuffled.csv"
    expected.write_text("id,y\n" + "".join(f"{row},{2 * row + 1}\n" for row in range(40)))
    new_rows.other_order(str(expected), str(shuffled))
    rows = [line.split(",") for line in shuffled.read_text().splitlines()[1:]]
    assert len(rows) == 36
    assert [row[0] for row in rows] != [str(row) for row in range(36)]
    rows[3][1] = repr(float(rows[3][1]) * (1 + change))
    shuffled.write_text("id,y\n" + "".join(f"{id},{y}\n" for id, y in rows))
    found = new_rows.same_predictions(str(expected), str(shuffled), "id")
    assert found == {"rows": 36, "different": different}
