"""The findings about submissions."""

from __future__ import annotations

import resource
import time
from pathlib import Path

import pytest
from mle_star_data import submission

SAMPLE = "id,delayed\n1,0.5\n2,0.5\n3,0.5\n4,0.5\n"


def check(
    folder: Path,
    sample: str | None,
    text: str | bytes,
    rows: int | None,
    parts: list[str],
    id_column: str | None = None,
) -> None:
    """Each finding contains the text at its position, and there are no others."""
    data = text.encode() if isinstance(text, str) else text
    (folder / "submission.csv").write_bytes(data)
    if sample is not None:
        (folder / "sample.csv").write_text(sample, newline="")
    where = None if sample is None else str(folder / "sample.csv")
    found = submission.check(str(folder / "submission.csv"), where, id_column)
    findings = found["findings"]
    assert isinstance(findings, list)
    assert (found["rows"], found["bytes"], len(findings)) == (rows, len(data), len(parts)), findings
    for finding, part in zip(findings, parts, strict=True):
        assert part in finding


@pytest.mark.parametrize(
    ("text", "rows", "parts"),
    [
        (b"id,y\n1,0\n2,\n", 2, []),
        (b"id,y\n", 0, ["no data row"]),
        (b"", None, ["the file is empty"]),
        (b"id,y\n1,2,3\n", None, ["row 1 has 3 fields, but the header has 2"]),
        (b"id,y\n1,2\n\n3\n", None, ["row 2 has 1 fields, but the header has 2"]),
        (b"id,y\n1,\xff\xfe\n", None, ["row 1 is not UTF-8"]),
    ],
)
def test_without_a_sample_it_must_parse_and_have_a_row(
    tmp_path: Path, text: bytes, rows: int | None, parts: list[str]
) -> None:
    check(tmp_path, None, text, rows, parts)


@pytest.mark.parametrize(
    "text",
    [
        "id,delayed\n1,0.1\n2,0\n3,1e-3\n4,-7\n",
        "id,delayed\r\n1,0.1\r\n2,0\r\n3,1\r\n4,2\r\n",
        "\ufeffid,delayed\n1,0.1\n2,0\n3,1\n4,2",
        '"id","delayed"\n"1","0.1"\n2,0\n3,1\n4, 2\n',
    ],
)
def test_what_equals_the_sample_in_form_is_valid(tmp_path: Path, text: str) -> None:
    check(tmp_path, SAMPLE, text, 4, [])


LONG = "ä" * 500_000
DIFFERENCES: list[tuple[str, int | None, list[str]]] = [
    (
        "id,y\n1,0\n2,0\n3,0\n4,0\n",
        4,
        ["column `delayed` is missing", "column `y` is not in the sample"],
    ),
    ("delayed,id\n0,1\n0,2\n0,3\n0,4\n", 4, ["from column 1 on: `delayed` instead of `id`"]),
    ("id,delayed,id\n1,0,1\n2,0,2\n3,0,3\n4,0,4\n", 4, ["from column 3 on: `id` instead of none"]),
    (",id,delayed\n0,1,0\n1,2,0\n2,3,0\n3,4,0\n", 4, ["index=False"]),
    (
        "id,delayed\n1,0\n2,0\n",
        2,
        ["2 data rows; the sample submission has 4", "`id`: 2 ids of the sample are missing, first `3`, `4`"],
    ),
    ("id,delayed\n", 0, ["no data row", "0 data rows", "4 ids of the sample are missing"]),
    (
        "id,delayed\n1,0\n2,0\n3,0\n4,0\n5,0\n",
        5,
        ["5 data rows", "`id`: 1 ids are not in the sample, first `5` in row 5"],
    ),
    (
        "id,delayed\n1,0\n2,0\n2,0\n4,0\n",
        4,
        ["1 ids of the sample are missing, first `3`", "1 ids are repeated, first `2` in row 3"],
    ),
    ("id,delayed\n1,0\n3,0\n2,0\n4,0\n", 4, ["another order than the sample's from row 2 on: `3` instead of `2`"]),
    ("id,delayed\n1,\n2,NaN\n3,None\n4,nan\n", 4, ["`delayed`: 4 values are missing, first row 1, row 2, row 3"]),
    ("id,delayed\n1,inf\n2,True\n3,0\n4,1\n", 4, ["2 values are not finite numbers, first `inf` in row 1, `True`"]),
    ("id,delayed\n1,1_0\n2,0\n3,0\n4,1\n", 4, ["1 values are not finite numbers, first `1_0` in row 1"]),
    # What is quoted is short.
    (f"id,delayed\n1,{LONG}\n2,0\n3,0\n4,0\n", 4, [f"first `{LONG[:100]}...` (500000 characters) in row 1"]),
    ("id,delayed\n1,0\n2,0,0\n", None, ["row 2 has 3 fields"]),
]


@pytest.mark.parametrize(("text", "rows", "parts"), DIFFERENCES)
def test_every_difference_is_a_finding(tmp_path: Path, text: str, rows: int | None, parts: list[str]) -> None:
    check(tmp_path, SAMPLE, text, rows, parts)


def test_what_is_wrong_with_the_sample_is_said_of_it(tmp_path: Path) -> None:
    check(tmp_path, "", SAMPLE, None, ["the sample submission: the file is empty"])


@pytest.mark.parametrize(
    ("sample", "text", "parts"),
    [
        # Texts stay texts; `None` is a label there, an empty cell is not.
        ("id,label\na,cat\nb,None\n", "id,label\na,None\nb,dog\n", []),
        ("id,label\na,cat\nb,dog\n", "id,label\na,None\nb,\n", ["`label`: 1 values are missing, first row 2"]),
        # If the sample has empty cells, the submission may have them too.
        ("id,pixels\na,\nb,1 2\n", "id,pixels\na,3 4\nb,\n", []),
        # Numbers may be missing where the sample has a word for that; texts may not.
        ("id,y\na,None\nb,1\n", "id,y\na,3\nb,nan\n", []),
        ("id,a,b\n1,0,0\n2,0,0\n", "id,a,b\n1,x,0\n2,0,\n", ["`a`: 1 values are not finite", "`b`: 1 values are mis"]),
        # Without IDs, there is no order to check.
        ("a,b\n0,0\n0,0\n", "a,b\n1,2\n3,4\n", []),
        # Rows may share an ID.
        ("id,y\n1,0\n1,0\n", "id,y\n1,2\n1,3\n", []),
    ],
)
def test_the_sample_says_what_a_column_may_hold(tmp_path: Path, sample: str, text: str, parts: list[str]) -> None:
    check(tmp_path, sample, text, 2, parts)


def test_the_id_column_can_be_named(tmp_path: Path) -> None:
    sample = "y,row\n0,1\n0,2\n"
    check(tmp_path, sample, "y,row\n5,1\n6,2\n", 2, [], "row")
    check(tmp_path, sample, "y,row\n5,2\n6,1\n", 2, ["column `row`: the ids are in another order"], "row")


def test_many_columns_have_a_finding_together(tmp_path: Path) -> None:
    sample = "id," + ",".join(f"c{at}" for at in range(25)) + "\n"
    many = [f"column `c{at}` is missing" for at in range(20)]
    check(tmp_path, sample + "1" + ",0" * 25 + "\n", "id\n1\n", 1, [*many, "5 more columns are missing"])


@pytest.mark.parametrize(
    ("text", "size", "said"),
    [
        (SAMPLE, 3 << 29, "the file has 1536 MiB; a submission has at most 1024 MiB"),
        ("", 1 << 30, "the header is longer than 1 MiB"),
        ('id,delayed\n1,0\n2,"', 1 << 30, "row 2 is longer than 16 MiB"),
    ],
)
def test_what_is_too_large_is_refused_without_taking_memory(tmp_path: Path, text: str, size: int, said: str) -> None:
    (tmp_path / "sample.csv").write_text(SAMPLE)
    with open(tmp_path / "submission.csv", "w") as file:
        file.write(text)
        file.flush()
        file.truncate(size)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = submission.check(str(tmp_path / "submission.csv"), str(tmp_path / "sample.csv"), None)
    assert found == {"bytes": size, "rows": None, "findings": [said]}
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 256 << 10


def test_a_changed_sample_is_read_again(tmp_path: Path) -> None:
    check(tmp_path, SAMPLE, SAMPLE, 4, [])
    check(tmp_path, SAMPLE + "5,0.5\n", SAMPLE, 4, ["the sample submission has 5", "1 ids of the sample are missing"])


def test_a_hundred_thousand_rows_take_little_time(tmp_path: Path) -> None:
    text = "id,a,b\n" + "".join(f"{at},{at / 7},{at / 3}\n" for at in range(100_000))
    check(tmp_path, text, text, 100_000, [])
    began = time.process_time()
    check(tmp_path, text, text, 100_000, [])
    assert time.process_time() - began < 1.5
