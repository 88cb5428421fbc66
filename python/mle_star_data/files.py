"""The table files of a data folder and their roles."""

from __future__ import annotations

import filecmp
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from .packing import named, several, stem, tables_in, unpacked
from .tables import Refused, unless_refused

ROLES = {"train": "training table", "test": "test table", "sample": "sample submission"}
"""The roles of tables, with their names for people."""
ABOUT_THE_TASK = re.compile(r"description\.md|(task|config)\.(yaml|yml|toml)")
"""Files that are no data."""
RARELY = (".txt", ".json")
"""Endings of files that are tables only if a role says so: many others have them, too."""
MANY_TABLES = 10
"""So many tables in an archive are data of another kind, such as a series for each row."""
RUN = ("journal.lock", "journal.db")
"""The files of a run. They are no data, wherever its folder lies."""
MAX_DEPTH = 32
SHOWS = {"sample", "example", "template", "format"}
SUBMITTED = re.compile("submissions?|entry|entries|answers?|results?|solution|predictions?")
"""What names say that a table shows what to submit: `sample_entry`, `exampleSolution`, `submission_format`."""


@dataclass(frozen=True)
class TableFile:
    """A table file, relative to the data folder, and the plain table as scripts see it."""

    file: str
    plain: str

    @property
    def is_plain_by_name(self) -> bool:
        """Whether scripts can read the file as it is, if it holds what its name says."""
        return self.file == self.plain and self.file.lower().endswith(".csv")

    @property
    def is_rare(self) -> bool:
        return unpacked(self.file).lower().endswith(RARELY)

    @property
    def is_renamed(self) -> bool:
        """Whether the plain table has another name than the file, its packing aside."""
        return unpacked(self.file) not in (self.plain, self.stem)

    @property
    def stem(self) -> str:
        return self.plain[: -len(".csv")]

    def packs(self, other: TableFile) -> bool:
        """Whether the other file is this one, packed: `train.csv.zip` or `train.zip` beside `train.csv`."""
        return unpacked(other.file) != other.file and unpacked(other.file) in (self.file, self.plain, self.stem)

    def rank(self) -> tuple[bool, bool, bool, str]:
        """Which files come first where several have one table."""
        is_packed = unpacked(self.file) != self.file
        return is_packed, self.is_rare, not self.file.lower().endswith(".csv"), self.file


@dataclass
class Files:
    """The table files of a data folder, or one table file."""

    folder: Path
    is_folder: bool = True
    roles: dict[str, TableFile] = field(default_factory=dict)
    others: list[TableFile] = field(default_factory=list)
    copies: list[str] = field(default_factory=list)
    """Further files with the table of one of the above."""


def find(data: Path) -> Files:
    """The tables of a folder, or the table in a file."""
    if data.is_file():
        return Files(data.parent, False, {"train": TableFile(data.name, "train.csv")})
    files = Files(data)
    try:
        names = sorted(name for name in os.listdir(data) if name[0] != "." and not ABOUT_THE_TASK.fullmatch(name))
    except OSError as error:
        raise Refused(f"cannot read the folder {data.name}: {error.strerror}", "check its permissions") from None
    tables = {name: found for name in names if (found := _candidate(data, name))}
    for found in sorted(tables.values(), key=TableFile.rank):
        _place(files, found)
    are_all = all(name in tables or name.lower().endswith(".md") for name in names)
    _fill(files, are_all)
    if "train" not in files.roles:
        for name in names:
            # One of a few tables in an archive of this name could be the training table.
            if name.lower() == "train.zip" and 1 < len(inner := tables_in(data / name)) < MANY_TABLES:
                raise several(f"{name}: ", inner)
    return files


def usual(name: str) -> str | None:
    """The role of a table with the usual name."""
    name = name.lower()
    return "sample" if name in ("sample_submission", "samplesubmission") else name if name in ROLES else None


def likely(name: str) -> tuple[str, int] | None:
    """The role of a table with such a name if none has the usual one; of several, the one with the least rank has it"""
    words, apart = (re.findall(r"[^\W\d_]+", one.lower()) for one in (name, re.sub("([a-z])([A-Z])", r"\1 \2", name)))
    letters, has = "".join(words), set(words).intersection
    if "sample" in name.lower() and "submission" in name.lower():
        return "sample", 0
    if SHOWS.intersection(apart) and any(map(SUBMITTED.fullmatch, apart)):
        return "sample", 1
    if letters in ("trainlabels", "traininglabels", "labels"):
        return "train", int(letters == "labels")
    if has({"train", "training"}):
        return "train", 2
    return ("test", 0) if has({"test"}) and not has({"label", "labels"}) else None


def _candidate(folder: Path, name: str) -> TableFile | None:
    """The table that an entry of a folder is, if its name says that it is one."""
    if (folder / name).is_dir():
        if named(name) is None:
            return None
        inner = [one for one in os.listdir(folder / name) if named(one) and one[0] not in "._"]
        return TableFile(f"{name}/{inner[0]}", f"{stem(name)}.csv") if len(inner) == 1 else None
    if name.lower().endswith(".csv"):
        return TableFile(name, name)
    if named(name) or (name.lower().endswith(".zip") and len(tables_in(folder / name)) == 1):
        return TableFile(name, f"{stem(name)}.csv")
    return None


def _place(files: Files, found: TableFile) -> None:
    role = usual(found.stem)
    if found.is_rare and (role is None or not _is_table(files.folder / found.file)):
        return
    if role is None:
        known = next((other for other in files.others if other.plain == found.plain), None)
        if known is None:
            files.others.append(found)
        elif known.packs(found):
            files.copies.append(found.file)
        return
    first = files.roles.setdefault(role, found)
    if first is found:
        return
    are_equal = filecmp.cmp(files.folder / first.file, files.folder / found.file, shallow=False)
    if are_equal or found.is_rare or first.packs(found):
        files.copies.append(found.file)
    else:
        message = f"both {first.file} and {found.file} can be the {ROLES[role]}"
        raise Refused(message, "rename or move one of them")


def _is_table(path: Path) -> bool:
    """Whether a file that is rarely a table is one: a JSON list, or a text with several columns."""
    from . import formats

    table = unless_refused(formats.read, path)
    return table is not None and (table.format != "text" or len(table.names) > 1)


def _fill(files: Files, are_all: bool) -> None:
    """Gives a role that no table has to the one table whose name is the most likely; that of the training table to a
    table that is alone in its folder."""
    for role in ROLES:
        ranks = {other: rank[1] for other in files.others if (rank := likely(other.stem)) and rank[0] == role}
        best = [other for other, rank in ranks.items() if rank == min(ranks.values())]
        if role not in files.roles and len(best) == 1:
            files.roles[role] = best[0]
            files.others.remove(best[0])
    if are_all and not files.roles and len(files.others) == 1:
        files.roles["train"] = TableFile(files.others.pop().file, "train.csv")


def walk(folder: Path) -> Iterator[Path]:
    """All files but hidden ones and those of runs, without following a link back."""
    seen = set[tuple[int, int]]()
    for at, folders, names in os.walk(folder, followlinks=True):
        here = os.stat(at)
        is_known = (here.st_dev, here.st_ino) in seen or (at != str(folder) and "journal.db" in names)
        seen.add((here.st_dev, here.st_ino))
        folders[:] = [] if is_known else sorted(name for name in folders if not name.startswith("."))
        for name in [] if is_known else sorted(names):
            if not name.startswith(".") and os.path.isfile(os.path.join(at, name)):
                yield Path(at, name)


def link(folder: Path, into: Path, left_out: Iterable[str]) -> None:
    """Fills `into` with links to the data in `folder`. Folders that contain only data are linked as a whole; hidden
    files, folders of runs and links that lead back are left out."""
    real, left_out = folder.resolve(), set(left_out)
    into.mkdir(parents=True, exist_ok=True)
    for entry in sorted(real.iterdir()):
        if entry.name not in left_out:
            _link(entry, into / entry.name, (real,))


def _link(entry: Path, into: Path, above: tuple[Path, ...]) -> None:
    if entry.name.startswith(".") or not entry.exists() or _is_left_out(entry, above):
        return
    if _is_whole(entry, above):
        into.parent.mkdir(parents=True, exist_ok=True)
        into.symlink_to(entry)
        return
    for inner in sorted(entry.iterdir()):
        _link(inner, into / inner.name, (*above, entry.resolve()))


def _is_left_out(entry: Path, above: tuple[Path, ...]) -> bool:
    if not entry.is_dir():
        return False
    is_run = any((entry / name).exists() for name in RUN)
    return is_run or len(above) > MAX_DEPTH or any(one.is_relative_to(entry.resolve()) for one in above)


def _is_whole(entry: Path, above: tuple[Path, ...]) -> bool:
    """Whether nothing below is left out."""
    if not entry.is_dir():
        return True
    with os.scandir(entry) as found:
        folders = [Path(one.path) for one in found if one.is_dir()]
    above = (*above, entry.resolve())
    return not any(_is_left_out(one, above) for one in folders) and all(_is_whole(one, above) for one in folders)
