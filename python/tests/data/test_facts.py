"""What is known of a folder of plain tables: kinds, missing words, dates, groups, roles, and what is asked."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import corpus
import numpy as np
import polars as pl
import pytest
from mle_star_data import dates, facts, frames, naming, roles
from mle_star_data.tables import Refused

Tables = Mapping[str, str]


def folder(path: Path, tables: Tables) -> Path:
    for name, text in tables.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text)
    return path


def lines(header: str, row: str, count: int) -> str:
    """A table of rows in which `{n}`, `{n%3}` and the like are computed."""
    return corpus.table(f"{header}\n{row}\n", f"0..{count}")


def column(path: Path, cells: Sequence[str], words: Sequence[str] = ()) -> frames.Column:
    quoted = "".join('"' + cell.replace('"', '""') + f'",{row}\n' for row, cell in enumerate(cells))
    table = frames.read(folder(path, {"train.csv": f"x,i\n{quoted}"}) / "train.csv")
    return table.with_words({"x": words}).column("x")


HALVES = [f"{row}.5" for row in range(38)]
KINDS: list[tuple[Sequence[str], dict[str, Any]]] = [
    (["7", "-3", "+4"], {"kind": "integer", "range": [-3.0, 7.0], "respelled": True}),
    (["1", "2.5"], {"kind": "number", "mean": 1.75}),
    (["1.5e308", "1.5e308"], {"kind": "number", "mean": 1.5e308}),
    (["1.0", "2.5", ""], {"kind": "number", "missing": 1, "respelled": False, "distinct": 2}),
    (["1e308", "1.5e308"], {"kind": "number", "mean": 1.25e308, "huge": 2}),
    (["007", "8"], {"kind": "integer", "respelled": True}),
    # Two spellings of one number are no codes.
    (["07", "7"], {"kind": "integer", "respelled": False}),
    ([*HALVES, "n.d.", "?"], {"kind": "category", "nearly_numbers": True}),
    ([*HALVES, "n.d.", "?", "x"], {"kind": "category", "nearly_numbers": False}),
    ([*HALVES, " "], {"kind": "number", "nearly_numbers": True, "missing": 1}),
    ([*HALVES, "", "NA"], {"kind": "number", "nearly_numbers": False, "missing": 2}),
    ([*HALVES, "inf", "?"], {"huge": 1}),
    (["yes", "no", "No"], {"kind": "category"}),
    (["Yes", "No"], {"kind": "boolean"}),
    (["yes"], {"kind": "boolean"}),
    (["f"], {"kind": "category"}),
    (["true", "false"], {"kind": "boolean", "respelled": True}),
    (["", "NaN", "null"], {"kind": "empty", "missing": 3, "distinct": 0}),
    ([" a ", "a"], {"kind": "category", "padded": 1, "distinct": 1}),
    (["05/02/2024", "31/01/2024"], {"kind": "date", "day_first": True}),
    (["5.2.2024", "6.2.2024"], {"kind": "date", "day_first": True}),
    (["05/02/2024", "01/31/2024"], {"kind": "date", "day_first": False}),
    (["2024-01-31", "2024-01-13 10:00"], {"kind": "date", "day_first": False}),
    (["2024-01-31", "soon"], {"kind": "category"}),
    ([f"{row} words in a sentence" for row in range(9)], {"kind": "text"}),
    (["a few words here"] * 9, {"kind": "category"}),
    (["x" * 70], {"kind": "text"}),
    # Greater whole numbers than 2^53 are text; two of them would become others.
    (["9007199254740993", "9007199254740995", ""], {"kind": "category", "long": True}),
    (["9007199254740992", "9007199254740994"], {"kind": "integer", "long": False}),
    ([str(row * 7919 % 99_991) for row in range(300)], {"scattered": True}),
    ([str(row * 1_000) for row in range(300)], {"scattered": False}),
    (["a", "b", "b"], {"top_values": [["b", 2], ["a", 1]], "rarest": 1 / 3}),
    (["日本", "é"], {"mean_length": 1.5}),
]


@pytest.mark.parametrize(("cells", "expected"), KINDS, ids=lambda one: str(one)[:40])
def test_a_column_is_described(cells: Sequence[str], expected: dict[str, Any], tmp_path: Path) -> None:
    found = column(tmp_path, cells).facts
    assert {key: found[key] for key in expected} == expected


@pytest.mark.parametrize(
    ("name", "kind", "ordered", "counts_groups", "is_name"),
    [
        ("patient", "integer", True, True, True),
        ("code", "category", False, True, True),
        ("height", "integer", False, True, False),
        # Later numbers are later times, unless the name says otherwise.
        ("height", "integer", True, False, False),
        ("week", "integer", True, False, False),
        ("time_id", "integer", True, False, True),
        ("time_id", "integer", False, True, True),
    ],
)
def test_a_column_counts_groups_or_times(
    name: str, kind: str, ordered: bool, counts_groups: bool, is_name: bool
) -> None:
    assert facts.group_by_name(name, kind, ordered) == {"counts_groups": counts_groups, "is_name": is_name}


PARTS: list[tuple[Sequence[str], str | None, list[str]]] = [
    ([f"{n:02}:{n * 7 % 60:02}" for n in range(40)], "fields", ["1", "2"]),
    ([f"{'ABC'[n % 3]}{n}" for n in range(40)], "fields", ["1", "2"]),
    ([f"{'ABC'[n % 3]}{'ABC'[n // 3 % 3]}{'ABC'[n // 9 % 3]}QX{n:02}" for n in range(40)], "letters", list("1234567")),
    ([f"{n} months" for n in range(40)], "measured", ["number", "unit"]),
    ([f"${n},{n * 7:03}.25" for n in range(1, 40)], "measured", ["number", "unit"]),
    ([f"{n}+ years" if n != 3 else "unknown" for n in range(40)], "measured", ["number", "unit"]),
    ([["red", "green", "blue"][n % 3] * (n + 1) for n in range(40)], None, []),
    ([f"{'ABC'[n % 3]}{n}" if n % 13 != 5 else "C23 C25" for n in range(40)], "fields", ["1", "2"]),
    ([f"{['Ford', 'Opel'][n % 2]} model{' x' * (n % 2)}{n}" for n in range(40)], "fields", ["1", "2"]),
]


@pytest.mark.parametrize(("cells", "kind", "parts"), PARTS, ids=lambda one: str(one)[:20])
def test_codes_have_parts(cells: Sequence[str], kind: str | None, parts: list[str], tmp_path: Path) -> None:
    found = column(tmp_path, cells).facts["parts"]
    assert (found and found["kind"], [one["name"] for one in (found or {"columns": []})["columns"]]) == (kind, parts)
    if kind == "measured":
        assert found["columns"][0]["kind"] in ("integer", "number")


JANUARY_31 = 19_753.0
DATES: list[tuple[str, bool, float | None]] = [
    ("1970-01-01", False, 0.0),
    ("2000-03-01", True, 11_017.0),
    *((text, False, JANUARY_31) for text in ("2024/1/31", "31.01.2024", "Jan 31, 2024", "31-Jan-2024", "1/31/24")),
    ("Wednesday, 31 January 2024", False, JANUARY_31),
    ("2/1/2024", False, JANUARY_31 + 1),
    ("2/1/2024", True, JANUARY_31 - 29),
    ("Feb-24", False, JANUARY_31 + 1),
    ("2024-02", False, JANUARY_31 + 1),
    ("2024-01-31 12:00:00", False, JANUARY_31 + 0.5),
    ("2024-01-31T12:00:00.000Z", False, JANUARY_31 + 0.5),
    ("2024-01-31T03:00:00+03:00", False, JANUARY_31),
    ("1/31/2024 12:00 AM", False, JANUARY_31),
    ("1/31/2024 6:00 pm", False, JANUARY_31 + 0.75),
    ("Wed Jan 31 03:00:00 +0300 2024", True, JANUARY_31),
    ("Tue Jan 30 12:00:00 UTC 2024", True, JANUARY_31 - 0.5),
    ("12/31/99", False, 10_956.0),
    ("1/31/2024", True, None),
    ("31/1/2024", False, None),
    ("2024-13-13", False, None),
    ("12:30", False, None),
    ("soon", False, None),
]


def test_dates_have_an_order() -> None:
    for day_first in (False, True):
        rows = [(text, days) for text, first, days in DATES if first is day_first]
        found = dates.seconds(pl.Series([text for text, _ in rows]), day_first)
        expected = [np.nan if days is None else days * dates.DAY for _, days in rows]
        np.testing.assert_array_equal(found, expected, str(rows))


UNITS = [
    ("2021-W44", "week", 18_932),
    ("2021-W44-2", "week", 18_933),
    ("44/2021", "week", 18_932),
    ("Q1 2019", "quarter", 17_897),
    ("FY2019-Q1", "quarter", 17_897),
    ("2019H2", "half", 18_078),
    ("2015M03", "month", 16_495),
    ("03/2015", "month", 16_495),
    ("FY1950", "year", -7_305),
    ("1950/51", "year", -7_305),
    ("2021-305", "day", 18_932),
]


@pytest.mark.parametrize(("text", "unit", "days"), UNITS)
def test_a_part_of_a_year_has_a_first_day(text: str, unit: str, days: int, tmp_path: Path) -> None:
    assert dates.part_of_year(text, unit) == days * dates.DAY
    found = column(tmp_path, [text, ""])
    unit_found = found.facts["unit"]
    assert unit_found == next(one for one in dates.ALL_UNITS if dates.part_of_year(text, one) is not None)
    assert np.isnan(found.times[1])
    assert unit_found != unit or found.times[0] == days * dates.DAY


@pytest.mark.parametrize("text", ["X2021", "2021-W54", "2021Q5", "a much longer text than a time", "12-34", "2021-367"])
def test_other_texts_are_no_parts_of_years(text: str) -> None:
    assert not any(dates.part_of_year(text, unit) for unit in dates.ALL_UNITS)


def test_a_column_has_texts_numbers_and_times(tmp_path: Path) -> None:
    found = column(tmp_path, [" 1", "NA", "x", ""], words=["NA"])
    assert found.text.to_list() == [" 1", "NA", "x", ""]
    assert found.values.to_list() == ["1", "NA", "x", None]
    np.testing.assert_array_equal(found.numbers, [1, np.nan, np.nan, np.nan])
    assert (found.missing, found.distinct, found.kind) == (1, 3, "category")
    assert np.isnan(found.times).all()


def test_a_table_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    for text, message in {
        "": "t.csv is empty",
        "a,b\n": "t.csv has no rows below its header",
        "a,a\n1,2\n": 't.csv has two columns named "a"',
        "a,b\n1,2,3\n": "row 1 of t.csv has 3 cells, the header has 2",
    }.items():
        with pytest.raises(Refused) as refused:
            frames.read(folder(tmp_path, {"t.csv": text}) / "t.csv")
        assert str(refused.value) == message


def test_quotes_and_lines_in_cells_are_read(tmp_path: Path) -> None:
    for text, expected in {
        'a,\n1,5" pipe\n2,"x, ""y""\nz"\n': [["1", '5" pipe'], ["2", 'x, "y"\nz']],
        "\ufeffa,b\r\n1,2\r\n\r\n,\r\n": [["1", "2"], ["", ""]],
        "a,b\n1,2\n,\n": [["1", "2"], ["", ""]],
    }.items():
        table = frames.read(folder(tmp_path, {"t.csv": text}) / "t.csv")
        assert [list(row) for row in table.frame.iter_rows()] == expected
        assert table.names == ["a", "Unnamed: 1" if text.startswith("a,\n") else "b"]


def test_rows_of_large_tables_are_spread(tmp_path: Path) -> None:
    text = "y,late\n" + "".join(f"{row // 100_000},{row // 290_000}\n" for row in range(300_000))
    table = frames.read(folder(tmp_path, {"train.csv": text}) / "train.csv")
    assert (table.rows, table.column("y").distinct, table.column("late").distinct) == (300_000, 3, 2)


def test_values_of_one_column_are_looked_up_in_another(tmp_path: Path) -> None:
    table = frames.read(folder(tmp_path, {"t.csv": "a,b,c\n1,2,\n2,2,\n3,9,\n"}) / "t.csv")
    a, b, c = map(table.column, table.names)
    assert (a.share_in(b), b.share_in(a), c.share_in(a)) == (1 / 3, 1 / 2, None)


NAMES = {
    "patient_id": (True, False),
    "PatientID": (True, False),
    "patients": (True, False),
    "days_since_visit": (False, True),
    "Date": (False, True),
    "yearweek": (False, True),
    "width": (False, False),
}


@pytest.mark.parametrize("name", NAMES)
def test_names_say_something(name: str) -> None:
    assert (naming.says(name, naming.KEY), naming.says_time(name)) == NAMES[name]


SAID = [
    ("Office is EU, NA or AP.", "NA", ["EU", "AP"], True),
    ("Missing values are written NA, like EU.", "NA", ["EU"], False),
    ("None of it. EU is another.", "None", ["EU"], False),
    ("NATO or EU", "NA", ["EU"], False),
]


@pytest.mark.parametrize(("text", "word", "others", "expected"), SAID)
def test_a_description_has_a_word_among_values(text: str, word: str, others: list[str], expected: bool) -> None:
    assert facts.is_mentioned(text, word, others) is expected


TEST = lines("id,a", "{n+90},{n%7}", 30)
GROUPS: list[tuple[str, str, list[dict[str, Any]]]] = [
    ("{n},{n/6}", "{n+600},{n/6+100}", [{"column": "g", "groups": 100, "ordered": True}]),
    ("{n},{n*7%97}", "{n+600},{n*7%90+200}", [{"column": "g", "groups": 97, "ordered": True}]),
    ("{n},p{n/6*2}", "{n+600},p{n/6*2+1}", [{"column": "g", "groups": 100, "ordered": False}]),
    ("{n},{n/6}", "{n+600},{n/6+50}", []),
    ("{n},{n}", "{n+600},{n+600}", []),
    ("{n},{n/400}", "{n+600},{n/6+100}", []),
    ("{n},{n/6}.5", "{n+600},{n/6+100}.5", []),
]


@pytest.mark.parametrize(("train", "test", "expected"), GROUPS)
def test_groups_are_those_of_other_rows(train: str, test: str, expected: list[dict[str, Any]], tmp_path: Path) -> None:
    tables = {"train.csv": lines("id,g,y", f"{train},{{n%9}}", 600), "test.csv": lines("id,g", test, 300)}
    found = facts.open_folder(folder(tmp_path, tables)).groups
    assert [{name: one[name] for name in ("column", "groups", "ordered")} for one in found] == expected


def test_further_files_are_told_apart(tmp_path: Path) -> None:
    train = lines("id,store,home_team,y", "{n},{n%7},T{n%9},{n%5}", 90)
    tables = {
        "train.csv": train,
        "test.csv": lines("id,store,home_team", "{n+90},{n%7},T{n%9}", 30),
        "stores.csv": lines("store,size", "{n},{n*3}.5", 7),
        "twice.csv": "store,size\n1,2\n1,3\n",
        "teams.csv": lines("store,team,elo", "{n%7},T{n/7},{n}.5", 63),
        "broken.csv": "a,a\n1,2\n",
        "description.md": "About.",
        ".hidden/x.png": "",
        **{f"images/{n}.jpg": "" for n in range(3)},
        **{f"sounds/{n}.wav": "" for n in range(2)},
    }
    found = roles.inspect(str(folder(tmp_path, tables)), {"metric": "RMSE"})
    opened = facts.open_folder(tmp_path)
    assert [one["file"] for one in found["auxiliary"]] == [one.file for one in opened.auxiliary]
    assert {one.file: facts.row_key(one, opened.train) for one in opened.auxiliary} == {
        "stores.csv": ["store"],
        "teams.csv": ["store", "team"],
        "twice.csv": [],
    }
    assert found["media"] == {"images": 3, "sounds": 2, "pictured": 2}
    assert found["other_files"] == [
        "broken.csv",
        *(f"images/{n}.jpg" for n in range(3)),
        "sounds/0.wav",
        "sounds/1.wav",
    ]


ROLES = "id,a,Site,s,S,w,c,y\n1,1,x,2024-01-01,1,0.5,c,0\n2,2,z,soon,2,-1,c,1\n3,3,z,,1,,c,\n"
REFUSED: list[tuple[dict[str, Any], str, str]] = [
    ({"group": "sit"}, 'the group column "sit" is not in train.csv', "did you mean `Site`?"),
    ({"group": "S "}, 'the group column "S " is not in train.csv', "--group-column"),
    ({"group": "c"}, "the group column `c` has fewer than two values in train.csv", "leave it out"),
    ({"time": "only"}, 'the time column "only" is not in train.csv', "--time-column"),
    ({"weight": "y"}, "`y` cannot be the weight column and the target column", "--target"),
    ({"weight": "a", "group": "a"}, "`a` cannot be the weight column and the group column", "--group-column"),
    ({"weight": "id"}, "`id` cannot be the weight column and the id column", "--id-column"),
    (
        {"time": "s"},
        'the time column `s` has "soon" in row 2 of train.csv, which is no number and no date',
        "--time-column",
    ),
    (
        {"weight": "w"},
        "row 2 of train.csv has the weight `-1` in column `w`, which is no finite number of at least 0",
        "numbers from 0 on",
    ),
    ({"target": "z"}, 'the target column "z" is not in train.csv', "--target: id, a, Site"),
    ({"target": "a,a"}, "the given targets are a, a, and those of the sample a", "once"),
    ({"id": "c"}, 'the id column "c" is not in test.csv', "--id-column: id, a, Site, only"),
]


@pytest.mark.parametrize(("told", "message", "hint"), REFUSED)
def test_columns_that_cannot_have_their_role_are_refused(
    told: dict[str, Any], message: str, hint: str, tmp_path: Path
) -> None:
    path = folder(tmp_path, {"train.csv": ROLES, "test.csv": "id,a,Site,only\n9,1,x,2\n"})
    with pytest.raises(Refused) as refused:
        roles.inspect(str(path), {"target": "y", "id": "id"} | told)
    assert str(refused.value) == message
    assert hint in (refused.value.hint or "")


def test_open_questions_are_asked_at_once(tmp_path: Path) -> None:
    tables = {"train.csv": lines("id,a,b", "{n},{n%7}.5,{n%9}.5", 90)}
    found = roles.inspect(str(folder(tmp_path, tables)), {"description": "Scored by the energy score."})
    assert [(one["field"], one["option"]) for one in found["questions"]] == [
        ("target_column", "--target"),
        ("evaluation_metric", "--metric"),
    ]
    assert [one["value"] for one in found["questions"][0]["readings"]] == ["a", "b"]
    assert (found["targets"], found["metric"], found["id"]) == ([], None, "id")


def test_a_folder_without_tables_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="is empty"):
        roles.inspect(str(tmp_path), {})


def test_a_folder_without_a_training_table_may_be_a_task(tmp_path: Path) -> None:
    tables = {"sampleSubmission.csv": lines("clip,probability", "{n}.wav,0", 12)}
    tables |= {f"clips/{n}.wav": "" for n in range(20)}
    told = {"without_tables": True, "description": "Submissions are scored by the area under the ROC curve."}
    found = roles.inspect(str(folder(tmp_path, tables)), told)
    assert (found["train"], found["id"], found["targets"]) == (None, "clip", ["probability"])
    assert (found["task_type"], found["metric"]) == ("audio_classification", "ROC-AUC")
    with pytest.raises(Refused, match='the group column "a" is not in'):
        roles.inspect(str(tmp_path), told | {"group": "a"})


def test_many_columns_take_as_long_as_many_rows(tmp_path: Path) -> None:
    wide = lines(
        ",".join(f"c{at}" for at in range(3_000)), ",".join(f"{{n*{at % 90 + 1}%97}}.5" for at in range(3_000)), 30
    )
    table = frames.read(folder(tmp_path, {"train.csv": wide}) / "train.csv")
    assert {one["kind"] for one in table.facts.values()} == {"number"}
    assert table.column("c7").distinct == 30


KINDS_OF_TASK: list[tuple[str, dict[str, Any]]] = [
    ("{n},{n%41},{n%7}.5", {"task_type": "regression", "data_modality": "tabular", "metric": "RMSE"}),
    ("{n},{n%41},{n%2}", {"task_type": "classification", "metric": "ROC-AUC"}),
    ("{n},{n%41},c{n%3}", {"task_type": "classification", "metric": "log loss"}),
    ("{n},{n} words of a text,c{n%3}", {"task_type": "text_classification", "data_modality": "text"}),
]


@pytest.mark.parametrize(("row", "expected"), KINDS_OF_TASK)
def test_the_kind_of_task_follows(row: str, expected: dict[str, Any], tmp_path: Path) -> None:
    found = roles.inspect(str(folder(tmp_path, {"train.csv": lines("id,x,y", row, 90)})), {"target": "y"})
    assert {key: found[key] for key in expected} == expected
    assert found["questions"] == []


def test_texts_that_are_rewritten_are_sequences(tmp_path: Path) -> None:
    rows = "".join(f"{n},word {n} of many,word {n} of many{'!' if n % 9 == 0 else ''}\n" for n in range(90))
    path = folder(tmp_path, {"train.csv": f"id,before,after\n{rows}"})
    found = roles.inspect(str(path), {"target": "after", "metric": "accuracy"})
    assert (found["task_type"], found["data_modality"]) == ("sequence_to_sequence", "text")


OPTIONS = {
    "--target": "target",
    "--metric": "metric",
    "--direction": "direction",
    "--positive-class": "positive_class",
    "--id-column": "id",
    "--group-column": "group",
    "--time-column": "time",
    "--weight-column": "weight",
}
MADE_PLAIN = {
    *("counting-column", "counting-sample", "id-of-two-columns", "id-with-colon", "no-sample", "no-sample-and-no-id"),
    *("other-capitals", "other-names-described", "row-names", "test-has-empty-target", "test-has-target", "thousands"),
    *("thousands-of-apostrophes", "thousands-of-blanks", "thousands-of-points", "three-digits-behind-a-comma"),
    *("train-alone", "from-a-spreadsheet"),
}
"""Cases whose tables are made plain first."""


def plain_cases() -> list[corpus.Case]:
    def is_plain(case: corpus.Case) -> bool:
        files = [
            (one.name == "description.md" or one.name.endswith(".csv")) and not one.words and "/" not in one.name
            for one in case.files.values()
        ]
        options = case.options.split()
        return all(files) and options[0] == "data" and set(options[1::2]) <= set(OPTIONS)

    return [case for case in corpus.cases().values() if is_plain(case) and case.name not in MADE_PLAIN]


@pytest.mark.parametrize("case", plain_cases(), ids=lambda case: case.name)
def test_the_corpus_is_read_right(case: corpus.Case, tmp_path: Path) -> None:
    path, options = case.write(tmp_path), case.options.split(maxsplit=2)
    told: dict[str, Any] = {OPTIONS[options[1]]: options[2].strip('"')} if len(options) == 3 else {}
    if (path / "description.md").exists():
        told["description"] = (path / "description.md").read_text()
    try:
        found = roles.inspect(str(path), told)
    except Refused:
        assert case.facts("refused") or case.facts("run refused")
        return
    # A metric that only stands in code is asked about.
    is_asked = case.facts("refused") or case.name == "metric-in-code"
    if is_asked or (case.facts("run refused") and found["questions"]):
        assert found["questions"]
        return
    assert found["questions"] == []
    columns = {one["name"]: one["kind"] for one in found["train"]["columns"]}
    has = {
        "target": ", ".join(found["targets"]),
        "id": found["id"],
        "metric": f"{found['metric']} {found['direction']}",
        "type": found["task_type"],
        "positive": found["roles"]["positive_class"],
        "weight": found["roles"].get("weight"),
    }
    for kind, text in case.right:
        if kind in has:
            assert has[kind] == text, kind
        if kind == "column":
            name, _, of = text.rsplit(" ", 2)
            assert columns[name] == of


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("at_once", [3, 1 << 24])
def test_a_large_table_is_read_and_copied_by_lines(tmp_path: Path, end: str, at_once: int, monkeypatch: Any) -> None:
    rows = ['1,"a\n""b"",c"', "2,", "3,x", ',"\n\n"', "5,é"]
    (tmp_path / "t.csv").write_text(end.join(["n,text", *rows]), newline="")
    monkeypatch.setattr(frames, "CHUNK_BYTES", at_once)
    whole = frames.read(tmp_path / "t.csv").frame
    lines = frames.Lines(tmp_path / "t.csv", whole.columns)
    assert len(lines) == len(rows)
    assert not lines.has_blank
    wanted = np.array([True, False, True, True, False])
    assert lines.frame(np.flatnonzero(wanted)).equals(whole.filter(pl.Series(wanted)))
    lines.copy(wanted, tmp_path / "copy.csv")
    assert frames.read(tmp_path / "copy.csv").frame.equals(whole.filter(pl.Series(wanted)))
    (tmp_path / "t.csv").write_text(end.join(["n,text", "1,a", "", "2,b"]), newline="")
    assert frames.Lines(tmp_path / "t.csv", whole.columns).has_blank


ODD = lines("x,y", "{n},{n}.5", 40)
ODD_TARGETS = [
    (ODD + "8,see note\n9,<1\n", 'row 41 of train.csv has "see note"', ", and 1 more such cells"),
    (ODD + "x,y\n" + ODD.split("\n", 1)[1], 'row 41 of train.csv has "y"', "which is no number"),
    ("x,y\n,kN\n" + ODD.split("\n", 1)[1], 'row 1 of train.csv has "kN"', "rows without a target are left out"),
]


@pytest.mark.parametrize(("train", "said", "more"), ODD_TARGETS)
def test_a_cell_that_is_no_number_is_named_where_numbers_are_predicted(
    tmp_path: Path, train: str, said: str, more: str
) -> None:
    with pytest.raises(Refused) as refused:
        roles.inspect(str(folder(tmp_path, {"train.csv": train})), {"target": ["y"], "metric": "MAE"})
    assert said in str(refused.value)
    assert more in f"{refused.value} {refused.value.hint}"


def test_rows_with_huge_targets_are_counted(tmp_path: Path) -> None:
    train = ODD + "8,inf\n9,1e25\n7,\n5,inf\n"
    found = roles.inspect(str(folder(tmp_path, {"train.csv": train})), {"target": ["y"], "metric": "MAE"})
    assert sorted(found["without_target"]) == [("", 1), ("1e25", 1), ("inf", 2)]
