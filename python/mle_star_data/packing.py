"""What a file is: its format, how it is packed, and its bytes."""

from __future__ import annotations

import gzip
import importlib
import io
import mmap
import re
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .tables import Refused

Bytes = bytes | mmap.mmap

ENDINGS = {
    **dict.fromkeys(("csv", "tsv", "tab", "psv", "txt"), "text"),
    **dict.fromkeys(("parquet", "pq"), "parquet"),
    **dict.fromkeys(("feather", "arrow", "arrows", "ipc"), "arrow"),
    **dict.fromkeys(("xlsx", "xlsm"), "excel"),
    **dict.fromkeys(("jsonl", "ndjson", "json"), "json"),
}
"""The formats of tables by the endings of names."""
FORMATS = {
    "text": ("delimited text", ".csv"),
    "parquet": ("a Parquet file", ".parquet"),
    "arrow": ("an Arrow file", ".feather"),
    "excel": ("an Excel workbook", ".xlsx"),
    "json": ("JSON lines", ".jsonl"),
}
"""What they are called, and the usual ending of names."""
PACKED = re.compile(r"\.(gz|zst|zstd|zip)$", re.IGNORECASE)
OLD_WORKBOOK = "a workbook of old Excel (.xls) or with a password"
MAGIC = {
    b"PAR1": "parquet",
    b"ARROW1": "arrow",
    b"\xff\xff\xff\xff": "arrow",
    b"PARE": "an encrypted Parquet file",
    b"FEA1": "a Feather file of the old version 1",
    b"\xd0\xcf\x11\xe0": OLD_WORKBOOK,
    b"%PDF": "a PDF document",
    b"SQLite format 3": "a SQLite database",
    b"\x89HDF": "an HDF5 file",
    b"\x89PNG": "a picture",
    b"\x1f\x8b": "a gzip file within another archive",
    b"7z\xbc\xaf": "a 7z archive",
    b"Rar!": "a RAR archive",
    b"BZh": "a bzip2 file",
}
"""The first bytes of formats, and of what is no table that can be read."""
ZIP = b"PK\x03\x04"
HEAD = 4096
DAMAGED = "the file may be incomplete or damaged: copy or download it again"


@dataclass(frozen=True)
class Content:
    """A file without its packing."""

    format: str
    data: Bytes
    is_packed: bool


def named(name: str) -> str | None:
    """The format that a name says; `None` for a name that is not that of a table."""
    return ENDINGS.get(unpacked(name).lower().rpartition(".")[2]) if "." in unpacked(name) else None


def unpacked(name: str) -> str:
    """The name without the ending of its packing."""
    return PACKED.sub("", name)


def stem(name: str) -> str:
    """The name without the endings of format and packing: `train` for `train.csv.gz`."""
    return unpacked(name).rpartition(".")[0] if named(name) else unpacked(name)


def members(path: Path) -> list[str]:
    """The files in a zip archive but for hidden ones; none if the file is no archive."""
    try:
        with zipfile.ZipFile(path) as archive:
            return _files(archive.namelist())
    except (OSError, ValueError, zipfile.BadZipFile, NotImplementedError):
        return []


def tables_in(path: Path) -> list[str]:
    """The tables in a zip archive; none if the file is no archive, or a workbook."""
    names = members(path)
    return [] if _is_document(names) else _tables(names)


def _is_document(names: list[str]) -> bool:
    return any(name in ("[Content_Types].xml", "mimetype") or name.startswith("xl/") for name in names)


def _files(names: list[str]) -> list[str]:
    is_hidden = re.compile(r"(^|/)(\.[^/]|__MACOSX/)|/$").search
    return [name for name in names if not is_hidden(name)]


def _tables(names: list[str]) -> list[str]:
    """Texts and JSON files beside other tables describe them."""
    tables = [name for name in _files(names) if named(name)]
    return [name for name in tables if not name.lower().endswith((".txt", ".json"))] or tables


def several(file: str, tables: list[str]) -> Refused:
    message = f"{file}the archive holds {len(tables)} tables, `{tables[0]}` and `{tables[1]}` among them"
    return Refused(message, "unpack it and give one of the tables")


def opened(path: Path) -> Content:
    """The content of a file. The first bytes decide how it is packed and what it is; text is what its name says."""
    try:
        with open(path, "rb") as file:
            begin = file.read(4)
            data: Bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if begin else b""
    except OSError as error:
        hint = "check the path and the permissions of the file"
        raise Refused(f"it cannot be read: {error.strerror}", hint) from None
    name, is_packed = path.name, True
    if begin[:2] == b"\x1f\x8b":
        data = _unpacked(lambda: gzip.decompress(data))
    elif begin == b"\x28\xb5\x2f\xfd":
        data = _unpacked(lambda: _zstd(data))
    elif begin in (ZIP, b"PK\x05\x06"):
        member = _unpacked(lambda: _member(data))
        if member is None:
            is_packed = False
        else:
            data, name = member[0], member[1] if named(member[1]) else name
    else:
        is_packed = False
    if not data:
        raise Refused("the file is empty", "give a table with a header and rows")
    return Content(_format(name, data[:HEAD], is_packed), data, is_packed)


def _unpacked(unpack: Callable[[], Any]) -> Any:
    try:
        return unpack()
    except (Refused, MemoryError):
        raise
    except Exception as error:
        # A damaged archive raises errors of many kinds.
        raise Refused(f"the archive cannot be read: {error}", DAMAGED) from None


def _zstd(data: Bytes) -> bytes:
    try:
        zstd = importlib.import_module("compression.zstd")
    except ImportError:
        zstd = importlib.import_module("backports.zstd")
    made: bytes = zstd.decompress(data)
    return made


def _member(data: Bytes) -> tuple[bytes, str] | None:
    """The only table in an archive. Workbooks are archives, too, but are no packed tables."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = archive.namelist()
        if _is_document(names):
            return None
        tables, files = _tables(names), _files(names)
        if len(tables) > 1:
            raise several("", tables)
        if not tables and len(files) != 1:
            raise Refused("the archive holds no table", "give a table, or an archive with one table")
        name = (tables or files)[0]
        return archive.read(name), name


def _format(name: str, head: bytes, is_packed: bool) -> str:
    by_name, found = named(name), _content(head, is_packed)
    if found in FORMATS:
        if by_name in (found, None):
            return found
        what, ending = FORMATS[found]
        raise Refused(f"its content is not what its name says: it is {what}", f"give it a name that ends with {ending}")
    if found == OLD_WORKBOOK:
        raise Refused(f"it is {found}", "save it as an Excel workbook (.xlsx) without a password")
    if found is not None:
        hint = "convert it to CSV, Parquet, Arrow, .xlsx or JSON lines"
        raise Refused(f"it is no table that can be read, but {found}", hint)
    first = head.lstrip(b"\xef\xbb\xbf\xff\xfe\0\t\n\r ")[:1]
    if by_name == "text" or (by_name is None and first not in (b"{", b"[")):
        return "text"
    if by_name in ("json", None) and first in (b"{", b"["):
        return "json"
    what = FORMATS[by_name][0] if by_name else ""
    raise Refused(f"by its name it is {what}, but it seems to be other text", "give it a name that ends with .csv")


def _content(head: bytes, is_packed: bool) -> str | None:
    """What the first bytes say: a format, what else it is in words for people, or nothing, as text does."""
    begin = next((begin for begin in MAGIC if head.startswith(begin)), None)
    # The header of a table may begin with a word that is all letters and digits.
    if begin is not None and not (begin.isalnum() and head.isascii() and b"\0" not in head):
        return MAGIC[begin]
    if head.startswith(ZIP):
        if b"opendocument" in head:
            return "an OpenDocument file"
        if b"xl/workbook.bin" in head:
            return "a binary Excel workbook (.xlsb)"
        is_document = any(part in head for part in (b"[Content_Types].xml", b"xl/", b"docProps/"))
        return "excel" if not is_packed or is_document else "an archive within an archive"
    start = b"".join(head[:200].split())[:9].lower()
    if start.startswith((b"<!doctype", b"<html")):
        return "a web page"
    return "an XML document" if start.startswith(b"<?xml") else None
