"""The folders that scripts see, and the labels that they do not see."""

from __future__ import annotations

import gzip
import hashlib
import stat
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from mle_star_data import folders, holdout, plan, rows
from mle_star_data.tables import Refused
from worlds import Cells, question, write


def bytes_in(folder: Path) -> bytes:
    """Everything that a script can read in a folder: files behind links, and what archives hold."""
    found = b""
    for path in holdout.walk(folder):
        found += path.read_bytes()
        if path.suffix == ".gz":
            found += gzip.decompress(path.read_bytes())
        elif path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                found += b"".join(archive.read(name) for name in archive.namelist())
    return found


def leaks(folder: Path, labels: Path, id: str, targets: Sequence[str]) -> list[str]:
    """The files of a folder of the search in which a row with a held-out ID has its label, in any table of any format
    that can be read: none."""
    known = pl.read_csv(labels, infer_schema=False).select(id, *targets)
    found = []
    for path in holdout.walk(folder):
        if not any(id in names and not names.isdisjoint(targets) for names in holdout.headers(path)):
            continue
        try:
            table = pl.read_csv(path, infer_schema=False)
        except (pl.exceptions.PolarsError, OSError, UnicodeDecodeError):
            found.append(path.name)
            continue
        shared = [name for name in targets if name in table.columns]
        right = table.join(known, on=id, suffix=" held out")
        same = [(right[name] == right[f"{name} held out"]).sum() for name in shared]
        # A sample submission has the usual label, which is right by chance.
        if (path.name == "train.csv" and len(right)) or any(
            count == len(right) and right[f"{name} held out"].n_unique() > 1
            for name, count in zip(shared, same, strict=True)
            if len(right)
        ):
            found.append(path.name)
    return found


def data(folder: Path, count: int = 300, label: Cells | None = None, **cells: Any) -> Path:
    """Rows with labels that occur nowhere else, groups, days, and a column that test rows lack."""
    label = label or (lambda n: f"{90_000 + n}")
    of = cells.get("cells") or (lambda n: f"0.{n},g{n // 5},{n // 2}")
    write(folder, "x,g,day", map(of, range(count)), map(of, range(count, count + 60)), label)
    train = (folder / "train.csv").read_text().splitlines()
    later = ["later", *(f"L{label(n)}" for n in range(count))]
    (folder / "train.csv").write_text("".join(f"{row},{cell}\n" for row, cell in zip(train, later, strict=True)))
    (folder / "sample_submission.csv").write_text("id,y\n" + "".join(f"r{n},7\n" for n in range(count, count + 60)))
    (folder / "notes").mkdir(exist_ok=True)
    (folder / "notes/places.csv").write_text("g,town\n" + "".join(f"g{n},t{n % 3}\n" for n in range(90)))
    (folder / ".hidden").write_text("no data")
    return folder


def materialised(into: Path, asked: dict[str, Any]) -> dict[str, Any]:
    """What was planned. It is written, too."""
    planned = plan.plan(asked)
    is_on = planned["holdout"]["state"] == "on"
    plan.materialise(asked | {"into": str(into), "holdout": planned["holdout"] if is_on else None})
    return planned


def ids(path: Path) -> list[str]:
    return pl.read_csv(path, infer_schema=False)["id"].to_list()


@pytest.mark.parametrize(
    ("roles", "kind", "column"),
    [({}, "time", "day"), ({"group": "g", "time": "day"}, "time", "g"), ({"group": "g"}, "time", "g")],
)
def test_no_script_sees_a_held_out_label(tmp_path: Path, roles: dict[str, str], kind: str, column: str) -> None:
    folder = data(tmp_path / "data")
    planned = materialised(tmp_path, question(folder, **roles))
    assert planned["split"]["kind"] == kind
    check_labels(tmp_path, folder, column)


@pytest.mark.parametrize("kind", ["rows", "groups"])
def test_no_script_sees_a_label_of_rows_at_random_and_groups(tmp_path: Path, kind: str) -> None:
    cells = {
        "rows": lambda n: f"0.{n},g{n * 7 % 13},{n * 5 % 11}",
        "groups": lambda n: f"0.{n},g{n // 5 * 37 % 97},{n * 5 % 11}",
    }[kind]
    folder = data(tmp_path / "data", cells=cells)
    planned = materialised(tmp_path, question(folder))
    assert planned["split"]["kind"] == kind
    check_labels(tmp_path, folder, "g" if kind == "groups" else None)


def check_labels(into: Path, folder: Path, column: str | None) -> None:
    """Reads all files of the folder of the search."""
    labels = pl.read_csv(into / "labels.csv", infer_schema=False)
    assert labels.columns == ["id", "y", *([column] if column else [])]
    assert stat.S_IMODE((into / "labels.csv").stat().st_mode) == 0o600
    seen = bytes_in(into / "input")
    assert len(labels) >= 20
    for label in labels["y"]:
        assert label.encode() not in seen
    assert leaks(into / "input", into / "labels.csv", "id", ["y"]) == []
    train, test, sample = (ids(into / f"input/{name}.csv") for name in ("train", "test", "sample_submission"))
    held, own = labels["id"].to_list(), ids(folder / "test.csv")
    assert test == sample
    assert [one for one in test if one in held] == held
    assert [one for one in test if one not in held] in (own, [])
    assert train == [one for one in ids(folder / "train.csv") if one in train]
    assert set(train).isdisjoint(held)
    moved = pl.read_csv(into / "input/test.csv", infer_schema=False).filter(pl.col("id").is_in(held))
    given = pl.read_csv(folder / "train.csv", infer_schema=False).filter(pl.col("id").is_in(held))
    assert moved.equals(given.select(moved.columns))
    found = pl.read_csv(into / "input/sample_submission.csv", infer_schema=False)
    assert set(found["y"]) == {"7"}
    folds = pl.read_csv(into / "input/folds.csv", infer_schema=False)
    assert set(folds["id"]) <= set(train)
    assert (into / "input/notes/places.csv").read_text() == (folder / "notes/places.csv").read_text()
    assert not (into / "input/.hidden").exists()
    assert (into / "all_rows/train.csv").read_bytes() == (folder / "train.csv").read_bytes()


def test_a_leak_is_found(tmp_path: Path) -> None:
    folder = data(tmp_path / "data")
    materialised(tmp_path, question(folder))
    held = (tmp_path / "labels.csv").read_text()
    (tmp_path / "input/copy.csv").write_text(held)
    assert leaks(tmp_path / "input", tmp_path / "labels.csv", "id", ["y"]) == ["copy.csv"]


@pytest.mark.parametrize(("end", "mark"), [("\n", ""), ("\r\n", "\ufeff")])
def test_rows_are_copied_as_they_are(tmp_path: Path, end: str, mark: str) -> None:
    cells: Cells = lambda n: f'"{n}",1.50{n},"a,\n""{n}""",  {n}'  # noqa: E731
    files = {
        "train": ["id,x,g,day,y", *(f"{cells(n)},{n % 3}" for n in range(100))],
        "test": ["y,day,id,x,g", *(f',  {n},"{n}",01.0,"q"' for n in range(100, 140))],
        "sample_submission": ["id,dog,cat", *(f"{n},0.50,{n % 2}" for n in range(100, 140))],
    }
    folder = tmp_path / "data"
    folder.mkdir()
    for name, lines in files.items():
        (folder / f"{name}.csv").write_bytes(
            (mark + "".join(f"{line}\n" for line in lines)).replace("\n", end).encode()
        )
    tables = plan.read(question(folder))
    split = {"kind": "rows", "column": None}
    found = holdout.hold_out(tables, split, None, holdout.Share(0.2), 1)
    folders.search(tables, found, None, tmp_path / "input", tmp_path / "labels.csv")
    held = {int(row) for row in found.held}
    before, after = (pl.read_csv(path / "train.csv", infer_schema=False) for path in (folder, tmp_path / "input"))
    assert after.rows() == [row for at, row in enumerate(before.rows()) if at not in held]
    test = pl.read_csv(tmp_path / "input/test.csv", infer_schema=False).rows()
    assert {(None, f"  {n}", str(n), "01.0", "q") for n in range(100, 140)} <= set(test)
    assert {(None, f"  {n}", str(n), f"1.50{n}", f'a,{end}"{n}"') for n in held} <= set(test)
    sample = (tmp_path / "input/sample_submission.csv").read_text()
    assert sample.startswith("id,dog,cat")
    assert all(f"{row},0.50," in sample for row in held)


@pytest.mark.parametrize(
    ("preset", "file", "has"), [("default", "", True), ("default", "x", False), ("paper", "", False)]
)
def test_a_file_of_folds_that_the_user_has_is_data(tmp_path: Path, preset: str, file: str, has: bool) -> None:
    folder = data(tmp_path / "data")
    if file:
        (folder / "folds.csv").write_text(file)
    planned = materialised(tmp_path, question(folder, preset=preset))
    found = [(tmp_path / name / "folds.csv").exists() for name in ("input", "all_rows")]
    assert planned["has_folds_file"] == has
    assert found == [has or bool(file), has]
    assert not file or (tmp_path / "input/folds.csv").read_text() == file


def test_other_rows_than_planned_are_refused(tmp_path: Path) -> None:
    asked = question(data(tmp_path / "data"))
    planned = plan.plan(asked)["holdout"] | {"digest": "0"}
    with pytest.raises(Refused, match="cannot be found again"):
        plan.materialise(asked | {"into": str(tmp_path), "holdout": planned})
    assert not (tmp_path / "input").exists()


@pytest.mark.parametrize(
    ("cells", "kind", "sizes"),
    [
        (lambda n: f"{n * 7 % 50},a", "rows", [40, 40, 40, 40, 40]),
        (lambda n: f"{n * 7 % 50},p{n // 60}", "groups", [20, 60, 60, 60]),
        (lambda n: f"{n},a", "time", [30, 30, 30]),
        (lambda n: f"{n // 50},a", "time", [50, 50]),
    ],
)
def test_folds_are_like_the_test_table(tmp_path: Path, cells: Cells, kind: str, sizes: list[int]) -> None:
    folder = write(tmp_path, "t,g", map(cells, range(200)), map(cells, range(200, 240)))
    split = {"kind": kind, "column": {"groups": "g", "time": "t"}.get(kind)}
    found = holdout.folds(plan.read(question(folder)), split, None, None, None, 1)
    counts = pl.Series(found).filter(pl.Series(found >= 0)).value_counts()["count"].to_list()
    assert sorted(counts) == sorted(sizes)


OWN = "id,x,mine,half,y\n10,1,b,1,2.5\n11,2,a,,3.5\n12,3,b,1,\n13,4,10,1,4.5\n14,5,9,1,5.5\n"


@pytest.mark.parametrize(
    ("given", "file", "expected"),
    [
        ("mine", "", "id,fold 10,3 11,2 13,0 14,1"),
        ("folds.csv", "\ufefffold,ID\nlate,10\nearly,11\nlate,13\nlate,14\n", "id,fold 10,1 11,0 13,1 14,1"),
        # Numbers are in their order. Unlabelled rows and those of the test table may have a fold.
        ("folds.csv", "id,fold\n10,9\n11,10\n12,9\n13,9\n14,10\n21,9\n", "id,fold 10,0 11,1 13,0 14,1"),
        ("half", "", "row `11` of train.csv has no fold in `half`"),
        ("folds.csv", "id,fold\n10,1\n11,2\n10,1\n", "folds.csv has the row `10` twice"),
        ("folds.csv", "id,fold\n10,1\n11,2\n13,1\n", "row `14` of train.csv has no fold in folds.csv"),
        (
            "folds.csv",
            "id,fold\n10,1\n11,2\n13,1\n14,2\n99,1\n",
            "folds.csv has a fold for the row `99`, which train.csv does not have",
        ),
        (
            "folds.csv",
            "id,fold\n10,1\n11,1\n13,1\n14,1\n",
            "folds: `folds.csv` has one fold for all labelled rows; at least two are needed",
        ),
        ("nowhere", "", "folds: `nowhere` is neither a column of train.csv nor a file"),
    ],
)
def test_folds_that_are_given(tmp_path: Path, given: str, file: str, expected: str) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "train.csv").write_text(OWN)
    (folder / "test.csv").write_text("id,x\n20,1\n21,2\n")
    if file:
        (folder / "folds.csv").write_text(file)
    try:
        tables = plan.read(question(folder))
        folds = holdout.own_folds(tables, str(folder / given) if given.endswith(".csv") else given)
        folders.link_all_rows(tables, folds, tmp_path / "all")
        found = " ".join((tmp_path / "all/folds.csv").read_text().split())
    except Refused as error:
        found = str(error)
    assert found == expected
    assert not file or (folder / "folds.csv").read_text() == file


def test_the_last_fold_is_held_out(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "data",
        "x",
        (f"0.{n * 7 % 99}" for n in range(150)),
        ["0.5"] * 30,
        lambda n: "cow" if n == 3 else ["cat", "dog"][n % 2],
    )
    found = plan.last_fold(question(folder, "accuracy") | {"into": str(tmp_path)})
    held = ids(tmp_path / "labels.csv")
    assert len(held) == found["holdout"]["rows"] in (29, 30)
    # A script cannot learn a class that it does not see.
    assert "r3" not in held
    assert set(held) < set(ids(tmp_path / "input/test.csv"))


# Seasonal naive forecasts


def naive(
    folder: Path, header: str, cells: Cells, count: int, test: int, label: Cells
) -> tuple[dict[int, float], dict[int, int]]:
    """The forecasts and the folds by the numbers of rows."""
    write(folder / "data", header, map(cells, range(count)), map(cells, range(count, count + test)), label)
    asked = question(folder / "data", holdout="off")
    materialised(folder, asked)
    frames = (pl.read_csv(folder / name, infer_schema=False) for name in ("seasonal_naive.csv", "all_rows/folds.csv"))
    forecasts, folds = (
        dict(zip(frame["id"].str.slice(1).cast(int), frame.to_series(1), strict=True)) for frame in frames
    )
    assert forecasts.keys() == folds.keys()
    return {row: float(one) for row, one in forecasts.items()}, {row: int(one) for row, one in folds.items()}


def test_a_row_gets_the_value_of_its_series_a_week_or_two_earlier(tmp_path: Path) -> None:
    day = [str(one) for one in pl.date_range(pl.date(2023, 1, 1), pl.date(2023, 7, 19), eager=True)]
    forecasts, folds = naive(
        tmp_path, "day,store", lambda n: f"{day[n // 3]},s{n % 3}", 570, 30, lambda n: f"{n % 3 * 1000 + n // 3}"
    )
    first = {fold: min(row // 3 for row in folds if folds[row] == fold) for fold in folds.values()}
    assert len(first) >= 3
    for row, fold in folds.items():
        # The last three of ten days are more than a week after the last known one.
        weeks = 1 if row // 3 - first[fold] < 7 else 2
        assert forecasts[row] == row % 3 * 1000 + row // 3 - 7 * weeks


@pytest.mark.parametrize(
    ("cells", "back"), [(lambda n: f"{2010 + n // 12}-{n % 12 + 1:02}", 12), (lambda n: f"{n}", None)]
)
def test_months_have_a_season_of_a_year_and_numbers_have_none(tmp_path: Path, cells: Cells, back: int | None) -> None:
    forecasts, folds = naive(tmp_path, "t", cells, 114, 6, str)
    for row, fold in folds.items():
        last = min(one for one in folds if folds[one] == fold) - 1
        assert forecasts[row] == (row - back if back else last)


# Test rows of a single table, sample submissions


@pytest.mark.parametrize(("id", "metric"), [("id", "accuracy"), (None, "log loss"), ("id", "RMSE")])
def test_test_rows_of_a_single_table(tmp_path: Path, id: str | None, metric: str) -> None:
    folder, into = tmp_path / "data", tmp_path / "into"
    folder.mkdir()
    into.mkdir()
    label: Cells = lambda n: "NA" if n % 50 == 7 else "abc"[n % 3] if metric != "RMSE" else f"{n}.5"  # noqa: E731
    (folder / "train.csv").write_text("id,x,y\n" + "".join(f"{n * 3},0.{n},{label(n)}\n" for n in range(200)))
    asked = question(folder, metric, id=id) | {"name": "it.csv", "share": 0.2, "seed": 3, "into": str(into)}
    found = plan.draw(asked)
    assert (found["unlabelled"], found["words"]) == (4, ["NA"])
    assert (found["holdout"]["state"], found["holdout"]["rows"], found["holdout"]["of"]) == ("test", 39, 196)
    assert found["split"]["why"].startswith("39 of the 196 labelled rows of it.csv are the test table: rows at random")
    train, test, sample = (
        pl.read_csv(into / f"{name}.csv", infer_schema=False) for name in ("train", "test", "sample_submission")
    )
    labels = pl.read_csv(into / "labels.csv", infer_schema=False)
    name = found["id"]
    assert name == (id or "row_id")
    assert (len(train), len(test)) == (157, 39)
    assert test[name].equals(sample[name])
    assert test[name].equals(labels[name])
    assert "y" not in test.columns
    assert set(train[name]).isdisjoint(test[name])
    assert sample.columns == [name, *(["y"] if metric != "log loss" else ["a", "b", "c"])]
    if id is None:
        whole = pl.read_csv(folder / "train.csv", infer_schema=False)
        assert test["x"].equals(whole["x"].gather(test[name].cast(int)))


@pytest.mark.parametrize("id", ["id", None])
def test_a_sample_submission_is_made(tmp_path: Path, id: str | None) -> None:
    folder, into = tmp_path / "data", tmp_path / "into"
    into.mkdir()
    write(folder, "x", map(str, range(50)), map(str, range(50, 60)))
    (folder / "sample_submission.csv").unlink()
    if id is None:
        for name in ("train", "test"):
            path = folder / f"{name}.csv"
            pl.read_csv(path, infer_schema=False).drop("id").write_csv(path)
    found = plan.make_sample(question(folder, id=id) | {"into": str(into)})
    sample = pl.read_csv(into / "sample_submission.csv", infer_schema=False)
    assert found == {"id": id or "row_id", "has_made_ids": id is None}
    assert sample.columns == [id or "row_id", "y"]
    assert set(sample["y"]) == {"0"}
    if id is None:
        numbers = [pl.read_csv(into / f"{name}.csv")["row_id"].to_list() for name in ("test", "train")]
        assert numbers == [list(range(10)), list(range(10, 60))]


# Submissions and copies


@pytest.mark.parametrize(
    ("submission", "expected"),
    [
        ("id,y\n1,a\n2,b\n3,c\n4,d\n", "id,y\n3,c\n1,a\n"),
        ("id,y\n4,d\n03,c\n1.0,a\n2,b", "id,y\n03,c\n1.0,a\n"),
        ('id,y\r\n3,"c\n,"\r\n1,a\r\n', 'id,y\n3,"c\n,"\n1,a\n'),
        ("id,y\n1,a\n2,b\n", "it has no row with id 3"),
    ],
)
def test_held_out_predictions_are_taken_out_of_a_submission(tmp_path: Path, submission: str, expected: str) -> None:
    (tmp_path / "sample.csv").write_text("id,y\n3,0\n1,0\n")
    (tmp_path / "submission.csv").write_bytes(submission.encode())
    try:
        folders.trim(tmp_path / "submission.csv", tmp_path / "sample.csv", "id", tmp_path / "into.csv")
        found = (tmp_path / "into.csv").read_bytes().decode()
    except Refused as refused:
        found = str(refused)
    assert found.endswith(expected)


@pytest.mark.parametrize(
    ("id", "further", "first"),
    [
        (str, "", "200"),
        (str, "id,n\n1,2\n", "200"),
        (str, "order,of\n" + "".join(f"{at},{at + 10}\n" for at in range(20)), None),
        (lambda n: f"p{n}_x", "", "p200_x"),
        (lambda n: f"{n:05}", "", "00200"),
        (lambda n: f"{n % 5}-{n}", "", None),
    ],
)
def test_each_copy_permutes_one_column(tmp_path: Path, id: Cells, further: str, first: str | None) -> None:
    folder, into = tmp_path / "data", tmp_path / "into"
    folder.mkdir()
    (folder / "train.csv").write_text("id,a,b,g,y\n" + "".join(f"{id(n)},{n},x,1,0\n" for n in range(100, 200)))
    (folder / "test.csv").write_text("id,a,b,g\n" + "".join(f'{id(n)},{n},"b, {n}",{n}\n' for n in range(30)))
    (folder / "sample_submission.csv").write_text("id,y\n" + "".join(f"{id(n)},0.5\n" for n in range(30)))
    (tmp_path / "labels.csv").write_text("id,y\n" + "".join(f"{id(n)},1\n" for n in range(10, 30)))
    if further:
        (folder / "orders.csv").write_text(further)
    found = folders.permuted(folder, tmp_path / "labels.csv", "id", ["g"], into)
    assert found == folders.permuted(folder, tmp_path / "labels.csv", "id", ["g"], None)
    assert (found["columns"], found["repetitions"], len(found["ids"])) == (["a", "b"], 5, 20)
    test, sample = (pl.read_csv(into / f"{name}.csv", infer_schema=False) for name in ("test", "sample_submission"))
    assert len(test) == 220
    assert test["id"].equals(sample["id"])
    assert test["id"][0] == (first or id(10))
    for copy in range(11):
        part = test[20 * copy : 20 * copy + 20]
        assert part["g"].to_list() == [str(n) for n in range(10, 30)]
        moved = [(part[name] != test[:20][name]).sum() > 10 for name in ("a", "b")]
        assert moved == [1 <= copy < 6, copy > 5]
        assert part["a"].n_unique() == 20


def uuid(n: int) -> str:
    return f"{hashlib.sha256(str(n).encode()).hexdigest()[:12]}-{n:04}"


@pytest.mark.parametrize("id", [str, uuid])
def test_copies_join_one_to_one(tmp_path: Path, id: Cells) -> None:
    """A further table has a row for each row of the training and the test table, and for each copy."""
    folder, into = tmp_path / "data", tmp_path / "into"
    folder.mkdir()
    (folder / "train.csv").write_text("id,a,y\n" + "".join(f"{id(n)},{n},0\n" for n in range(100, 200)))
    (folder / "test.csv").write_text("id,a\n" + "".join(f"{id(n)},{n}\n" for n in range(30)))
    (folder / "sample_submission.csv").write_text("id,y\n" + "".join(f"{id(n)},0.5\n" for n in range(30)))
    (folder / "more.csv").write_text("w,id\n" + "".join(f"w{n},{id(n)}\n" for n in (*range(30), *range(100, 200))))
    (tmp_path / "labels.csv").write_text("id,y\n" + "".join(f"{id(n)},1\n" for n in range(10, 30)))
    found = folders.permuted(folder, tmp_path / "labels.csv", "id", [], into)
    before, after = (pl.read_csv(path / "more.csv", infer_schema=False) for path in (folder, into))
    test = pl.read_csv(into / "test.csv", infer_schema=False)
    assert after[: len(before)].equals(before)
    assert after["id"].n_unique() == len(after) == len(before) + len(test)
    assert set(test["id"].str.len_chars()) <= set(before["id"].str.len_chars())
    joined = test.join(after, on="id", how="left", maintain_order="left", validate="1:1")
    assert joined["w"].to_list() == [f"w{n}" for n in range(10, 30)] * (len(test) // 20)
    assert found["ids"] == [id(n) for n in range(10, 30)]


@pytest.mark.parametrize(
    ("kind", "column", "blocks"), [("stratified", None, 1), ("time", "day", 6), ("groups", "g", 6)]
)
def test_labels_are_permuted_within_blocks(tmp_path: Path, kind: str, column: str | None, blocks: int) -> None:
    folder = data(tmp_path / "data")
    found = folders.shuffle_targets(folder, ["y"], [], {"kind": kind, "column": column}, 5, tmp_path / "into")
    assert found["table"] == "train.csv"
    before, after = (pl.read_csv(path / "train.csv", infer_schema=False) for path in (folder, tmp_path / "into"))
    assert before.drop("y").equals(after.drop("y"))
    assert (before["y"] != after["y"]).sum() > 250
    assert len(set(found["blocks"])) == blocks
    for block in range(blocks):
        inside = pl.Series([one == block for one in found["blocks"]])
        assert sorted(before["y"].filter(inside)) == sorted(after["y"].filter(inside))


def test_half_of_the_test_rows_are_replaced(tmp_path: Path) -> None:
    folder = data(tmp_path / "data")
    folders.replace_test_rows(folder, "id", 5, tmp_path / "into")
    before, after = (pl.read_csv(path / "test.csv", infer_schema=False) for path in (folder, tmp_path / "into"))
    assert before["id"].equals(after["id"])
    assert 15 < (before["x"] != after["x"]).sum() < 45
    assert set(after["x"]) < set(before["x"])


def test_hashes_are_the_same_on_every_machine() -> None:
    found = rows.keys(pl.Series(["a", None, "a longer text", "é"]), False)
    assert found.tolist() == rows.keys(pl.Series(["a", None, "a longer text", "é"]), False).tolist()
    assert found[1] == 0
    assert (
        rows.keys(pl.Series(["1", "1.0", "x"]), True)[[0, 1]].tolist() == [rows.keys(pl.Series(["1e0"]), True)[0]] * 2
    )
    assert rows.drawn(found, 7, "use").tolist() != rows.drawn(found, 8, "use").tolist()
    assert found[0] == EXPECTED


EXPECTED = 5718913436695043505
