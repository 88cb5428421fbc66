"""What people give, and the plain tables that become of it."""

import csv
import gzip
import io
import random
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import corpus
import openpyxl
import pytest
from mle_star_data import files, formats, intake
from mle_star_data.tables import Refused

CASES = corpus.cases()
REFUSED = {
    *("archive-of-two", "column-twice", "nested-parquet", "no-parquet", "two-test-tables", "unknown-sheet"),
    *("workbook-merged", "workbook-with-title"),
}
"""The inputs that cannot be read."""
DAMAGED = {"nul-character", "ragged"}
WITHOUT_ID = {"id-of-nothing", "other-names", "other-names-open"}
SAID = (
    "1252",
    "UTF-16",
    "day:shop",
    "decimal comma",
    "empty",
    "numbers of `yield`",
    "separated by",
    "shop_day",
    "thousands",
)
"""Beginnings of what is said of reading."""


def taken(case: corpus.Case, folder: Path, **more: Any) -> tuple[dict[str, Any], dict[str, list[list[str]]]]:
    """The answer about an input, and its plain tables."""
    data, into = case.write(folder), folder / "into"
    into.mkdir()
    words = case.options.split()
    given = {key: words[words.index(option) + 1] for key, option in OPTIONS.items() if option in words}
    answer = intake.take_in(str(data), into=str(into), **given, **more)
    tables = data if answer["is_plain"] else into
    names = {path.name.replace("sampleSubmission", "sample_submission"): path for path in tables.glob("*.csv")}
    # A file that is damaged stays as it is.
    return answer, {} if answer["damaged"] else {name: rows(path.read_text()) for name, path in names.items()}


OPTIONS = {"sheet": "--sheet", "id": "--id-column"}


def rows(text: str) -> list[list[str]]:
    return [row for row in csv.reader(io.StringIO(text, newline="")) if row]


def outcome(read: Callable[[], Any]) -> Any:
    """What is read, or the sentence of the refusal, which comes with a hint."""
    refusals: list[Refused] = []
    try:
        return read()
    except Refused as refused:
        refusals.append(refused)
    assert refusals[0].hint
    assert "\n" not in str(refusals[0])
    return str(refusals[0])


def values(table: list[list[str]]) -> list[list[str | float]]:
    return [[float(cell) if corpus.is_number(cell) and cell[0] != "0" else cell for cell in row] for row in table]


@pytest.mark.parametrize("name", CASES)
def test_inputs_are_read_right_or_refused(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    if name in REFUSED:
        with pytest.raises(Refused) as refused:
            taken(case, tmp_path)
        both = f"{refused.value} {refused.value.hint}"
        assert all(text in both for text in case.facts("refused"))
        return
    answer, tables = taken(case, tmp_path)
    unread = answer["damaged"] or answer["id_unknown"]
    assert (name in DAMAGED, name in WITHOUT_ID) == (bool(answer["damaged"]), bool(answer["id_unknown"]))
    for text in case.facts("run refused") if unread and name != "other-names-open" else ():
        assert text in f"{unread['message']} {unread['hint']}"
    told = "; ".join(answer["told"])
    for text in case.facts("says"):
        assert text in told or not text.startswith(SAID)
    for kind, line in case.right:
        if kind.startswith("sees "):
            assert rows(line)[0] in tables[kind.removeprefix("sees ")]
    for other in case.facts("same as"):
        like, others = taken(CASES[other], tmp_path / "other")
        assert {key: values(table) for key, table in tables.items()} == {
            key: values(one) for key, one in others.items()
        }
        assert [answer[key] for key in ("is_single", "lacks_sample")] == [
            like[key] for key in ("is_single", "lacks_sample")
        ]
    assert all(len({len(row) for row in table}) == 1 for table in tables.values())
    assert not answer["is_plain"] or all(path.is_symlink() for path in (tmp_path / "into").iterdir())


def read(folder: Path, name: str, data: bytes) -> tuple[str, list[str]]:
    """The table in a file with these bytes as CSV, and the notes; or the refusal."""
    path = folder / name
    path.write_bytes(data)
    table = outcome(lambda: formats.read(path))
    if isinstance(table, str):
        return table, []
    # What is recognised by its parts is plain, and what was made is recognised.
    assert formats.plain_names(path) is None or table.is_plain
    made = table.frame.write_csv()
    (folder / "made.csv").write_text(made, newline="")
    assert formats.plain_names(folder / "made.csv") == table.names
    return made.replace('""', "") if '"""' not in made else made, table.notes


PLAIN = 'a,b\n1,x\n2,"y,z"\n'
NUMBERS = "the numbers of `b` have "
TEXTS: list[tuple[bytes, str, list[str]]] = [
    (PLAIN.encode(), PLAIN, []),
    (PLAIN.replace("\n", "\r\n").encode(), PLAIN, []),
    (PLAIN.replace("\n", "\r").encode(), PLAIN, ["lines end with CR"]),
    (b"a;b\n1;x\n2;y,z\n", PLAIN, ["the text is separated by `;`"]),
    (b"a\tb\n1\tx\n2\ty,z\n", PLAIN, ["the text is tab-separated"]),
    (f"\ufeff{PLAIN}".encode("utf-16-le"), PLAIN, ["the text is UTF-16"]),
    (f"\ufeff{PLAIN}".encode(), PLAIN, ["the text is UTF-8 with a byte order mark"]),
    (b"a,b\n1,\xfc\x80\n", "a,b\n1,ü€\n", ["the text is Windows-1252 (Latin-1)"]),
    (b"a,b", "a,b\n", []),
    (b'a,b\n1,"1,5"\n2,"22,25"\n', "a,b\n1,1.5\n2,22.25\n", [f"{NUMBERS}decimal comma: 1,5"]),
    (
        b"a;b\n1;1.234,56\n2;7\n",
        "a,b\n1,1234.56\n2,7\n",
        ["the text is separated by `;`", f"{NUMBERS}`.` between thousands and decimal comma: 1.234,56"],
    ),
    (b"a,b\n1,1 234\n2,NA\n", "a,b\n1,1234\n2,NA\n", [f"{NUMBERS}` ` between thousands: 1 234"]),
    ("a,b\n1,\u22125\n2,3\n".encode(), "a,b\n1,-5\n2,3\n", [f"{NUMBERS}the minus sign U+2212: \u22125"]),
    (b'a,b\n1,"$1,234.5"\n2,$7\n', "a,b\n1,1234.5\n2,7\n", [f"{NUMBERS}`,` between thousands and `$`: $1,234.5"]),
    (b"a,b\n1,5.5 %\n2,7 %\n", "a,b\n1,5.5\n2,7\n", [f"{NUMBERS}`%`: 5.5 %"]),
    # One cell that is no number, or that has another notation: the column stays as it is.
    (b'a,b\n1,"1,5"\n2,2.5\n', 'a,b\n1,"1,5"\n2,2.5\n', []),
    (b'a,b\n1,"1,5"\n2,007\n', 'a,b\n1,"1,5"\n2,007\n', []),
    (b"id,x\n007,1\n2e4,2\n12345678901234567890,3\n1.0,4\n", "id,x\n007,1\n2e4,2\n12345678901234567890,3\n1.0,4\n", []),
    (b"a,b,,\n1,x,,\n2,,,\n,,,\n", "a,b\n1,x\n2,\n", ["2 empty columns and 1 empty row at the end left out"]),
    (b"a,b\n1,x\n,\n2,y\n", "a,b\n1,x\n,\n2,y\n", []),
    (b"a,b\n1,x\n   \n\n2,y\n  \n", "a,b\n1,x\n2,y\n", []),
    (b"a\nx\n\n  \ny\n", "a\nx\ny\n", []),
    (b"", "the file is empty", []),
    (b"\n\n", "the table has no header", []),
    (b"a,b,a\n1,2,3\n", "columns 1 and 3 are both called `a`", []),
    (b"a,b\n1,2\n\n1,2,3\n1,2\n", "the row at line 4 has 3 cells, but the header has 2", []),
    (b"a,b\r\n1,2\r\n1\r\n1,2\r\n", "the row at line 3 has 1 cell, but the header has 2", []),
    (b'a,b\n1,"2\n3,4\n', "the row at line 2 has a quote that is never closed", []),
    (b"a,b\n1,2\n3,\x004\n", "a NUL character stands in the row at line 3", []),
    (
        "a,b\n1,ü\n2,ñ\n".encode() + b"3,\xfc\n",
        "the text is UTF-8, but has other bytes, the first of them near line 4",
        [],
    ),
    (b"PAR1\0...", "its content is not what its name says: it is a Parquet file", []),
    (b"BZh91AY&SY\xff", "it is no table that can be read, but a bzip2 file", []),
    (b"<!DOCTYPE html>", "it is no table that can be read, but a web page", []),
]


@pytest.mark.parametrize(("data", "made", "notes"), TEXTS)
def test_dialects_become_plain_csv(data: bytes, made: str, notes: list[str], tmp_path: Path) -> None:
    assert read(tmp_path, "t.csv", data) == (made, notes)


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ('{"a": 1, "b": "x"}\n{"b": "y", "a": null}\n', "a,b\n1,x\n,y\n"),
        ('[{"a": 1, "b": "x"},\n {"b": "y"}]', "a,b\n1,x\n,y\n"),
        ('{"a": 12345678901234567890, "t": true, "s": "NA"}', "a,t,s\n12345678901234567890,True,NA\n"),
        ('{"a": 1}\n{"b": 2}\n{"c": 3, "a": 4}\n', "a,b,c\n1,,\n,2,\n4,,3\n"),
        ('{"a": NaN}\n{"a": -Infinity}\n{"a": 2}\n', "a\nNaN\n-Infinity\n2\n"),
        ('{"a": "1\\u202f234,5"}\n{"a": "2"}\n', "a\n1234.5\n2\n"),
        ('{"a": 1}\n{"a": }\n', "line 2 is no row: Expecting value: line 1 column 7 (char 6)"),
        ("[1, 2]", "object 1 is no row"),
    ],
)
def test_json_objects_become_rows(text: str, made: str, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(text)
    assert outcome(lambda: formats.read(path).frame.write_csv()) == made


TYPES = """int8,uint64,gaps,float,whole,whole_gaps,single,bool,text,day,time,zone,length,decimal
1,0,1,0.1,1.0,1,0.1,True,NA,2024-01-31,2024-01-31 13:45:00,2024-01-31 13:45:00+01:00,93784,1.50
-2,18446744073709551615,,0.00001,2.0,,,False,"",,2024-02-29 00:00:00,2024-06-29 00:00:00+01:00,-1,
"""


@pytest.mark.parametrize(
    ("file", "refusal"),
    [
        ("merged.xlsx", "the cells A2:A3 of the sheet `Sheet` are merged"),
        ("title.xlsx", "a column of the sheet has cells, but no name: the first row with content has `Sales of 2024`"),
        ("formula.xlsx", "the formula of the cell B2 has no value"),
        ("empty.xlsx", "the sheet `Sheet` is empty"),
        ("nested.parquet", "the column `list` holds lists"),
        ("arrow-0.17.feather", "the file was written by Arrow 0.17, whose compression is not read"),
    ],
)
def test_files_that_are_no_tables_are_refused(file: str, refusal: str) -> None:
    with pytest.raises(Refused) as refused:
        formats.read(corpus.FILES / file)
    assert str(refused.value) == refusal


def test_typed_files_become_text() -> None:
    table = formats.read(corpus.FILES / "types.parquet").frame
    assert table.select(TYPES.split("\n")[0].split(",")).head(2).write_csv() == TYPES
    assert formats.read(corpus.FILES / "spark.parquet").frame.to_series()[0] == "9999-12-31 03:00:00"
    for file in ("texts.parquet", "texts.xlsx"):
        assert formats.read(corpus.FILES / file).frame.write_csv() == (
            "id,part,miles,share,code\n1,0.25,12345,1234,1.234\n2,1.5,999,n/a,5\n"
        )
    sheet = formats.read(corpus.FILES / "types.xlsx", "index").frame
    assert sheet.write_csv() == '"",int8,text\n0,1,NA\n1,-2,\n2,3,"x, ""y""\nz"\n'


def book(path: Path, table: list[list[Any]], hidden: tuple[int, ...] = ()) -> None:
    made = openpyxl.Workbook()
    for row in table:
        made.active.append(row)
    for row in hidden:
        made.active.row_dimensions[row].hidden = True
    made.save(path)


def test_cells_of_workbooks_keep_their_digits(tmp_path: Path) -> None:
    book(tmp_path / "t.xlsx", [["a", "b"], [0.1234567890123456, "n/a"], [1e-12, 0.1234567890123456], ["007", 2]], (3,))
    table = formats.read(tmp_path / "t.xlsx")
    assert [float(cell) for cell in table.frame["a"][:2]] == [0.1234567890123456, 1e-12]
    assert table.frame["a"][2] == "007"
    assert table.frame["b"].to_list() == ["n/a", "0.1234567890123456", "2"]
    assert table.notes == ["the sheet `Sheet` has hidden rows, which are read like the others: 1"]


def test_ids_that_a_workbook_shows_with_zeros_are_told_apart(tmp_path: Path) -> None:
    book(tmp_path / "train.xlsx", [["code", "y"], [221, 1], [222, 2]])
    book(tmp_path / "test.xlsx", [["code"], [901], [902]])
    (tmp_path / "sample_submission.csv").write_text("code,y\n0000901,0\n0000902,0\n")
    unknown = intake.take_in(str(tmp_path))["id_unknown"]
    assert unknown["message"] == "`code` of sample_submission.csv has 0000901 where test.xlsx has 901"
    assert "text" in unknown["hint"]


def test_large_files_are_plain_by_their_parts(tmp_path: Path) -> None:
    text = "a,b,c\n" + "".join(f"{row},{row % 97}.5,text\n" for row in range(150_000))
    middle = text.index("\n", len(text) * 17 // 32) + 1
    check = {
        text: True,
        text[:middle] + "1,2.5,ü\n" + text[middle:]: True,
        text + ",,\n": False,
        text + "1,2\n": False,
        text.replace(",", ";"): False,
        text.replace(".5,text", ',"1,5"'): False,
    }
    for content, expected in check.items():
        (tmp_path / "t.csv").write_text(content)
        assert (formats.plain_names(tmp_path / "t.csv") is not None) == expected
    (tmp_path / "t.csv").write_bytes((text[:middle] + "1,2.5,ü\n" + text[middle:]).encode("latin-1"))
    assert formats.plain_names(tmp_path / "t.csv") is None
    assert formats.read(tmp_path / "t.csv").notes == ["the text is Windows-1252 (Latin-1)"]


@pytest.mark.parametrize(
    ("name", "role"),
    [
        *(("sample_entry", "sample"), ("exampleSolution", "sample"), ("submission_format", "sample")),
        *(("train_labels", "train"), ("labels", "train"), ("my-training", "train"), ("en_test_2", "test")),
        *(("test_labels", None), ("prices", None), ("latest", None), ("sample_submission_null", "sample")),
    ],
)
def test_roles_are_in_names(name: str, role: str | None) -> None:
    found = files.likely(name)
    assert (found and found[0]) == role


LAYOUT = {"columns": ["id", "a", "b"], "header": ["id", "y"], "id": "id"}


@pytest.mark.parametrize(
    ("given", "names", "commas", "expected"),
    [
        ("b,x,a,id\n2,9,1,k\n", "own", [], "id,a,b\nk,1,2\n"),
        ("b,a\n2,1\n4,\n", "own", [], "id,a,b\n0,1,2\n1,,4\n"),
        ("id,a,b\nk,1,2\nk,3,4\n", "numbers", [], "id,a,b\n0,1,2\n1,3,4\n"),
        ("id;a;b\nk;1,5;2\nl;2,5;x\n", "own", [], "id,a,b\nk,1.5,2\nl,2.5,x\n"),
        ("id,a,b\n", "own", [], "id,a,b\n"),
        ("B, A ,ID\n2,1,k\n", "own", [], "id,a,b\nk,1,2\n"),
        ('id,a,b\nk,"1,234",2\n', "own", ["A"], "id,a,b\nk,1.234,2\n"),
        ("id\ta\tb\nk\t1,234\t2\n", "own", ["a"], "id,a,b\nk,1.234,2\n"),
        ("id;a;b\nk;1.234;2\n", "own", ["a"], "id,a,b\nk,1234,2\n"),
        ("id;a;b\nk;1.234;2\n", "own", [], "id,a,b\nk,1.234,2\n"),
        ("id\ta\tb\nk\t1,234\t2\n", "own", [], "`a` of new.csv can be read in two ways: 1,234 is 1.234 or 1234"),
        ("id\ta\tb\tc\nk\t1\t2\t1,234\n", "own", [], "id,a,b\nk,1,2\n"),
        ("id,a\nk,1\n", "own", [], 'new.csv has no column "b"'),
    ],
)
def test_rows_to_predict_are_read_like_the_training_table(
    given: str, names: str, commas: list[str], expected: str, tmp_path: Path
) -> None:
    (tmp_path / "new.csv").write_text(given)
    reading = {"sheet": None, "commas": commas, "points": []}
    into = tmp_path / "into.csv"
    answer = outcome(lambda: intake.read_rows(str(tmp_path / "new.csv"), reading, LAYOUT, names, str(into)))
    assert expected == (answer if isinstance(answer, str) else into.read_text())
    assert isinstance(answer, str) or answer["names"] == [row[0] for row in rows(expected)[1:]]


def test_targets_are_left_out_and_links_are_kept(tmp_path: Path) -> None:
    data, into = tmp_path / "data", tmp_path / "into"
    (data / "images").mkdir(parents=True)
    (data / "runs/r").mkdir(parents=True)
    into.mkdir()
    for name, text in {
        "train.csv": "id,x,y\n1,2,3\n",
        "test.csv": "id,x,y\n4,5,6\n",
        "images/1.png": "",
        "runs/r/journal.lock": "",
        "runs/notes.txt": "",
    }.items():
        (data / name).write_text(text)
    answer = intake.take_in(str(data), into=str(into), leave_out=["y"])
    assert answer["told"] == ["test.csv has the target `y`: the column is left out, and no script sees its values"]
    assert (into / "test.csv").read_text() == "id,x\n4,5\n"
    assert sorted(path.name for path in into.rglob("*") if path.is_symlink()) == ["images", "notes.txt", "train.csv"]
    assert (data / "test.csv").read_text() == "id,x,y\n4,5,6\n"


def test_a_plain_table_alone_is_linked(tmp_path: Path) -> None:
    table, into = tmp_path / "train.csv", tmp_path / "into"
    table.write_text("id,x,y\n1,2,3\n")
    assert not intake.take_in(str(table), into=str(into))["is_plain"]
    assert (into / "train.csv").resolve() == table.resolve()


def test_quotes_within_cells_are_letters(tmp_path: Path) -> None:
    text = "a;b\n" + "".join(f"{row};word {row}\n" for row in range(300_000)).replace("word 150000", '5" pipe')
    (tmp_path / "t.csv").write_text(text)
    table = formats.read(tmp_path / "t.csv").frame
    assert (table.height, table["b"][150_000], table["b"][299_999]) == (300_000, '5" pipe', "word 299999")


def test_archives_hold_one_table(tmp_path: Path) -> None:
    def packed(**members: str) -> bytes:
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as archive:
            for name, text in members.items():
                archive.writestr(name.replace("_", "."), text)
        return out.getvalue()

    assert read(tmp_path, "t.zip", packed(a_csv="x\n1\n", readme_txt="x", about_json="{}"))[0] == "x\n1\n"
    assert read(tmp_path, "t.zip", packed(a_md="x", b_png="x"))[0] == "the archive holds no table"
    assert "2 tables, `a.csv` and `b.csv`" in read(tmp_path, "t.zip", packed(a_csv="x\n", b_csv="x\n"))[0]
    assert read(tmp_path, "t.csv.gz", gzip.compress(b"a;b\n1;2\n"))[0] == "a,b\n1,2\n"
    assert read(tmp_path, "t.csv.gz", gzip.compress(b""))[0] == "the file is empty"


def test_damaged_files_end_in_a_table_or_one_sentence(tmp_path: Path) -> None:
    known = [(path.name, path.read_bytes()) for path in corpus.FILES.iterdir() if path.name.startswith(("t", "n", "s"))]
    for case in ("plain-semicolons", "plain-bars", "plain-jsonl", "plain-packed", "plain-utf-16"):
        known += [(file.name, corpus.content(file)) for file in CASES[case].files.values() if file.name[:3] == "tra"]
    chance = random.Random(7)
    for at in range(100):
        name, content = known[at % len(known)]
        damaged = bytearray(content)
        for _ in range(chance.choice([0, 1, 2, 20])):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        path = tmp_path / f"{at}-{name}"
        path.write_bytes(damaged[: chance.choice([len(damaged), chance.randrange(1, len(damaged))])])
        found = outcome(lambda path=path: intake.take_in(str(path)))
        assert not isinstance(found, str) or found.startswith(f"{path.name}: ")
