"""Inputs as people have them: the files of `crates/mle-star-cli/tests/corpus`, whose form its `case.rs` describes."""

import csv
import gzip
import io
import re
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "crates/mle-star-cli/tests/corpus"
FILES = ROOT / "python/tests/data/files"
SEPARATORS = {"tabs": "\t", "semicolons": ";", "bars": "|"}


@dataclass
class File:
    name: str
    text: str
    words: list[str]


@dataclass
class Case:
    name: str
    files: dict[str, File] = field(default_factory=dict)
    options: str = "data"
    right: list[tuple[str, str]] = field(default_factory=list)

    def write(self, folder: Path) -> Path:
        """Writes the data folder. Returns what is given to the program."""
        (folder / "data").mkdir(parents=True)
        for one in self.files.values():
            path = folder / "data" / one.name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content(one))
        return folder / self.options.split()[0]

    def facts(self, kind: str) -> list[str]:
        return [text for other, text in self.right if other == kind]


def cases() -> dict[str, Case]:
    return {path.stem: case(path.stem) for path in sorted(FOLDER.glob("*.input"))}


def case(name: str) -> Case:
    made = Case(name)
    for section in (FOLDER / f"{name}.input").read_text().split("\n--- ")[1:]:
        head, _, body = section.partition("\n")
        words, body = head.split(), body if body.endswith("\n") or not body else body + "\n"
        match words:
            case ["like", other]:
                made.files = case(other).files
            case ["write", old, new, *form]:
                made.files[new] = File(new, made.files.pop(old).text, form)
            case ["in", changed]:
                for line in body.splitlines():
                    before, after = line.split(" => ")
                    assert before in made.files[changed].text
                    made.files[changed].text = made.files[changed].text.replace(before, after.replace("\\0", "\0"))
            case ["options"]:
                made.options = body.strip()
            case ["right"]:
                pairs = (line.partition(": ") for line in body.splitlines())
                made.right = [(kind, text) for kind, _, text in pairs]
            case [file, "none"]:
                made.files.pop(file, None)
            case [file, rows, *form] if ".." in rows:
                made.files[file] = File(file, table(body, rows), form)
            case [file, *form]:
                made.files[file] = File(file, body, form)
    return made


def table(body: str, rows: str) -> str:
    header, *patterns = body.splitlines()
    first, last = map(int, rows.split(".."))
    lines = (
        re.sub(r"\{n([^}]*)\}", lambda found, n=n: computed(found[1], n), patterns[n % len(patterns)])
        for n in range(first, last)
    )
    return "".join(f"{line}\n" for line in [header, *lines])


def computed(term: str, value: int) -> str:
    term, _, digits = term.partition(":")
    for operator, number in re.findall(r"(\D)(\d+)", term):
        match operator, int(number):
            case "+", n:
                value += n
            case "-", n:
                value -= n
            case "*", n:
                value *= n
            case "/", n:
                value //= n
            case _, n:
                value %= n
    return f"{value:0{digits or 0}d}"


def content(file: File) -> bytes:
    """The bytes of a file: the ending says the format and the packing, and words say the rest."""
    options = dict(word.split("=", 1) for word in file.words if "=" in word)
    if other := options.get("from"):
        return (FILES / other).read_bytes()
    name = file.name.rsplit("/", 1)[-1]
    inner, _, packing = name.rpartition(".")
    inner, packing = (inner, packing) if packing in ("gz", "zst", "zip") else (name, "")
    match inner.rpartition(".")[2]:
        case "parquet":
            plain = in_arrow(file.text, pa.parquet.write_table)
        case "feather" | "arrow":
            plain = in_arrow(file.text, lambda frame, out: pa.feather.write_feather(frame, out, "uncompressed"))
        case "xlsx":
            plain = workbook(file.text, options.get("sheet"))
        case "jsonl" | "ndjson":
            plain = (file.text if file.text.startswith("{") else lines_of_json(file.text)).encode()
        case _:
            plain = delimited(file.text, file.words)
    if packing == "zip":
        return archive({member: plain for member in options.get("members", inner).split(",")})
    if packing == "zst":
        return pa.compress(plain, "zstd", asbytes=True)
    return gzip.compress(plain) if packing else plain


def delimited(text: str, words: list[str]) -> bytes:
    separator = next((SEPARATORS[word] for word in words if word in SEPARATORS), None)
    has_commas = "decimal-commas" in words
    if separator or has_commas:
        out = io.StringIO()
        writer = csv.writer(out, delimiter=separator or ",", lineterminator="\n")
        for row in csv.reader(io.StringIO(text)):
            writer.writerow([cell.replace(".", ",") if has_commas and is_number(cell) else cell for cell in row])
        text = out.getvalue()
    text = text.replace("\n", "\r" if "cr" in words else "\r\n" if "crlf" in words else "\n")
    if "utf-16" in words:
        return b"\xff\xfe" + text.encode("utf-16-le")
    return text.encode("windows-1252" if "windows-1252" in words else "utf-8-sig" if "bom" in words else "utf-8")


def is_number(cell: str) -> bool:
    try:
        return float(cell) is not None
    except ValueError:
        return False


def typed(text: str) -> dict[str, list[Any]]:
    """Columns of one type each. Numbers with zeros in front are texts."""
    header, *rows = csv.reader(io.StringIO(text))
    return {name: of_one_type([row[at] or None for row in rows]) for at, name in enumerate(header)}


def of_one_type(cells: list[str | None]) -> list[Any]:
    some = [cell for cell in cells if cell is not None]
    if not any(len(cell) > 1 and cell[0] == "0" and not cell.startswith("0.") for cell in some):
        for kind in (int, float):
            try:
                return [None if cell is None else kind(cell) for cell in cells]
            except ValueError:
                continue
    if all(cell in ("True", "False") for cell in some):
        return [None if cell is None else cell == "True" for cell in cells]
    return cells


def in_arrow(text: str, write: Any) -> bytes:
    out = io.BytesIO()
    write(pa.table(typed(text)), out)
    return out.getvalue()


def lines_of_json(text: str) -> str:
    import json

    columns = typed(text)
    rows = zip(*columns.values(), strict=True)
    return "".join(json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=False) + "\n" for row in rows)


MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
LINKS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
SHEETS = "application/vnd.openxmlformats-officedocument.spreadsheetml"


def workbook(text: str, sheet: str | None) -> bytes:
    """A workbook with the table on its first sheet, or on this one behind another."""
    names = ["Sheet1"] if sheet is None else ["About", sheet]
    places = list(enumerate(names, 1))
    listed = "".join(f'<sheet name="{name}" sheetId="{at}" r:id="r{at}"/>' for at, name in places)
    links = "".join(
        f'<Relationship Id="r{at}" Type="{LINKS}/worksheet" Target="worksheets/sheet{at}.xml"/>' for at, _ in places
    )
    types = "".join(
        f'<Override PartName="/xl/worksheets/sheet{at}.xml" ContentType="{SHEETS}.worksheet+xml"/>' for at, _ in places
    )
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types"><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" '
        f'ContentType="{SHEETS}.sheet.main+xml"/>{types}</Types>',
        "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="r1" '
        f'Type="{LINKS}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{LINKS}"><sheets>{listed}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}/relationships">{links}</Relationships>',
    }
    for at, _ in places:
        rows = cells(text) if at == len(names) else ""
        parts[f"xl/worksheets/sheet{at}.xml"] = f'<worksheet xmlns="{MAIN}"><sheetData>{rows}</sheetData></worksheet>'
    return archive({name: part.encode() for name, part in parts.items()})


def cells(text: str) -> str:
    def cell(text: str) -> str:
        if text in ("True", "False"):
            return f'<c t="b"><v>{int(text == "True")}</v></c>'
        if is_number(text):
            return f"<c><v>{text}</v></c>"
        return f'<c t="inlineStr"><is><t>{escape(text)}</t></is></c>' if text else "<c/>"

    return "".join(f"<row>{''.join(map(cell, row))}</row>" for row in csv.reader(io.StringIO(text)))


def archive(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for name, plain in members.items():
            made.writestr(name, plain)
    return out.getvalue()
