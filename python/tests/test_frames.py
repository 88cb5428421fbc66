"""Frames become tables, or one clear error."""

import datetime
import decimal
import json
import pathlib
import runpy
import sys
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import mle_star
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import ROOT, TINY
from mle_star import _frames


def column(values: Any) -> pd.DataFrame:
    return pd.DataFrame({"x": values})


def values(series: Any) -> list[Any]:
    return [None if pd.isna(value) else value for value in series]


def indexed(*, name: str | None, columns: str = "a") -> pd.DataFrame:
    return pd.DataFrame({columns: [1, 2]}, index=pd.Index(["u", "v"], name=name))


def leveled(index: pd.Index) -> pd.DataFrame:
    return pd.DataFrame({"a": [1, 2]}, index=index)


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        (pd.DataFrame([[1, 2]]), {"0": [1], "1": [2]}),
        (indexed(name=None), {"a": [1, 2]}),
        (indexed(name="k"), {"k": ["u", "v"], "a": [1, 2]}),
        (pd.DataFrame({"a": [1, 2]}, index=[5, 5]), {"a": [1, 2]}),
        (column(pd.Categorical(["u", None, "v"])), {"x": ["u", None, "v"]}),
        (column(pd.Categorical([10, None, 30])), {"x": [10, None, 30]}),
        (column(pd.cut([1.0, 2.0], 2)), {"x": ["(0.999, 1.5]", "(1.5, 2.0]"]}),
        (column(pd.period_range("2024-01", periods=2, freq="M")), {"x": ["2024-01", "2024-02"]}),
        (column(pd.array([1, None], dtype="Int64")), {"x": [1, None]}),
        (column(pd.array([True, None], dtype="boolean")), {"x": [True, None]}),
        (column(pd.to_timedelta([1, None], unit="h")), {"x": [3600.0, None]}),
        (column(pd.arrays.SparseArray([0, 1])), {"x": [0, 1]}),
        (column(np.array([1, 2.5], dtype=object)), {"x": [1, 2.5]}),
        (column(np.array([None, None], dtype=object)), {"x": [None, None]}),
        (column(np.array([2**70, None, -1], dtype=object)), {"x": [str(2**70), None, "-1"]}),
        (column([datetime.date(2024, 1, 2), None]), {"x": [datetime.date(2024, 1, 2), None]}),
        (column([decimal.Decimal("1.10"), None]), {"x": [decimal.Decimal("1.10"), None]}),
        (column(pd.array([90, None], dtype="duration[s][pyarrow]")), {"x": [90.0, None]}),
        (
            leveled(pd.period_range("2024-01", periods=2, freq="M", name="k")),
            {"k": ["2024-01", "2024-02"], "a": [1, 2]},
        ),
        (leveled(pd.to_timedelta([1, 2], unit="h").rename("k")), {"k": [3600.0, 7200.0], "a": [1, 2]}),
        (leveled(pd.IntervalIndex.from_breaks([0, 1, 2], name="k")), {"k": ["(0, 1]", "(1, 2]"], "a": [1, 2]}),
        (leveled(pd.MultiIndex.from_arrays([[3, 4], [5, 6]], names=["k", None])), {"k": [3, 4], "a": [1, 2]}),
    ],
)
def test_any_file_can_hold_what_becomes_of_a_frame(
    frame: pd.DataFrame, expected: dict[str, list[Any]], tmp_path: Path
) -> None:
    plain = _frames.plain(frame)
    assert {name: values(plain[name]) for name in plain} == expected
    assert _frames.write(frame, tmp_path / "table").suffix == ".parquet"


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "two columns are called 'a'"),
        (pd.DataFrame([[1, 2]], columns=["1", 1]), "two columns are called '1'"),
        (indexed(name="a"), "a column and a level of the index are called 'a'"),
        (pd.DataFrame([[1]], columns=pd.MultiIndex.from_tuples([("a", "b")])), "several levels"),
        (column([{"a": 1}, None]), "column 'x' holds dict objects"),
        (column([[1], [2]]), "column 'x' holds list objects"),
        (column(["a", 1]), "column 'x' mixes str and int"),
        (column(pd.Categorical(["a", 1])), "column 'x' mixes"),
        (column([uuid.UUID(int=1)]), "column 'x' holds UUID objects"),
        (column([b"a"]), "column 'x' holds bytes objects"),
        (column([pathlib.PurePosixPath("a")]), "column 'x' holds PurePosixPath objects"),
        (column([1j]), "column 'x' holds complex numbers"),
        (leveled(pd.MultiIndex.from_arrays([[1, 2], [3, 4]], names=["k", "k"])), "two levels of the index are called"),
        (leveled(pd.Index([("u", 1), ("v", 2)], tupleize_cols=False, name="k")), "column 'k' holds tuple objects"),
    ],
)
def test_what_no_table_can_hold_is_one_error(frame: pd.DataFrame, message: str, tmp_path: Path) -> None:
    with pytest.raises(mle_star.Error, match=message) as caught:
        _frames.write(frame, tmp_path / "table")
    assert caught.value.exit_code == 2
    assert caught.value.hint


def test_what_csv_cannot_hold_is_one_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_parquet(monkeypatch)
    with pytest.raises(mle_star.Error, match="cannot be written"):
        _frames.write(column(pd.Series(["a", "\ud800"], dtype=object)), tmp_path / "table")


def test_tables_of_arrow_are_written_or_refused(tmp_path: Path) -> None:
    table = pa.table({"x": pa.array([1500, None], pa.duration("ms")), "y": [1, 2]})
    written = pd.read_parquet(_frames.write(table, tmp_path / "table"))
    assert {name: values(written[name]) for name in written} == {"x": [1.5, None], "y": [1, 2]}
    for odd in (pd.Series([1, 2]), pa.chunked_array([[1, 2]])):
        with pytest.raises(mle_star.Error, match="is no table"):
            _frames.write(odd, tmp_path / "odd")


def test_tables_of_polars_are_those_of_their_texts(tmp_path: Path) -> None:
    kinds = ["b", "a", None]
    frame = pl.DataFrame(
        {
            "category": pl.Series(kinds, dtype=pl.Categorical),
            "enum": pl.Series(kinds, dtype=pl.Enum(["b", "a"])),
            "large": pl.Series([2**70, -1, None], dtype=pl.Int128),
        }
    )
    expected = {"category": kinds, "enum": kinds, "large": [str(2**70), "-1", None]}
    for table in (frame, frame.lazy()):
        written = pd.read_parquet(_frames.write(table, tmp_path / "table"))
        assert {name: values(written[name]) for name in written} == expected
        plain = _frames.plain(_frames.as_pandas(table))
        assert {name: values(plain[name]) for name in plain} == expected


def test_the_hint_about_objects_works() -> None:
    frame = column([{"a": 1}, None])
    frame["x"] = frame["x"].astype("string")
    assert _frames.plain(frame)["x"].isna().tolist() == [False, True]


@pytest.mark.parametrize("is_logged", [False, True])
def test_labels_and_ids_stay_as_they_are_written(
    is_logged: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "out.csv").write_text("id,label,p,n\n007,NA,0.5,10\n010,,1e-05,\n")
    model: dict[str, Any] = {"read": _frames.read}
    if is_logged:
        # The model of an export reads them without this package, and MLflow is not needed for that.
        for name in ("mlflow", "mlflow.models", "mlflow.pyfunc"):
            monkeypatch.setitem(sys.modules, name, MagicMock(PythonModel=object))
        exec(runpy.run_path(str(ROOT / "crates/mle-star-cli/python/mlflow_export.py"))["MODEL"], model)
    frame = model["read"](tmp_path / "out.csv")
    assert {name: values(frame[name]) for name in frame} == {
        "id": ["007", "010"],
        "label": ["NA", None],
        "p": [0.5, 1e-05],
        "n": [10, None],
    }


def test_a_long_column_has_one_type(tmp_path: Path) -> None:
    (tmp_path / "out.csv").write_text("id,code\n" + "".join(f"{row},00{row}\n" for row in range(300_000)) + "A1,\n")
    frame = _frames.read(tmp_path / "out.csv")
    assert {type(value) for value in frame["id"]} == {str}
    assert frame["code"].isna().sum() == 1


def test_neither_a_path_nor_a_frame() -> None:
    with pytest.raises(mle_star.Error, match=r"the data is a numpy\.ndarray"):
        mle_star.run(np.zeros((3, 3)), target="y")  # type: ignore[arg-type]


def odd_frame() -> pd.DataFrame:
    size = 60
    numbers = np.random.default_rng(0)
    x = numbers.normal(size=size)
    return pd.DataFrame(
        {
            "x": x,
            "colour": pd.Categorical(numbers.choice(["red", 'bl"ue', "gr,een"], size)),
            "when": pd.date_range("2024-03-30", periods=size, freq="h", tz="Europe/Berlin"),
            "count": pd.array([None, *range(size - 1)], dtype="Int64"),
            "yes": pd.array([None, *[True, False] * (size // 2)][:size], dtype="boolean"),
            "text": [f"line {row}\nand {row % 7}" for row in range(size)],
            "y": x * 2 + numbers.normal(size=size),
        },
        index=pd.Index(range(100, 100 + size), name="key"),
    )


def without_parquet(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise ImportError("no engine")

    monkeypatch.setattr(pd.DataFrame, "to_parquet", refuse)


@pytest.mark.parametrize("prepare", [lambda _: None, without_parquet], ids=["parquet", "csv"])
def test_scripts_see_the_frame(prepare: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch) -> None:
    prepare(monkeypatch)
    frame = odd_frame()
    run = mle_star.start(
        frame, test=frame.drop(columns="y"), target="y", metric="RMSE", agents="offline", time_limit=60, **TINY
    ).stop()
    seen = pd.read_csv(run.path / "data/train.csv")
    assert seen["key"].tolist() == frame.index.tolist()
    for name in ["x", "y", "count", "yes", "text", "colour"]:
        assert values(seen[name]) == values(frame[name])
    assert seen["when"].iloc[[0, -1]].tolist() == ["2024-03-30 00:00:00+01:00", "2024-04-01 12:00:00+02:00"]


def test_words_of_a_frame_that_look_missing_are_values() -> None:
    labels = ["None", "007", "NA-fever", None]
    frame = pd.DataFrame({"x": np.random.default_rng(0).normal(size=80), "y": labels * 20})
    run = mle_star.start(
        frame, test=frame[["x"]], target="y", metric="accuracy", agents="offline", time_limit=60, **TINY
    ).stop()
    (text,) = json.loads((run.path / "task.json").read_text())["text_columns"]
    assert (text["column"], text["words"]) == ("y", ["None"])
    # A number would say that predictions are numbers.
    assert set(_frames.read(run.path / "data/sample_submission.csv")["y"]) <= {"None", "NA-fever"}
