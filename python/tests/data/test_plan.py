"""How test rows differ, the periods of the training time, and which rows are held out."""

from __future__ import annotations

import bz2
import datetime
import gzip
import io
import pickle
import zipfile
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from mle_star_data import holdout, plan
from mle_star_data.tables import Refused
from worlds import Cells, question, write

WEEKDAYS = ["Mon", "Tuesday"]
NOTHING = "nothing tells the rows of test.csv from those of train.csv; classes keep their shares"


def runs(column: str, first: str, last: str, after: str) -> str:
    return f"`{column}` runs from {first} to {last} in train.csv and from {after} on in test.csv"


def groups(column: str) -> str:
    return f"the values of `{column}` repeat in train.csv, and at most 1 in 100 rows of test.csv has one of them"


def split(folder: Path, header: str, train: Cells, test: Cells | None = None, **given: Any) -> dict[str, Any]:
    """The split of tables with 60 and 30 rows and two classes."""
    write(folder, header, map(train, range(60)), map(test or train, range(60, 90)), lambda row: "ab"[row % 2])
    found: dict[str, Any] = plan.plan(question(folder, "accuracy", holdout="off", **given))["split"]
    return found


@pytest.mark.parametrize(
    ("header", "cells", "column", "why"),
    [
        ("year", lambda n: f"{2000 + n // 10}", "year", runs("year", "2000", "2005", "2006")),
        (
            "name,sold",
            lambda n: f"x,2024-{n // 28 + 1:02}-{n % 28 + 1:02} 10:00",
            "sold",
            runs("sold", "2024-01-01 10:00", "2024-03-04 10:00", "2024-03-05 10:00"),
        ),
        ("year", lambda n: f"{2000 + n // 10}.0", "year", runs("year", "2000", "2005", "2006")),
        # The first month ends with a day that cannot be a month.
        ("at", lambda n: f"{n % 28 + 1}/{n // 28 + 1}/2024", "at", runs("at", "1/1/2024", "4/3/2024", "5/3/2024")),
        (
            "clock",
            lambda n: f"{1_700_000_000 + n * 3600}",
            "clock",
            runs("clock", "1700000000", "1700212400", "1700216000"),
        ),
        # Groups that are new because time went on.
        ("user,week", lambda n: f"u{n // 6},{n}", "week", runs("week", "0", "59", "60")),
        ("w", lambda n: f"{2020 + n // 53}-W{n % 53 + 1:02}", "w", runs("w", "2020-W01", "2021-W07", "2021-W08")),
        ("x", lambda n: f"{n % 12 + 1:02}/{2000 + n // 12}", "x", runs("x", "01/2000", "12/2004", "01/2005")),
        ("x", lambda n: f"{n % 52 + 1:02}/{2000 + n // 52}", "x", runs("x", "01/2000", "08/2001", "09/2001")),
        (
            "x",
            lambda n: f'"{WEEKDAYS[n % 2]}, {n // 3 + 1} November 2021"',
            "x",
            runs("x", "Mon, 1 November 2021", "Tuesday, 20 November 2021", "Mon, 21 November 2021"),
        ),
        ("ym", lambda n: f"{200_001 + n // 12 * 100 + n % 12}", "ym", runs("ym", "200001", "200412", "200501")),
    ],
)
def test_later_rows(tmp_path: Path, header: str, cells: Cells, column: str, why: str) -> None:
    found = split(tmp_path, header, cells)
    # A note on periods may follow.
    assert (found["kind"], found["column"], found["why"].partition("; ")[0]) == ("time", column, why)


def test_the_boundary_day_may_be_in_both_tables(tmp_path: Path) -> None:
    found = split(
        tmp_path,
        "at",
        lambda n: f"2024-01-{n // 4 + 1:02} 12:00",
        lambda n: f"2024-01-{(n - 60) // 3 + 15:02} {(n - 60) % 3:02}:00",
    )
    why = "`at` ends with 2024-01-15 12:00 in train.csv and is later in 27 of 30 rows of test.csv"
    assert (found["kind"], found["why"][: len(why)]) == ("time", why)


@pytest.mark.parametrize(
    ("header", "cells", "column"),
    [
        ("patient", lambda n: f"p{n // 6}", "patient"),
        ("case", lambda n: f"2021-{n // 6 + 101}", "case"),
        ("patient_id", lambda n: f"{n // 6}", "patient_id"),
        ("engine,cycle", lambda n: f"{n // 6},{n % 6}", "engine"),
    ],
)
def test_other_groups(tmp_path: Path, header: str, cells: Cells, column: str) -> None:
    assert split(tmp_path, header, cells) == {"kind": "groups", "column": column, "why": groups(column)}


@pytest.mark.parametrize(
    ("header", "train", "test", "why"),
    [
        ("row,index", lambda n: f"{n},{n}", None, NOTHING),
        ("size", str, None, NOTHING),
        ("at", lambda n: "2024-01-01", None, NOTHING),
        (
            "year",
            lambda n: f"{2000 + n % 9}",
            lambda n: f"{1990 + n % 9}",
            "the rows of test.csv are earlier: `year` ends with 1998 there and begins with 2000",
        ),
        (
            "x,Year,sale_month",
            lambda n: f"{n % 7},{2020 + n // 36},{n // 3 % 12 + 1}",
            None,
            "the rows of test.csv are later by `Year` and `sale_month` together",
        ),
    ],
)
def test_rows_at_random(tmp_path: Path, header: str, train: Cells, test: Cells | None, why: str) -> None:
    found = split(tmp_path, header, train, test)
    assert (found["kind"], found["column"]) == ("stratified", None)
    assert found["why"].startswith(why)


SERIES: Cells = lambda n: f"2021-01-{n // 5 + 1:02},s{n % 5}"  # noqa: E731
OPENED: Cells = lambda n: f"2021-01-{n // 5 + 1:02},s{n // 10}"  # noqa: E731
TOGETHER: Cells = lambda n: f"2021-01-{n // 5 + 1:02},{'sn'[n // 60]}{n % 5}"  # noqa: E731
AT_RANDOM: Cells = lambda n: f"2021-01-{n % 12 + 1:02},s{n // 6}"  # noqa: E731
BY_DAY = runs("day", "2021-01-01", "2021-01-12", "2021-01-13")
GO_ON = "the groups of `shop` go on in the test table, so they are series, not kept whole"


@pytest.mark.parametrize(
    ("cells", "time", "expected", "why"),
    [
        (SERIES, None, ("time", "day", None), f"{BY_DAY}; {GO_ON}"),
        (SERIES, "day", ("time", "day", None), f"as given; {GO_ON}"),
        (OPENED, None, ("time", "day", "shop"), f"{BY_DAY}; whole groups of `shop` as given"),
        (OPENED, "day", ("time", "day", "shop"), "as given"),
        (TOGETHER, None, ("groups", "shop", None), f"as given; the test rows are also later: {BY_DAY}"),
        (TOGETHER, "day", ("time", "day", None), "as given; all groups of `shop` begin at the same time"),
        (AT_RANDOM, None, ("groups", "shop", None), "as given"),
    ],
)
def test_named_groups_that_go_on_are_series(
    tmp_path: Path, cells: Cells, time: str | None, expected: tuple[str, str, str | None], why: str
) -> None:
    found = split(tmp_path, "day,shop", cells, group="shop", time=time)
    assert (found["kind"], found["column"], found.get("groups")) == expected
    assert found["why"].startswith(why)


# Periods


def dates(count: int, step: int = 1, start: str = "2023-01-01") -> list[str]:
    first = datetime.date.fromisoformat(start)
    return [str(first + datetime.timedelta(days=step * at)) for at in range(count)]


def hours(every: Iterable[int]) -> list[str]:
    start = datetime.datetime(2023, 1, 1)
    return [str(start + datetime.timedelta(hours=at)) for at in every]


def numbers(first: int, last: int) -> list[str]:
    return [str(at) for at in range(first, last)]


def cut(every: Sequence[str], between: int, test: int) -> tuple[Sequence[str], Sequence[str]]:
    """A series that the test table ends; rows before it are in neither table."""
    return every[: len(every) - test - between], every[len(every) - test :]


def told(period: dict[str, Any]) -> str:
    return f"{period['from']}..{period['to']} {period['rows']}"


WORKDAYS = [day for at, day in enumerate(dates(350, start="2023-01-02")) if at % 7 < 5]
MONTHS = [f"{1990 + at // 12}-{at % 12 + 1:02}-01" for at in range(120)]


@pytest.mark.parametrize(
    ("rows", "length", "gap", "last", "before", "folds"),
    [
        (cut(dates(393), 0, 28), "28 days", "", "2023-12-04..2023-12-31 28", "2023-11-06..2023-12-03 28", 5),
        # A week lies between both tables, and so it does before each period.
        (cut(dates(400), 7, 28), "28 days", "7 days", "2023-12-04..2023-12-31 28", "2023-10-30..2023-11-26 28", 5),
        (
            cut(dates(100, 7, "2020-01-05"), 0, 8),
            *("8 weeks", "", "2021-08-15..2021-10-03 8", "2021-06-20..2021-08-08 8", 5),
        ),
        (cut(MONTHS, 2, 3), "3 months", "2 months", "1999-05-01..1999-07-01 3", "1998-12-01..1999-02-01 3", 5),
        (cut(numbers(1, 101), 0, 12), "12 steps of `t`", "", "77..88 12", "65..76 12", 4),
        # Weekends and nights are no gaps.
        (cut(WORKDAYS, 0, 20), "26 days", "", "2023-10-23..2023-11-17 20", "2023-09-25..2023-10-20 20", 5),
        (
            cut(hours(at for at in range(2400) if 8 <= at % 24 < 17), 0, 90),
            *("10 days", "", "2023-03-22 08:00:00..2023-03-31 16:00:00 90"),
            *("2023-03-12 08:00:00..2023-03-21 16:00:00 90", 5),
        ),
        (
            cut(hours(range(24 * 82 + 10)), 0, 24),
            *("1 day", "", "2023-03-22 10:00:00..2023-03-23 09:00:00 24"),
            *("2023-03-21 10:00:00..2023-03-22 09:00:00 24", 5),
        ),
    ],
)
def test_periods_are_like_the_test_table(
    tmp_path: Path, rows: tuple[Sequence[str], Sequence[str]], length: str, gap: str, last: str, before: str, folds: int
) -> None:
    asked = question(write(tmp_path, "t", *rows), time="t")
    decided = plan.decide(asked)
    assert decided.times is not None
    whole, search = decided.times.periods(None), decided.times.periods(33)
    assert [whole["length"], whole["gap"]] == [length, gap]
    # What is the last fold of all rows is the held-out period of the search.
    assert told(whole["folds"][-1]) == last
    assert (search["held_out"]["from"], search["held_out"]["rows"]) == (last.split("..")[0], 33)
    assert (told(search["folds"][-1]), len(search["folds"])) == (before, folds)
    assert [whole["train"]["rows"], whole["test"]["rows"]] == [len(rows[0]), len(rows[1])]


@pytest.mark.parametrize(
    ("train", "test", "why"),
    [
        (numbers(0, 79), numbers(79, 119), "the training time is too short for periods of 40 steps of `t`"),
        (numbers(20, 90), numbers(8, 20), "the rows of the test table are earlier in `t` than all labelled rows"),
        (["7"] * 50, numbers(8, 20), "all labelled rows have the same value of `t`"),
        (numbers(0, 2000), ["10"] * 3 + numbers(2003, 2200), "periods of 2190 steps of `t` as in the test table"),
        ([f"a{at}" for at in range(50)], numbers(8, 20), "the values of `t` have no order of time"),
    ],
)
def test_tables_without_periods_say_why(tmp_path: Path, train: list[str], test: list[str], why: str) -> None:
    found = plan.plan(question(write(tmp_path, "t", train, test), time="t"))
    assert found["periods"] is None
    assert why in found["split"]["why"]


def own(series: Sequence[tuple[int, int, int, int]], of_test: bool) -> list[str]:
    """Rows of series, each with its first time, its labelled rows, the rows between the tables and its test rows."""
    spans = [(first + known + between, asked) if of_test else (first, known) for first, known, between, asked in series]
    rows = sorted((time, name) for name, (first, count) in enumerate(spans) for time in range(first, first + count))
    return [f"{time},s{name}" for time, name in rows]


@pytest.mark.parametrize(
    ("series", "length", "gap", "folds", "held"),
    [
        ([(at, 60 + 7 * at, 0, 5) for at in range(12)], "5 steps of `t`", "", 5, 60),
        ([(0, 60 + 7 * at, 3, 5) for at in range(12)], "5 steps of `t`", "3 steps of `t`", 5, 60),
        # Series that are over stay in training, and so do those that are too short.
        ([(0, 60 + at, 0, 6 * (at % 4 > 0)) for at in range(12)], "6 steps of `t`", "", 5, 54),
        ([(7 * at, 61 if at % 4 else 7, 0, 6) for at in range(12)], "6 steps of `t`", "", 5, 54),
        # Most series are long enough for a third stretch, and few for a fourth.
        ([(at, 24 + at * 2, 0, 8) for at in range(12)], "8 steps of `t`", "", 2, 96),
    ],
)
def test_series_that_end_at_times_of_their_own(
    tmp_path: Path, series: list[tuple[int, int, int, int]], length: str, gap: str, folds: int, held: int
) -> None:
    found = plan.plan(question(write(tmp_path, "t,g", own(series, False), own(series, True))))
    assert (found["split"]["kind"], found["split"]["series"]) == ("time", ["g"])
    assert [found["periods"]["length"], found["periods"]["gap"], len(found["periods"]["folds"])] == [length, gap, folds]
    assert found["holdout"]["rows"] == held


@pytest.mark.parametrize(
    ("header", "cells", "columns", "shares"),
    [
        ("item", lambda day, one: f"i{one}" if one < (40 if day < 70 else 50) else None, ["item"], (0.2, 0.0)),
        (
            "shop,town",
            lambda day, one: f"s{one},t{one // 6}" if one < (120 if day < 70 else 144) else None,
            *(["town"], (1 / 6, 0.0)),
        ),
        ("item", lambda day, one: f"i{one}" if one < 50 else None, None, None),
        ("item", lambda day, one: f"i{one}" if one < (60 if day < 70 else 61) else None, None, None),
        ("item", lambda day, one: f"i{one + day // 7 * 20}" if one < 40 else None, None, None),
    ],
)
def test_new_series_are_told(
    tmp_path: Path, header: str, cells: Any, columns: list[str] | None, shares: tuple[float, float] | None
) -> None:
    train_rows, test_rows = [
        [f"{day},{cell}" for day in span for one in range(200) if (cell := cells(day, one)) is not None]
        for span in (range(70), range(70, 77))
    ]
    asked = question(write(tmp_path / "data", f"day,{header}", train_rows, test_rows))
    found = plan.plan(asked)["periods"]
    if columns is None or shares is None:
        assert "new_series" not in found
        return
    new = found["new_series"]
    assert (new["columns"], new["search"]) == (columns, None)
    assert [new["test"], new["before"]] == pytest.approx(shares, abs=0.01)


# Held-out rows


def holdout_files(folder: Path, rows: int = 100, label: Cells | None = None, cells: Cells | None = None) -> Path:
    cells = cells or (lambda n: f"0.{n},g{n // 5},{n // 2}")
    label = label or (lambda n: ["cat", "dog", "cat", "cow"][n % 4])
    return write(folder, "x,g,day", map(cells, range(rows)), map(cells, range(rows, rows + 40)), label)


def held(folder: Path, kind: str, share: float | None, column: str | None = None, seed: int = 1) -> list[int]:
    """The numbers of the held-out rows."""
    tables = plan.read(question(folder, "accuracy"))
    split = {"kind": kind, "column": column}
    rows = holdout.hold_out(tables, split, None, holdout.Share(share), seed).held
    return [int(row) for row in rows]


def test_rows_are_drawn_by_seed_and_id(tmp_path: Path) -> None:
    first = held(holdout_files(tmp_path / "a"), "rows", 0.2)
    assert len(first) == 20
    assert first == held(tmp_path / "a", "rows", 0.2)
    assert first != held(tmp_path / "a", "rows", 0.2, seed=2)
    # The same IDs are held out if rows and columns have another order.
    frame = pl.read_csv(tmp_path / "a/train.csv", infer_schema=False)
    holdout_files(tmp_path / "b")
    frame.reverse().select(reversed(frame.columns)).write_csv(tmp_path / "b/train.csv")
    assert [99 - row for row in reversed(held(tmp_path / "b", "rows", 0.2))] == first


def test_classes_keep_their_shares_and_rare_ones_remain(tmp_path: Path) -> None:
    def label(n: int) -> str:
        return "a" if n < 100 else "b" if n < 180 else "c" if n < 196 else ["rare", "", "rarest", "NA"][n % 4]

    rows = held(holdout_files(tmp_path, 200, label), "stratified", 0.25)
    assert Counter(min(label(row), "d") for row in rows) == {"a": 25, "b": 20, "c": 4}


def test_whole_groups_are_held_out_but_no_very_large_one(tmp_path: Path) -> None:
    rows = held(holdout_files(tmp_path / "a"), "groups", 0.2, "g")
    assert (len(rows), len({row // 5 for row in rows})) == (20, 4)
    large = holdout_files(tmp_path / "b", cells=lambda n: f"0,{max(n - 40, 0) // 5}.0,0")
    rows = held(large, "groups", 0.2, "g")
    assert min(rows) >= 45
    assert len(rows) == 5 * len({row // 5 for row in rows}) >= 20


@pytest.mark.parametrize(
    ("day", "share", "first"),
    [
        (str, 0.2, 80),
        (lambda n: f"{n // 2}", 0.23, 76),
        (lambda n: f"{n // 30}", 0.3, 60),
        (lambda n: f"2024-{n // 28 + 1:02}-{n % 28 + 1:02}", 0.2, 80),
        (lambda n: f"{n % 28 + 1}/{n // 28 + 1}/2024", 0.2, 80),
        (lambda n: f"{n // 28 + 1}/{n % 28 + 1}/2024", 0.2, 80),
    ],
)
def test_the_latest_rows_are_held_out(tmp_path: Path, day: Cells, share: float, first: int) -> None:
    folder = holdout_files(tmp_path, cells=lambda n: f"0,g,{day(n)}")
    assert held(folder, "time", share, "day") == list(range(first, 100))


def replaced(file: str, old: str, new: str) -> Any:
    def change(folder: Path) -> None:
        path = folder / file
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))

    return change


def added(file: str, text: str) -> Any:
    def change(folder: Path) -> None:
        (folder / file).parent.mkdir(exist_ok=True)
        with open(folder / file, "a") as into:
            into.write(text)

    return change


def binary(file: str, content: bytes) -> Any:
    return lambda folder: (folder / file).write_bytes(content)


def zipped(member: str, content: bytes) -> bytes:
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w") as archive:
        archive.writestr(member, content)
    return into.getvalue()


def frame(file: str) -> Any:
    return lambda folder: pl.DataFrame({"id": ["r3"], "y": ["cat"]}).write_parquet(folder / file)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda folder: (folder / "test.csv").unlink(), "there is no test table"),
        (lambda folder: (folder / "sample_submission.csv").unlink(), "there is no sample submission"),
        (replaced("train.csv", "day,y", "day,z"), "the target is not known"),
        (replaced("train.csv", "id,x", "key,x"), "no column with row IDs is common to train.csv, test.csv"),
        (replaced("sample_submission.csv", "id,y", "id,x"), "has further columns of train.csv besides the target: `x`"),
        (replaced("test.csv", "g,day", "g,month"), "test.csv has columns that train.csv lacks: `month`"),
        (added("sample_submission.csv", "r140,cat\n"), "test.csv has 40 rows, but sample_submission.csv has 41"),
        (added("train.csv", "r7,0,g,1,cat\n"), "a value of `id` occurs twice in train.csv"),
        (replaced("train.csv", "\nr7,", "\n,"), "a value of `id` is missing in train.csv"),
        (added("train.csv", "r107,0,g,1,cat\n"), "a value of `id` occurs both in train.csv and in test.csv; give"),
        (replaced("sample_submission.csv", "\nr139,", "\nr7,"), "have different values of `id`"),
        (added("raw/train.parquet", ""), "raw/train.parquet may have the labels of the training rows as well"),
        (added("more.csv", "id,y\nr3,cat\n"), "more.csv has labels of training rows as well"),
        (added("extra/labels.csv", "id;y\nr3;cat\n"), "extra/labels.csv has labels of training rows as well"),
        (added("labels.json", '[{"id": 3, "y": "cat"}]'), "labels.json has labels of training rows as well"),
        (binary("more.csv.gz", gzip.compress(b"y,id\ncat,r3\n")), "more.csv.gz has labels of training rows as well"),
        (binary("more.csv.bz2", bz2.compress(b"y,id\ncat,r3\n")), "more.csv.bz2 has labels of training rows as well"),
        (binary("more.zip", zipped("inside/all.csv", b"y,id\ncat,r3\n")), "more.zip has labels of training rows"),
        (binary("old.zip", zipped("old/train.csv", b"a,b\n")), "old.zip may have the labels of the training rows"),
        (binary("more.xlsx", zipped("xl/sharedStrings.xml", b"<t>id</t><t>y</t>")), "more.xlsx has labels"),
        (binary("more.pkl", pickle.dumps({"id": [3], "y": ["cat"]})), "more.pkl has labels of training rows as well"),
        (frame("more.parquet"), "more.parquet has labels of training rows as well"),
        (added("train.csv.bak", "\ufeffy,x,g,day,id\n"), "train.csv.bak may have the labels"),
    ],
)
def test_tables_whose_rows_cannot_be_held_out(tmp_path: Path, change: Any, why: str) -> None:
    change(holdout_files(tmp_path))
    with pytest.raises(Refused) as refused:
        held(tmp_path, "rows", 0.2)
    assert why in str(refused.value)


@pytest.mark.parametrize(
    "change",
    [
        added("folds/first.csv", "id,y,fold\nr1003,cat,1\n"),
        added("animals.csv", "y,legs\ncat,4\n"),
        added("days.csv", "g,y\ng0,cat\ng1,dog\n"),
        added("labels.json", '["cat", "dog"]'),
        binary("train.zip", zipped("train/1.png", b"y id")),
        binary("days.parquet.txt", b"y"),
    ],
)
def test_other_files_do_not_matter(tmp_path: Path, change: Any) -> None:
    change(holdout_files(tmp_path))
    assert len(held(tmp_path, "rows", 0.2)) == 20


@pytest.mark.parametrize(
    ("kind", "column", "share", "cells", "rows", "why"),
    [
        ("rows", None, None, None, 100, "only 100 rows are labelled; 2000 are needed"),
        ("rows", None, 0.1, None, 100, "only 10 rows would be held out; 20 are needed"),
        ("rows", None, 0.0, None, 100, "the share of held-out rows is 0, not between 0 and 1"),
        ("rows", None, 0.2, None, 49, "only 49 rows are labelled; 50 are needed"),
        ("groups", "g", 0.3, lambda n: f"0,g{n // 10},0", 90, "`g` has only 9 groups with labels; 10 are needed"),
        ("time", "day", 0.2, lambda n: "0,g,7", 100, "all labelled rows have the same value of `day`"),
        ("time", "day", 0.2, lambda n: f"0,g,{min(n // 49, 1)}", 100, "too many rows have the last value of `day`"),
        ("time", "g", 0.2, None, 100, "the values of `g` have no order of time"),
    ],
)
def test_too_few_rows_groups_and_times(
    tmp_path: Path, kind: str, column: str | None, share: float | None, cells: Cells | None, rows: int, why: str
) -> None:
    holdout_files(tmp_path, rows, cells=cells)
    with pytest.raises(Refused) as refused:
        held(tmp_path, kind, share, column)
    assert str(refused.value) == why


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (
            added("sample_submission.csv", "r140,cat\n"),
            "sample_submission.csv has 41 rows and test.csv has 40: they disagree",
        ),
        (
            replaced("sample_submission.csv", "\nr139,", "\nr7,"),
            "sample_submission.csv and test.csv disagree: id r7 is only in sample_submission.csv",
        ),
        (replaced("test.csv", "\nr139,", "\nr138,"), "id r139 is only in sample_submission.csv"),
        (replaced("test.csv", "\nr139,", "\n r139 ,"), ""),
    ],
)
def test_the_sample_has_the_rows_of_the_test_table(tmp_path: Path, change: Any, why: str) -> None:
    change(holdout_files(tmp_path))
    try:
        found = str(plan.same_rows(question(tmp_path)))
    except Refused as refused:
        found = str(refused)
    assert found.endswith(why or "{}")
