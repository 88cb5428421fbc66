"""A table file as columns of text, whatever its format.

Cells are text. Those of delimited files stay as they are; those of typed files become what pandas writes: whole numbers
with all of their digits, `True` and `False`, `2024-01-31`, `2024-01-31 13:45:00`. Missing cells are null.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from . import packing, workbooks
from .packing import DAMAGED, Bytes, Content
from .tables import MAX_ROW, Refused, shown
from .text_table import BLANKS, HEADER, RARE, Notation, Table, check_names, times, without_empty_ends

HEAD, PART, PARTS = 1 << 20, 128 << 10, 16
"""The bytes of a file's beginning, and of further places, that say how it is written."""
ROWS = 200
"""The rows that say what separates cells."""
DELIMITERS = ",;\t|"
"""In the order in which they are preferred."""
ENCODINGS = {
    "utf-8-sig": "UTF-8 with a byte order mark",
    "utf-16": "UTF-16",
    "cp1252": "Windows-1252 (Latin-1)",
}
PANDAS_INDEX = "__index_level_"


class Dialect(NamedTuple):
    """How cells and rows of a text are found."""

    delimiter: str
    header: list[str]


def read(path: Path, sheet: str | None = None, like: Notation | None = None) -> Table:
    """The table in a file. `like` is the notation of a table with the same columns; it decides what this file leaves
    open."""
    content = packing.opened(path)
    try:
        if content.format == "text":
            table = _delimited(content, path)
        elif content.format == "excel":
            table = workbooks.read(content.data[:], sheet)
        elif content.format == "json":
            table = _objects(content)
        else:
            table = _typed(_columnar(content))
    except (Refused, MemoryError, KeyboardInterrupt):
        raise
    except RecursionError:
        raise Refused("the file cannot be read: it is nested too deeply", DAMAGED) from None
    except BaseException as error:
        # A library that panics raises what is no `Exception`.
        lines = str(error).splitlines() or [type(error).__name__]
        hint = f"{DAMAGED}, or save it in another format"
        raise Refused(f"the file cannot be read: {lines[0][:200]}", hint) from None
    if not table.frame.columns:
        raise Refused("the table has no columns", "give a table with a header and rows")
    table.format = content.format
    table.is_plain &= content.format == "text"
    return table.in_one_notation(like)


def plain_names(path: Path) -> list[str] | None:
    """The columns of a file that already is what scripts read, from all bytes for being UTF-8 and from a few parts for
    the rest: what only stands elsewhere is not seen. `None` means that `read` must be asked."""
    content = packing.opened(path)
    data, (is_utf8, has_nul) = content.data, survey(content.data)
    head, is_whole = data[:HEAD], len(data) <= HEAD
    is_text = content.format == "text" and not content.is_packed and _encoding(data) == "utf-8"
    if not is_text or not is_utf8 or has_nul or _ends_with_cr(head):
        return None
    dialect = _dialect(head, is_whole)
    if dialect.delimiter != ",":
        return None
    parts = [head if is_whole else head[: head.rfind(b"\n") + 1]]
    for at in range(1, 1 if is_whole else PARTS + 1):
        start = max(len(data) - PART, 0) if at == PARTS else (len(data) - HEAD) // PARTS * at + HEAD
        part = data[start : start + PART]
        part = part[part.find(b"\n") + 1 :]
        parts.append(part if at == PARTS else part[: part.rfind(b"\n") + 1])
    # Parts may begin within a quoted cell: then they look irregular, which costs a pass over the file, but is no error.
    try:
        table = _parsed(b"".join(parts), dialect)
    except (Refused, pl.exceptions.PolarsError):
        return None
    return table.names if table.in_one_notation().is_plain else None


def header(path: Path) -> list[str]:
    """The first row of a file that cannot be read otherwise; nothing if it is no text. No two columns have one name."""
    with open(path, "rb") as file:
        names = next(_rows(file.read(HEAD).decode("utf-8-sig", "replace"), ","), [])
    check_names(names)
    return names


def survey(data: Bytes) -> tuple[bool, bool]:
    """Whether a text is UTF-8, and whether it has NUL characters, by a pass over all bytes."""
    has_nul, decoder = False, codecs.getincrementaldecoder("utf-8")()
    try:
        for at in range(0, len(data), HEAD):
            part = data[at : at + HEAD]
            has_nul |= b"\0" in part
            if not part.isascii() or decoder.getstate()[0]:
                decoder.decode(part)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False, has_nul
    return True, has_nul


def _encoding(data: Bytes) -> str:
    """The encoding that the first bytes say; UTF-8 if they say none."""
    marks = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
    return next((name for mark, name in marks.items() if data[: len(mark)] == mark), "utf-8")


def _ends_with_cr(head: bytes) -> bool:
    return b"\r" in head and b"\n" not in head


def _dialect(head: bytes, is_whole: bool, preferred: str = "") -> Dialect:
    """The delimiter is the one with which most rows have as many cells as the header, if it is in the header at all;
    among equals the one with the most cells."""
    text, found = head.decode("utf-8", "replace"), []
    for delimiter in dict.fromkeys(preferred + DELIMITERS):
        rows = list(islice(_rows(text, delimiter), ROWS))
        if not is_whole and 1 < len(rows) < ROWS:
            # The last row may be cut off.
            rows.pop()
        header, counts = rows[0] if rows else [], [len(row) for row in rows[1:]]
        share = counts.count(len(header)) / len(counts) if counts else 1.0
        rank = (share, len(header)) if len(header) > 1 else (-1.0, 0)
        found.append((rank, Dialect(delimiter, header)))
    return max(found, key=lambda one: one[0])[1]


def _rows(text: str, delimiter: str) -> Iterator[list[str]]:
    try:
        yield from (row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row)
    except csv.Error:
        return


def _delimited(content: Content, path: Path) -> Table:
    data, encoding = content.data, _encoding(content.data)
    if encoding != "utf-8":
        data = _in_utf8(data, encoding)
    is_utf8, has_nul = survey(data)
    if not is_utf8:
        data, encoding = _other_bytes(data[:], encoding), "cp1252"
    if is_cr := _ends_with_cr(data[:HEAD]):
        data = data[:].replace(b"\r", b"\n")
    if has_nul:
        line = data[: data.find(b"\0")].count(b"\n") + 1
        raise Refused(f"a NUL character stands in the row at line {line}", DAMAGED)
    preferred = {"tsv": "\t", "tab": "\t", "psv": "|"}.get(packing.unpacked(path.name).lower().rpartition(".")[2], "")
    dialect = _dialect(data[:HEAD], len(data) <= HEAD, preferred)
    table = _parsed(data, dialect, None if data is not content.data or content.is_packed else path)
    separated = "tab-separated" if dialect.delimiter == "\t" else f"separated by `{dialect.delimiter}`"
    unusual = [separated] if dialect.delimiter != "," else []
    unusual += [ENCODINGS[encoding]] if encoding in ENCODINGS else []
    notes = [f"the text is {', '.join(unusual)}"] if unusual else []
    notes += ["lines end with CR"] if is_cr else []
    table.is_plain &= not notes and not content.is_packed
    table.notes = notes + table.notes
    return table


def _in_utf8(data: Bytes, encoding: str) -> bytes:
    """A text without its byte order mark in UTF-8. Damaged UTF-8 stays so."""
    if encoding == "utf-8-sig":
        return data[len(codecs.BOM_UTF8) :]
    try:
        return data[:].decode(encoding).encode()
    except UnicodeDecodeError:
        raise Refused(f"the text is {ENCODINGS[encoding]}, but a character is damaged or cut off", DAMAGED) from None


def _other_bytes(data: bytes, encoding: str) -> bytes:
    """A text that is not UTF-8 in UTF-8. A byte order mark, or more letters of UTF-8 than others, says that it should
    be."""
    text = data.decode("utf-8", "surrogateescape")
    invalid = re.findall("[\udc80-\udcff]", text)
    if encoding == "utf-8-sig" or len(re.findall("[^\0-\x7f\udc80-\udcff]", text)) > len(invalid):
        line = text.count("\n", 0, text.index(invalid[0])) + 1
        raise Refused(f"the text is UTF-8, but has other bytes, the first of them near line {line}", DAMAGED)
    return data.decode("cp1252", "replace").encode()


def _parsed(data: Bytes, dialect: Dialect, path: Path | None = None) -> Table:
    """The table in a text, without empty columns and rows at the end. `path` is the file that has just this text."""
    delimiter, header = dialect.delimiter, dialect.header
    if not any(name.strip(BLANKS) for name in header):
        raise Refused("the table has no header", HEADER)
    schema = {f"c{at}": pl.String for at in range(len(header))}
    read = partial(pl.read_csv, has_header=False, schema=schema, separator=delimiter)
    read = partial(read, extra_columns="raise", missing_columns="insert")
    try:
        frame = read(path or data[:])
    except pl.exceptions.PolarsError:
        if refused := _irregular(data, dialect):
            raise refused from None
        # A quote within a cell that has none around it (`5" pipe`) confuses the library in large files.
        data = _rewritten(data, delimiter)
        frame = read(data)
    filled = pl.any_horizontal(pl.all().str.strip_chars(BLANKS) != "")
    if len(header) == 1:
        # An empty cell is quoted; a line of blanks is no row.
        frame = frame.filter(filled | (pl.col("c0") == ""))
    else:
        between = sum(data[at : at + HEAD].count(delimiter.encode()) for at in range(0, len(data), HEAD))
        if data.find(b'"') >= 0:
            within = frame.select(pl.all().str.count_matches(delimiter, literal=True).sum())
            between -= sum(one or 0 for one in within.row(0)) if within.height else 0
        expected = frame.height * (len(header) - 1)
        if between != expected:
            # Lines without cells are no rows.
            frame = frame.filter(filled.fill_null(False))
            if between < frame.height * (len(header) - 1):
                raise _irregular(data, dialect) or Refused("rows have fewer cells than the header", DAMAGED)
    table = without_empty_ends(frame.slice(1), header, [])
    table.delimiter = delimiter
    table.may_have_marks = delimiter != "," or any(data.find(bytes([one])) >= 0 for one in RARE)
    return table


def _irregular(data: Bytes, dialect: Dialect) -> Refused | None:
    """Why a text is no table: its first row that has more or fewer cells than the header, or an open quote."""
    text = io.TextIOWrapper(io.BytesIO(data[:]), encoding="utf-8", errors="replace", newline="")
    rows, width, line = csv.reader(text, delimiter=dialect.delimiter, strict=True), len(dialect.header), 1
    try:
        for row in rows:
            if len(row) != width and any(cell.strip(BLANKS) for cell in row):
                plural = "" if len(row) == 1 else "s"
                hint = f"correct the row, or quote cells that contain the delimiter; {HEADER}"
                return Refused(f"the row at line {line} has {len(row)} cell{plural}, but the header has {width}", hint)
            line = rows.line_num + 1
    except csv.Error as wrong:
        hint = "the file may be incomplete; a quote within a quoted cell is written twice"
        if "field larger" in str(wrong):
            return Refused(f"the row at line {line} is longer than {MAX_ROW >> 20} MiB", hint)
        what = "that is never closed" if "unexpected end" in str(wrong) else "within a quoted cell"
        return Refused(f"the row at line {line} has a quote {what}", hint)
    return None


def _rewritten(data: Bytes, delimiter: str) -> bytes:
    """The same rows, with quotes where they must be."""
    made = io.StringIO(newline="")
    text = io.TextIOWrapper(io.BytesIO(data[:]), encoding="utf-8", newline="")
    csv.writer(made, delimiter=delimiter, lineterminator="\n").writerows(csv.reader(text, delimiter=delimiter))
    return made.getvalue().encode()


def _columnar(content: Content) -> pl.DataFrame:
    data = content.data[:]
    if b"ARROW:experimental_compression" in data:
        hint = "write it again with a newer pyarrow"
        raise Refused("the file was written by Arrow 0.17, whose compression is not read", hint)
    # A damaged file can ask for more memory than there is, which ends a process: let it be another one.
    reader = (
        "read_parquet" if content.format == "parquet" else "read_ipc" if data[:6] == b"ARROW1" else "read_ipc_stream"
    )
    trial = f"import sys, polars; polars.{reader}(sys.stdin.buffer.read())"
    if subprocess.run([sys.executable, "-c", trial], input=data, capture_output=True, check=False).returncode < 0:
        raise Refused("the file is damaged", DAMAGED)
    frame: pl.DataFrame = getattr(pl, reader)(data)
    return frame


def _typed(frame: pl.DataFrame) -> Table:
    """The columns of a typed file as text."""
    dropped = [name for name in frame.columns if name.startswith(PANDAS_INDEX)]
    made = [_text(column) for column in frame.drop(dropped).iter_columns()]
    notes = [f"the column `{name}`, the index of a pandas frame, is left out" for name in dropped]
    return Table(pl.DataFrame(made), notes)


def _text(cells: pl.Series) -> pl.Series:
    kind = cells.dtype
    if kind.is_nested() or kind == pl.Object:
        what = "lists" if isinstance(kind, pl.List | pl.Array) else "structures"
        hint = "spread it over columns of numbers or text, or remove it"
        raise Refused(f"the column {shown(cells.name)} holds {what}", hint)
    if kind == pl.Boolean:
        return cells.replace_strict([True, False], ["True", "False"], return_dtype=pl.String, default=None)
    if kind.is_float():
        cells = cells.fill_nan(None)
        # pandas holds whole numbers with gaps so.
        is_whole = cells.null_count() and ((cells == cells.floor()) & (cells.abs() < 2**53)).all()
        return (cells.cast(pl.Int64) if is_whole else cells).cast(pl.String)
    if isinstance(kind, pl.Duration):
        return _text((cells.dt.total_nanoseconds() / 10**9).alias(cells.name))
    if kind.is_temporal():
        return times(cells.dt.to_string("iso"))
    return cells.cast(pl.String)


def _objects(content: Content) -> Table:
    """JSON lines, and JSON lists of objects. Fields that an object lacks are empty; lists and objects within it are
    JSON text."""
    encoding = _encoding(content.data)
    data = content.data[:] if encoding == "utf-8" else _in_utf8(content.data, encoding)
    try:
        if data.lstrip(b" \t\r\n").startswith(b"{"):
            kinds = pl.read_ndjson(data, infer_schema_length=None).schema
            frame = pl.read_ndjson(data, schema=dict.fromkeys(kinds, pl.String))
            truths = [name for name, kind in kinds.items() if kind == pl.Boolean]
            return Table(frame.with_columns(pl.col(truths).replace({"true": "True", "false": "False"})))
        return Table(_frame_of_objects(_loaded(data)))
    except (pl.exceptions.PolarsError, ValueError):
        return Table(_frame_of_objects(list(_lines(data))))


def _loaded(text: bytes) -> Any:
    return json.loads(text, parse_int=str, parse_float=str, parse_constant=str)


def _lines(data: bytes) -> Iterator[Any]:
    for number, line in enumerate(data.splitlines(), 1):
        try:
            if line.strip():
                yield _loaded(line)
        except ValueError as error:
            hint = 'each line must hold one JSON object; pandas writes so with orient="records", lines=True'
            raise Refused(f"line {number} is no row: {error}", hint) from None


def _frame_of_objects(rows: Any) -> pl.DataFrame:
    objects = rows if isinstance(rows, list) else [rows]
    if (odd := next((at for at, row in enumerate(objects, 1) if not isinstance(row, dict)), None)) is not None:
        raise Refused(f"object {odd} is no row", "the file must hold a JSON list of objects, one a row")
    names = dict.fromkeys(name for row in objects for name in row)
    cells = {name: [_cell(row.get(name)) for row in objects] for name in names}
    return pl.DataFrame(cells, schema=dict.fromkeys(names, pl.String))


def _cell(value: Any) -> str | None:
    return json.dumps(value) if isinstance(value, list | dict) else None if value is None else str(value)
