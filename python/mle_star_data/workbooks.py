"""Excel workbooks."""

from __future__ import annotations

import html
import io
import re
import zipfile
from typing import Any

import fastexcel
import polars as pl

from .tables import Refused, shown
from .text_table import BLANKS, Table, is_blank, times, without_empty_ends

MOST_XML = 2 << 30
NAMES = "the first row with content must name all columns"


def read(data: bytes, asked: str | None) -> Table:
    """The table on the sheet of this name, or on the first one."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        if any(member.file_size > MOST_XML for member in archive.infolist()):
            raise Refused("the workbook has more than 2 GB", "save it as CSV")
        book = fastexcel.read_excel(data)
        names = book.sheet_names
        if not names:
            raise Refused("the workbook has no sheet with cells", "check the workbook")
        if asked is not None and asked not in names:
            listed = ", ".join(f"`{name}`" for name in names)
            raise Refused(f"the workbook has no sheet `{asked}`", f"choose with --sheet one of {listed}")
        name = asked or names[0]
        xml = _xml(archive, name)
    cells = book.load_sheet(name, header_row=None, dtypes="string").to_polars()
    first = (
        cells.select(pl.any_horizontal(pl.all().str.strip_chars(BLANKS) != "").arg_true().first())
        if cells.width
        else cells
    )
    if first.width == 0 or first.item() is None:
        raise Refused(f"the sheet `{name}` is empty", "choose another one with --sheet")
    _check_sheet(xml, name)
    begin = re.search(rb'<row [^>]*r="([0-9]+)"[^>]*>\s*<c ', xml)
    letters = re.search(rb'<dimension ref="([A-Z]+)[0-9]', xml)
    column = ord(letters[1]) - ord("A") if letters and len(letters[1]) == 1 else 0
    table = _below_header(_exact(cells, book, name), first.item(), (int(begin[1]) - 1 if begin else 0, column))
    if len(names) > 1 and asked is None:
        table.notes.append(f"the sheet `{name}` is read, the first of {len(names)}: --sheet chooses another")
    if hidden := len(re.findall(rb'<row [^>]*hidden="(?:1|true)"', xml)):
        table.notes.append(f"the sheet `{name}` has hidden rows, which are read like the others: {hidden}")
    return table


def _xml(archive: zipfile.ZipFile, sheet: str) -> bytes:
    """The part of a workbook with a sheet; nothing if it is not found."""
    try:
        listed, links = archive.read("xl/workbook.xml").decode(), archive.read("xl/_rels/workbook.xml.rels").decode()
        tags = (dict(re.findall(r'([\w:]+)="([^"]*)"', tag)) for tag in re.findall("<sheet [^>]*>", listed))
        link = next(tag["r:id"] for tag in tags if html.unescape(tag["name"]) == sheet)
        tags = (dict(re.findall(r'([\w:]+)="([^"]*)"', tag)) for tag in re.findall("<Relationship [^>]*>", links))
        target = next(tag["Target"] for tag in tags if tag["Id"] == link)
        return archive.read(target.lstrip("/") if target.startswith("/") else f"xl/{target}")
    except (KeyError, StopIteration, UnicodeDecodeError):
        return b""


def _exact(cells: pl.DataFrame, book: Any, sheet: str) -> pl.DataFrame:
    """The cells with all digits of their numbers: the library cuts them off after nine in its texts."""
    cut = r"^-?[0-9]*\.[0-9]{9}$|^-?0$"
    if not any(cells.select(pl.all().str.contains(cut).any()).row(0)):
        return cells
    numbers = book.load_sheet(sheet, header_row=None, dtypes="float").to_polars()
    numbers.columns = [f"{name} as number" for name in cells.columns]
    both = cells.hstack(numbers)
    made = []
    for name, number in zip(cells.columns, numbers.columns, strict=True):
        is_cut = pl.col(name).str.contains(cut) & (pl.col(number) != pl.col(name).cast(pl.Float64, strict=False))
        made.append(pl.when(is_cut).then(pl.col(number).cast(pl.String)).otherwise(pl.col(name)).alias(name))
    return both.select(made)


def _below_header(cells: pl.DataFrame, at: int, start: tuple[int, int]) -> Table:
    """The table below the first row with content, which names all columns. One column before them may have no name."""
    header = [(name or "").strip(BLANKS) for name in cells.row(at)]
    named = [place for place, name in enumerate(header) if name]
    first, last, body = named[0], named[-1], cells.slice(at + 1)
    filled = [not is_blank(body.to_series(place)) for place in range(cells.width)]

    def address(row: int, column: int) -> str:
        letters, left = "", column + start[1] + 1
        while left:
            left, letter = divmod(left - 1, 26)
            letters = chr(ord("A") + letter) + letters
        return f"{letters}{row + start[0] + 1}"

    outside = [place for place, is_filled in enumerate(filled) if is_filled and (place > last or place + 1 < first)]
    if outside:
        rows = {place: (body.to_series(place).str.strip_chars(BLANKS) != "").arg_true()[0] for place in outside}
        place = min(outside, key=lambda one: (rows[one], one))
        begin, end = address(at, first), address(at, last)
        range_ = f"only {begin} ({shown(header[first])})" if first == last else f"{begin}:{end}"
        hint = f"{NAMES}: remove titles above the header and cells beside the table"
        cell = address(at + 1 + int(rows[place]), place)
        raise Refused(f"the cell {cell} has no column name: the header has {range_}", hint)
    places = range(first - (first > 0 and filled[first - 1]), last + 1)
    unnamed = [place for place in places if not header[place]]
    if len(unnamed) > 1:
        raise Refused(f"the cell {address(at, unnamed[1])} of the header is empty", NAMES)
    names = [re.sub(" 00:00:00$", "", header[place]) for place in places]
    columns = [_cells_of_sheet(body.to_series(place)) for place in places]
    return without_empty_ends(pl.DataFrame(columns), names, [])


def _cells_of_sheet(cells: pl.Series) -> pl.Series:
    if cells.drop_nulls().is_in(["true", "false"]).all():
        return cells.replace({"true": "True", "false": "False"})
    is_time = cells.str.contains(r"^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}")
    return times(cells.str.replace("^1899-12-3[01] ", "")) if is_time.any() else cells


def _check_sheet(xml: bytes, sheet: str) -> None:
    """Refuses merged cells, all but the first of which are empty, and formulas without a value."""
    if merged := re.search(rb'<mergeCell [^>]*ref="([A-Z0-9]+:[A-Z0-9]+)"', xml):
        hint = "undo the merging in Excel, and fill in all cells"
        raise Refused(f"the cells {merged[1].decode()} of the sheet `{sheet}` are merged", hint)
    if formula := re.search(rb'<c r="([A-Z0-9]+)"[^>]*>\s*<f[^>]*(?:/>|>[^<]*</f>)\s*(?:<v\s*/>|<v></v>|</c>)', xml):
        hint = "open the workbook in Excel or LibreOffice and save it: then values stand beside formulas"
        raise Refused(f"the formula of the cell {formula[1].decode()} has no value", hint)
