"""The files of a data folder that are no tables, by folder and ending, and those in zip archives: sizes of images,
lengths of sounds, first lines of texts, words that names have in common, and the column whose values name them."""

from __future__ import annotations

import os
import struct
import zipfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import IO

from . import shown
from .facts import _members

OPENED, FOLDERS, FEWEST_NAMED, OF_AN_ARCHIVE, ONE_BY_ONE, LINES, CHARACTERS = 5, 3, 2, 3, 8, 3, 60
MOST_WORDS, FILES_OF_WORD, BETWEEN = 12, 3, "._- "
TIMES = "\u00d7"
TEXTS = ("txt", "csv", "tsv", "json", "jsonl", "xyz", "dat", "xml", "yaml")


def section(folder: Path, others: Sequence[str], named: Sequence[tuple[str, str]], room: int) -> str:
    """`named` are values that may name files, with their columns."""
    packed = [name for name in others if name.lower().endswith(".zip")]
    lines = [line for name in packed for line in _of_archive(folder, name, named)]
    for group in _grouped(folder, None, [name for name in others if name not in set(packed)]):
        alone = len(group.files) <= ONE_BY_ONE and group.is_text
        parts = [_Group(folder, None, group.place, [file]) for file in group.files] if alone else [group]
        lines += [part.line(named) for part in parts]
    return shown.section("Other files", lines, room)


def _of_archive(folder: Path, name: str, named: Sequence[tuple[str, str]]) -> list[str]:
    if not zipfile.is_zipfile(folder / name):
        return [f"- {shown.path(name)}: {shown.size(os.path.getsize(folder / name))}; cannot be read as an archive"]
    groups = _grouped(folder, name, sorted(_members(folder / name)))
    return [group.line(named, is_all=len(groups) == 1) for group in groups[:OF_AN_ARCHIVE]]


def _grouped(folder: Path, archive: str | None, names: Sequence[str]) -> list[_Group]:
    groups: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for name in names:
        first, _, rest = name.partition("/")
        groups[first if rest else "", PurePosixPath(name).suffix[1:].lower()].append(name)
    found = [_Group(folder, archive, place, files) for place, files in sorted(groups.items())]
    return sorted(found, key=lambda group: -len(group.files))


@dataclass(frozen=True)
class _Group:
    """Files in one first folder of the data folder or of an archive, with one ending."""

    folder: Path
    archive: str | None
    place: tuple[str, str]
    files: list[str]

    @property
    def is_text(self) -> bool:
        return self.archive is None and self.place[1] in TEXTS

    def line(self, named: Sequence[tuple[str, str]], is_all: bool = False) -> str:
        kind = f" .{shown.plain(self.place[1], 12)}" if self.place[1] else ""
        size = f", {shown.size(self.size())}" if self.archive is None or is_all else ""
        many, folders = len(self.files), sorted({str(PurePosixPath(file).parent) for file in self.files})
        parts = [f"{many:,}{kind} file{'s' if many != 1 else ''}{size}"]
        if len(folders) > 1:
            few = ", ".join(shown.path(one.removeprefix(".")) for one in folders[:FOLDERS])
            parts.append(f"in {len(folders):,} folders ({few}{', …' if len(folders) > FOLDERS else ''})")
        parts += [f"such as {shown.path(self.files[0])}", *self.common_words(), *self.contents(), *self.named_by(named)]
        text = "; ".join(parts)
        if self.archive:
            return f"- {shown.path(self.archive)} (archive): {text}"
        return f"- {shown.path(self.place[0])}: {text}" if self.place[0] else f"- {text}"

    def size(self) -> int:
        if self.archive:
            with zipfile.ZipFile(self.folder / self.archive) as archive:
                return sum(archive.getinfo(file).file_size for file in self.files)
        return sum(os.path.getsize(self.folder / file) for file in self.files)

    def common_words(self) -> Iterator[str]:
        """First or last words of the names that may be labels, if they are few."""
        stems, found = [PurePosixPath(file).stem for file in self.files], []
        first = [next((at for at, one in enumerate(stem) if one in BETWEEN), 0) for stem in stems]
        last = [max(stem.rfind(one) for one in BETWEEN) for stem in stems]
        begins = [stem[: at + 1] for stem, at in zip(stems, first, strict=True) if at > 0]
        ends = [stem[at:] for stem, at in zip(stems, last, strict=True) if 0 <= at < len(stem) - 1]
        for words, told in ((begins, "names begin with {}"), (ends, "names end with {} before the ending")):
            counts = Counter(words)
            if len(words) == len(stems) and 1 < len(counts) <= MOST_WORDS and len(words) >= len(counts) * FILES_OF_WORD:
                each = [f"{shown.value(word)} ({rows:,})" for word, rows in sorted(counts.items())]
                found.append(told.format(" or ".join(each)))
        yield from [", and ".join(found)] if found else []

    def contents(self) -> Iterator[str]:
        """What a few files of the whole list hold."""
        if self.is_text:
            with open(self.folder / self.files[0], encoding="utf-8", errors="replace") as file:
                lines = [line.rstrip("\r\n") for line in islice(file, LINES)]
            if lines:
                told = ", ".join(f"`{shown.plain(line, CHARACTERS)}`" for line in lines)
                yield f"begins with the lines {told}"
            return
        read, few, found = MEDIA.get(self.place[1]), min(len(self.files), OPENED), []
        if read is None:
            return
        for at in range(few):
            try:
                with self.open(self.files[at * len(self.files) // few]) as file:
                    found.append(read(file))
            except (OSError, ValueError, EOFError, struct.error, zipfile.BadZipFile, LookupError, ArithmeticError):
                continue
        if found:
            yield f"{len(found)} of them: {', '.join(dict.fromkeys(found))}"

    def open(self, file: str) -> IO[bytes]:
        if self.archive is None:
            return open(self.folder / file, "rb")
        return zipfile.ZipFile(self.folder / self.archive).open(file)

    def named_by(self, named: Sequence[tuple[str, str]]) -> Iterator[str]:
        """The column whose values are the names of these files."""
        columns: defaultdict[str, list[str]] = defaultdict(list)
        for column, value in named:
            columns[value].append(column)
        hits: Counter[tuple[str, str]] = Counter()
        for path in map(PurePosixPath, self.files if columns else ()):
            forms = {
                "name them, without their ending": path.stem,
                "name them, as names": path.name,
                "name them, as paths": str(path),
                "name their folders": path.parent.name,
            }
            hits.update((column, form) for form, text in forms.items() for column in columns.get(text, ()))
        if hits and (best := max(sorted(hits), key=lambda hit: (hits[hit], hit))) and hits[best] >= FEWEST_NAMED:
            yield f"values of {shown.name(best[0])} {best[1]}"


def _png(file: IO[bytes]) -> str:
    head = file.read(26)
    width, height, bits, colours = struct.unpack(">IIBB", head[16:26])
    named = {0: "grey", 2: "RGB", 3: "palette", 4: "grey with alpha", 6: "RGBA"}[colours if head[1:4] == b"PNG" else 9]
    return f"{width}{TIMES}{height} {named}{'' if bits == 8 else f', {bits} bits'}"


def _jpeg(file: IO[bytes]) -> str:
    """Goes from segment to segment to the one with the frame."""
    file.read(2)
    while True:
        start, marker, size = struct.unpack(">BBH", file.read(4))
        if start != 0xFF:
            raise ValueError
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            _, height, width, colours = struct.unpack(">BHHB", file.read(6))
            named = {1: " grey", 3: " RGB", 4: " CMYK"}.get(colours, "")
            return f"{width}{TIMES}{height}{named}"
        file.read(size - 2)


def _gif(file: IO[bytes]) -> str:
    width, height = struct.unpack("<6xHH", file.read(10))
    return f"{width}{TIMES}{height}"


def _bmp(file: IO[bytes]) -> str:
    width, height = struct.unpack("<18xii", file.read(26))
    return f"{width}{TIMES}{abs(height)}"


def _tiff(file: IO[bytes]) -> str:
    order = {b"II": "<", b"MM": ">"}[file.read(2)]
    file.seek(struct.unpack(f"{order}2xI", file.read(6))[0])
    entries = [file.read(12) for _ in range(struct.unpack(f"{order}H", file.read(2))[0])]
    found = {}
    for entry in entries:
        tag, kind = struct.unpack(f"{order}HH", entry[:4])
        found[tag] = struct.unpack_from(f"{order}{'H' if kind == 3 else 'I'}", entry, 8)[0]
    return f"{found[256]}{TIMES}{found[257]}"


def _webp(file: IO[bytes]) -> str:
    head = file.read(30)
    kinds = {b"VP8 ": (26, 16, 14, 0), b"VP8L": (21, 14, 14, 1), b"VP8X": (24, 24, 24, 1)}
    place, step, bits, more = kinds[head[12:16]]
    both = int.from_bytes(head[place : place + 6], "little")
    return TIMES.join(str((both >> at & ((1 << bits) - 1)) + more) for at in (0, step))


def _wav(file: IO[bytes]) -> str:
    file.read(12)
    channels = rate = per_second = 0
    while True:
        name, size = struct.unpack("<4sI", file.read(8))
        if name == b"data":
            return _sound(rate, channels, size / per_second)
        end = file.tell() + size + size % 2
        if name == b"fmt ":
            channels, rate, per_second = struct.unpack("<2xHII", file.read(12))
        file.seek(end)


def _aiff(file: IO[bytes]) -> str:
    file.read(12)
    while True:
        name, size = struct.unpack(">4sI", file.read(8))
        if name == b"COMM":
            channels, frames, power, mantissa = struct.unpack(">HI2xHH", file.read(12))
            # The rate is an extended float; its first 16 bits of mantissa are enough for the usual rates.
            rate = mantissa * 2.0 ** (power - 16_383 - 15)
            return _sound(rate, channels, frames / rate)
        file.seek(size + size % 2, os.SEEK_CUR)


def _sound(rate: float, channels: int, seconds: float) -> str:
    return f"{rate:.0f} Hz, {shown.counted(channels, 'channel')}, {shown.number(int(seconds * 10 + 0.5) / 10)} s"


MEDIA: dict[str, Callable[[IO[bytes]], str]] = {
    "png": _png, "jpg": _jpeg, "jpeg": _jpeg, "gif": _gif, "bmp": _bmp, "tif": _tiff, "tiff": _tiff, "webp": _webp,
    "wav": _wav, "aif": _aiff, "aiff": _aiff, "aifc": _aiff,
}  # fmt: skip
