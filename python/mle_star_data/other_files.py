"""The files of a data folder that are no tables, by folder and ending, and those in zip archives: sizes of images,
lengths of sounds, first lines of texts, words that names have in common, and the column whose values name them."""

from __future__ import annotations

import os
import re
import struct
import zipfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import IO

from . import markdown as md
from .packing import members

OPENED, FOLDERS, MIN_NAMED, OF_AN_ARCHIVE, ONE_BY_ONE, LINES, CHARACTERS = 5, 3, 2, 3, 8, 3, 60
MAX_WORDS, FILES_OF_WORD = 12, 3
TIMES = "\u00d7"
TEXTS = ("txt", "csv", "tsv", "json", "jsonl", "xyz", "dat", "xml", "yaml")


def section(folder: Path, others: Sequence[str], named: Sequence[tuple[str, str]], room: int) -> str:
    """`named` are values that may name files, with their columns."""
    packed = [name for name in others if name.lower().endswith(".zip")]
    lines = [line for name in packed for line in _archive_lines(folder, name, named)]
    for group in _grouped(folder, None, [name for name in others if name not in set(packed)]):
        alone = len(group.files) <= ONE_BY_ONE and group.is_text
        parts = [_Group(folder, None, group.place, [file]) for file in group.files] if alone else [group]
        lines += [part.line(named) for part in parts]
    return md.section("Other files", lines, room)


def _archive_lines(folder: Path, name: str, named: Sequence[tuple[str, str]]) -> list[str]:
    if not zipfile.is_zipfile(folder / name):
        return [f"- {md.path(name)}: {md.size(os.path.getsize(folder / name))}; cannot be read as an archive"]
    groups = _grouped(folder, name, sorted(members(folder / name)))
    return [group.line(named) for group in groups[:OF_AN_ARCHIVE]]


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

    def line(self, named: Sequence[tuple[str, str]]) -> str:
        kind = f".{md.plain(self.place[1], 12)} " if self.place[1] else ""
        folders = sorted({str(PurePosixPath(file).parent) for file in self.files})
        parts = [f"{md.counted(len(self.files), f'{kind}file')}, {md.size(self.size())}"]
        if len(folders) > 1:
            few = ", ".join(md.path(one.removeprefix(".")) for one in folders[:FOLDERS])
            parts.append(f"in {len(folders):,} folders ({few}{', …' if len(folders) > FOLDERS else ''})")
        parts += [f"such as {md.path(self.files[0])}", *self.common_words(), *self.contents(), *self.named_by(named)]
        place = md.path(self.place[0]) if self.place[0] else ""
        place = f"{md.path(self.archive)} (archive)" if self.archive else place
        return f"- {place}: {'; '.join(parts)}".replace("- : ", "- ", 1)

    def size(self) -> int:
        if self.archive:
            with zipfile.ZipFile(self.folder / self.archive) as archive:
                return sum(archive.getinfo(file).file_size for file in self.files)
        return sum(os.path.getsize(self.folder / file) for file in self.files)

    def common_words(self) -> Iterator[str]:
        """First or last words of the names that may be labels, if they are few."""
        stems = [PurePosixPath(file).stem for file in self.files]
        for told, word in (
            ("begin with {}", r"^[^._ -]+[._ -]"),
            ("end with {} before the ending", r"[._ -][^._ -]+$"),
        ):
            words = [found[0] for stem in stems if (found := re.search(word, stem))]
            counts = Counter(words)
            if len(words) == len(stems) and 1 < len(counts) <= MAX_WORDS and len(words) >= len(counts) * FILES_OF_WORD:
                each = (f"{md.value(word)} ({rows:,})" for word, rows in sorted(counts.items()))
                yield f"names {told.format(' or '.join(each))}"

    def contents(self) -> Iterator[str]:
        """What a few files of the whole list hold."""
        if self.is_text:
            with open(self.folder / self.files[0], encoding="utf-8", errors="replace") as file:
                lines = [line.rstrip("\r\n") for line in islice(file, LINES)]
            if lines:
                told = ", ".join(f"`{md.plain(line, CHARACTERS)}`" for line in lines)
                yield f"begins with the lines {told}"
            return
        read = MEDIA.get(self.place[1])
        if read is None:
            return
        found, few = [], min(len(self.files), OPENED)
        for at in range(few):
            # A damaged file raises errors of many kinds.
            with suppress(Exception), self.open(self.files[at * len(self.files) // few]) as file:
                found.append(read(file))
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
        if hits and (best := max(sorted(hits), key=lambda hit: (hits[hit], hit))) and hits[best] >= MIN_NAMED:
            yield f"values of {md.name(best[0])} {best[1]}"


def _png(file: IO[bytes]) -> str:
    head = file.read(26)
    if head[1:4] != b"PNG":
        raise ValueError
    width, height, _, colours = struct.unpack(">IIBB", head[16:])
    return f"{width}{TIMES}{height} {COLOURS_OF_PNG[colours]}"


def _jpeg(file: IO[bytes]) -> str:
    """Goes from segment to segment to the one with the frame."""
    file.read(2)
    while True:
        start, marker, size = struct.unpack(">BBH", file.read(4))
        if start != 0xFF:
            raise ValueError
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            _, height, width, colours = struct.unpack(">BHHB", file.read(6))
            return f"{width}{TIMES}{height}{COLOURS_OF_JPEG.get(colours, '')}"
        file.read(size - 2)


def _wav(file: IO[bytes]) -> str:
    chunks = {name: (size, head) for name, size, head in _chunks(file, "<")}
    channels, rate, per_second = struct.unpack_from("<2xHII", chunks[b"fmt "][1])
    return _sound(rate, channels, chunks[b"data"][0] / per_second)


def _aiff(file: IO[bytes]) -> str:
    head = next(head for name, _, head in _chunks(file, ">") if name == b"COMM")
    channels, frames, power, mantissa = struct.unpack_from(">HI2xHH", head)
    # The rate is an extended float; its first 16 bits of mantissa are enough for the usual rates.
    rate = mantissa * 2.0 ** (power - 16_383 - 15)
    return _sound(rate, channels, frames / rate)


def _chunks(file: IO[bytes], order: str) -> Iterator[tuple[bytes, int, bytes]]:
    """The parts of a sound file, each with its name, its size and its first bytes."""
    file.read(12)
    while begin := file.read(8):
        name, size = struct.unpack(f"{order}4sI", begin)
        head = file.read(min(size, 16))
        yield name, size, head
        file.seek(size + size % 2 - len(head), os.SEEK_CUR)


def _sound(rate: float, channels: int, seconds: float) -> str:
    return f"{rate:.0f} Hz, {md.counted(channels, 'channel')}, {md.number(round(seconds, 1))} s"


COLOURS_OF_JPEG = {1: " grey", 3: " RGB", 4: " CMYK"}
COLOURS_OF_PNG = {0: "grey", 2: "RGB", 3: "palette", 4: "grey with alpha", 6: "RGBA"}
MEDIA: dict[str, Callable[[IO[bytes]], str]] = {"png": _png, "jpg": _jpeg, "jpeg": _jpeg, "wav": _wav, "aif": _aiff}
