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

MAX_XML = 2 << 30
NAMES = "the first row with content must name all columns"


def read(data: bytes, asked: str | None) -> Table:
    """The table on the sheet of this name, or on the first one."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        if any(member.file_size > MAX_XML for member in archive.infolist()):
            raise Refused("the workbook has more than 2 GB", "save it as CSV")
        book = fastexcel.read_excel(data)
        names = book.sheet_names
        if asked is not None and asked not in names:
            listed = ", ".join(f"`{name}`" for name in names)
            raise Refused(f"the workbook has no sheet `{asked}`", f"choose with --sheet one of {listed}")
        name = asked or names[0]
        xml = _xml(archive, name)
    cells = book.load_sheet(name, header_row=None, dtypes="string").to_polars()
    has_content = pl.any_horizontal(pl.all().str.strip_chars(BLANKS) != "")
    first = cells.select(has_content.arg_true().first()).item() if cells.width else None
    if first is None:
        raise Refused(f"the sheet `{name}` is empty", "choose another one with --sheet")
    _check_sheet(xml, name)
    table = _below_header(_exact(cells, book, name), first)
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
    made = []
    for text, number in zip(cells.iter_columns(), numbers.iter_columns(), strict=True):
        is_cut = text.str.contains(cut) & (number != text.cast(pl.Float64, strict=False))
        made.append(text.zip_with(~is_cut.fill_null(False), number.cast(pl.String)))
    return pl.DataFrame(made)


def _below_header(cells: pl.DataFrame, at: int) -> Table:
    """The table below the first row with content, which names all columns. One column before them may have no name."""
    header = [(name or "").strip(BLANKS) for name in cells.row(at)]
    named, body = [place for place, name in enumerate(header) if name], cells.slice(at + 1)
    first, last = named[0], named[-1]
    filled = [place for place in range(cells.width) if not is_blank(body.to_series(place))]
    first -= first - 1 in filled
    unnamed = [place for place in range(first, last + 1) if not header[place]]
    if len(unnamed) > 1 or not set(filled) <= set(range(first, last + 1)):
        known = ", ".join(shown(header[place]) for place in named[:3])
        hint = f"{NAMES}: remove titles above the header and cells beside the table"
        raise Refused(f"a column of the sheet has cells, but no name: the first row with content has {known}", hint)
    names = [re.sub(" 00:00:00$", "", name) for name in header[first : last + 1]]
    columns = [_cells_of_sheet(body.to_series(place)) for place in range(first, last + 1)]
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
