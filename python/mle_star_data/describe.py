"""What agents are told of the data, in a few lines of Markdown: the tables, the target, the columns and the other files
of a folder as scripts see it, in which held-out rows are rows of the test table without labels."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from . import links, other_files, pairs, relations, time_section
from . import markdown as md
from .aliases import Facts, Numbers
from .column_kinds import INSPECTED_ROWS, NUMBERS
from .facts import list_files
from .frames import Column, Table, read
from .links import Link
from .relations import Data
from .tables import Refused

MAX_CHARS = 7_500
"""The greatest number of characters. The section of the columns gets what the others leave of it."""
TABLES, TARGETS, STRONGEST, TIMES = 900, 1_200, 2_400, 1_400
FIRST_ROWS, AUXILIARY, FILES, ONLY_FILES = 1_100, 900, 1_000, 4_000
NAMES, OF_TABLE, IN_DETAIL, OTHERS, ROWS_SHOWN = 8, 12, 40, 500, 5
NOTABLE, SELDOM, SHOWN_LEVELS, ALL_LEVELS, SHORT_LEVELS = 0.02, 100, 4, 12, 160
"""Shares of missing values that differ by less are said to be equal. Values are examples if none is in more than one of
so many rows; else the most frequent ones are shown, or all of a few short ones."""
SERIES, OF_SERIES = 5, 3
"""So many columns with the same name before a number are a series, of which a wide table shows the first ones."""
KINDS = ("integer", "number", "boolean", "date", "category", "text", "empty")
ROLES = {
    "id": ", row ID",
    "later": ", later in test",
    "others": ", other groups in test",
    "time": ", time of the row",
    "group": ", group, no feature",
    "weight": ", weight of the row, no feature",
    "ignored": ", no feature",
    "feature": "",
}
"""In the order in which columns are described."""
CLASSES_WITHOUT_ROWS = (
    "together they get the probability of one row more, 1 / (training rows + 1), and the others the rest"
)
COUNTED, SMALL, FREQUENT, MAX_CLASSES, COMPARED, WHOLE = 1_000, 10, 20, 30, 50, 10
"""Labels that are counted; rows of a small class; one in so many rows makes a number frequent; numbers with more values
are no classes; classes whose shares are compared; more whole numbers are
compared by their mean."""
EFFECT_ROWS, EFFECT_COLUMNS, TOLD, NOTABLE_SHARE = 10_000, 500, 8, 0.001
"""The fewest rows and the most columns in which it is looked for what tells the target; the columns that are told, and
the least share."""
NAMED, WITHOUT, BLOCKS = 30, 600, 100
"""Columns without an effect that are named, and the characters for them; stretches of time with rows that may depend on
each other."""


def describe(folder: str, told: Mapping[str, Any] | None, instead: Mapping[str, str] | None = None) -> str:
    """The text. `told` is what `relations.open_data` takes, None without a training table; `instead` has, for tables of
    the folder, the file of the user's that each stands for."""
    try:
        if told is not None and told.get("train"):
            return _Description(relations.open_data(folder, told), instead or {}).text()[:MAX_CHARS]
        names = list_files(Path(folder))
    except Refused as error:
        return f"The {'tables' if told else 'data'} cannot be read: {md.plain(str(error), 200)}."
    tables = [name for name in names if "/" not in name and name.lower().endswith(".csv")]
    lines = [_alone(Path(folder), name) for name in tables]
    others = [name for name in names if name not in tables]
    parts = [md.section("Tables", lines, MAX_CHARS // 3), other_files.section(Path(folder), others, [], ONLY_FILES)]
    return "\n\n".join(part for part in parts if part)[:MAX_CHARS]


def _alone(folder: Path, name: str) -> str:
    """A table of a folder without a training table."""
    try:
        table = read(folder / name, name)
    except Refused as error:
        return f"- {md.path(name)} cannot be read: {md.plain(str(error), 200)}."
    columns = [_with_examples(one) for one in table.facts.values()]
    return f"- {md.path(name)}: {md.counted(table.rows, 'row')}; columns {md.listed(columns, 3 * NAMES)}"


def _with_examples(one: Facts) -> str:
    values = [md.value(value) for value, _ in one["top_values"][:2]]
    is_constant = len(values) == 1 and not one["missing"]
    told = f"{one['kind']}, such as {', '.join(values)}" if values else one["kind"]
    told = f"always {values[0]}" if is_constant else told
    return f"{md.name(one['name'])} ({told})"


@dataclass(frozen=True)
class _Description:
    data: Data
    instead: Mapping[str, str]

    @property
    def train(self) -> Table:
        return self.data.folder.train

    @property
    def test(self) -> Table | None:
        return self.data.folder.test

    @cached_property
    def targets(self) -> list[str]:
        """The columns to predict, and further ones that the sample asks for."""
        folder = self.data.folder
        test = set(self.test.names if self.test else ())
        asked = set(folder.sample_columns()) - {self.data.facts.get("id")}
        return [name for name in self.train.names if name == self.data.target or (name in asked and name not in test)]

    @cached_property
    def inspected(self) -> tuple[Table, Table | None]:
        """The rows of the training and the test table that columns are described from."""

        def part(table: Table) -> Table:
            if table.rows <= INSPECTED_ROWS:
                return table
            return relations.table_of_frame(table, table.source.inspected, table.facts)

        return part(self.train), self.test and part(self.test)

    def text(self) -> str:
        told = {one: _Labels(self.train.column(one)) for one in self.targets}
        labels = told.get(self.data.target or "")
        before = [
            self.tables(),
            self.target(list(told.values())),
            self.strongest(labels) if labels else "",
            time_section.section(self.data, TIMES),
        ]
        first_rows = self.train.source.inspected.head(ROWS_SHOWN)
        unreadable = [
            name for name in self.data.folder.other_files if "/" not in name and name.lower().endswith(".csv")
        ]
        packed = {f"{table.file}{end}" for table in self.data.folder.tables() for end in (".zip", ".gz", ".zst")}
        others = [name for name in self.data.folder.other_files if name not in packed and name not in unreadable]
        after = [
            self.first_rows(first_rows),
            self.auxiliary(unreadable),
            other_files.section(self.data.folder.path, others, self.values_of_rows(first_rows), FILES),
        ]
        used = sum(len(section) + 2 for section in before + after)
        sections = [*before, self.columns(max(MAX_CHARS - used, 0)), *after]
        return "\n\n".join(section for section in sections if section)

    def values_of_rows(self, first_rows: pl.DataFrame) -> list[tuple[str, str]]:
        """The values of first rows that may name files, with their columns, in which values hardly repeat."""
        least = min(self.train.rows, INSPECTED_ROWS) * 9
        may_name = [name for name, one in self.train.facts.items() if one["distinct"] * 10 >= least]
        return [(name, value.strip()) for name in may_name for value in first_rows[name] if value.strip()]

    # ------------------------------------------------------------ tables

    def tables(self) -> str:
        def size(table: Table) -> str:
            given = self.instead.get(table.file)
            given = f" (`./input` has it instead of {md.path(given)})" if given else ""
            columns = md.counted(len(table.names), "column")
            return f"- {md.path(table.file)}{given}: {md.counted(table.rows, 'row')}, {columns}"

        sample = self.data.folder.sample
        lines = [size(table) for table in (self.train, self.test) if table]
        if sample:
            columns = [_with_examples(one) for one in sample.facts.values()]
            lines.append(f"{size(sample)}: {md.listed(columns, NAMES)}")
        for table, other in ((self.train, self.test), (self.test, self.train)):
            known = {*self.targets, *(other.names if other else ())}
            only = [md.name(name) for name in table.names if name not in known] if table and other else []
            if table and only:
                lines.append(f"- Only in {md.path(table.file)}: {md.listed(only, NAMES)}")
        return md.section("Tables", [*lines, *self.difference()], TABLES)

    def difference(self) -> Iterator[str]:
        """How the test rows differ. The reason of the split is no help: it tells of all labelled rows."""
        split = self.data.split
        if split.get("column") is None or split["kind"] not in ("time", "groups"):
            return
        column, is_given = md.name(split["column"]), split.get("given", False)
        if series := split.get("series"):
            of = " and ".join(f"`{name}`" for name in series)
            yield f"- The test rows are later than the training rows of their series by {of}, by {column}"
        elif split["kind"] == "time":
            what = "Rows to predict count as" if is_given else "The test rows are"
            yield f"- {what} later than the training rows, by {column}"
        else:
            what = "Rows of a group belong together" if is_given else "The test rows belong to other groups"
            yield f"- {what}, by {column}"

    def target(self, told: Sequence[_Labels]) -> str:
        lines = [f"- {labels.line()}" for labels in told]
        folder, target = self.data.folder, self.data.target
        id = self.data.facts.get("id")
        asked = [name for name in folder.sample_columns() if name != id and not folder.in_test(name)]
        if target and folder.sample and 2 <= self.train.column(target).distinct < len(asked):
            found = folder.class_columns(target, asked) or []
            names = [md.name(one["column"]) for one in found if one["class"] is None]
            if names:
                sample, listed = md.path(folder.sample.file), md.listed(names, NAMES)
                lines.append(f"- No training row has these classes of {sample}: {listed}; {CLASSES_WITHOUT_ROWS}.")
        return md.section("Target", lines, TARGETS)

    def strongest(self, labels: _Labels) -> str:
        """The columns that tell most of the target, each alone, those without an effect, and the pairs of columns that
        tell more together."""
        train, test, target = self.inspected[0], self.test, labels.column.name
        values = labels.outcomes(train.column(target))
        names = [name for name in train.names if name not in self.targets and (test is None or name in test)]
        names = [name for name in names if self.data.role(name) == "feature" and train.facts[name]["kind"] != "empty"]
        if values is None or not names:
            return ""
        is_known, outcomes = values
        looked, found = names[:EFFECT_COLUMNS], {}
        most = max(EFFECT_ROWS, pairs.CELLS // len(looked))
        rows = np.sort(np.random.default_rng(0).permutation(len(outcomes[0]))[:most])
        kept = [name for name in train.names if name in {*looked, target, self.data.dependent}]
        labelled = train.source.inspected.select(kept).filter(is_known)
        sampled = relations.table_of_frame(train, labelled[rows], train.facts)
        for name in looked:
            groups = relations.group_codes(sampled.column(name), train.facts[name])
            found[name] = relations.explained_variance([one[rows] for one in outcomes], groups, len(names))
        looked.sort(key=lambda name: -found[name])
        best = [name for name in looked if found[name] >= NOTABLE_SHARE]
        together = self.pairs(labels, sampled, looked)
        told = ", ".join(f"{md.name(name)} {md.percent(found[name])}" for name in best[:TOLD])
        told = told or f"none of {len(names):,} tells more than chance"
        more = f", and {len(best) - TOLD:,} more, each weaker" if len(best) > TOLD else ""
        what = f"The part of the variance of {md.name(target)} that each explains alone, beyond chance"
        lines = [f"{what}: {told}{more}."]
        silent = {name for name in looked if name not in best}
        paired = {name for pair in together for name in pair.columns}
        if best and (without := [md.name(name) for name in names if name in silent - paired]):
            few = int(np.searchsorted(np.cumsum([len(name) for name in without[:NAMED]]), WITHOUT))
            lines.append(f"No effect is visible of {md.listed(without, few)}.")
        return md.section("Target by column", [*lines, *labels.of_pairs(together, silent)], STRONGEST)

    def pairs(self, labels: _Labels, rows: Table, names: Sequence[str]) -> list[pairs.Pair]:
        """The pairs of columns that tell more together; none of series over time, or if there are several targets."""
        if len(self.targets) > 1 or self.data.series:
            return []
        names = [name for name in names if rows.kind(name) != "text"][: pairs.COLUMNS]
        outcomes = min(len(labels.classes) or 1, pairs.CLASSES)
        every = math.ceil(rows.rows * len(names) * outcomes / pairs.CELLS) or 1
        rows = relations.table_of_frame(rows, rows.source.inspected.gather_every(every), rows.facts)
        by, units = self.data.dependent, np.arange(rows.rows)
        if by is not None and by == self.data.later_in:
            column = rows.column(by)
            units[np.argsort(column.times if column.kind == "date" else column.numbers)] = units * BLOCKS // len(units)
        elif by is not None and by in rows:
            units = relations.codes(rows.column(by).text)
        try:
            target = rows.column(labels.column.name)
            values = [target.numbers] if labels.is_amount else labels.of_each_class(target.values)[:outcomes]
            return pairs.find([rows.column(name) for name in names], values, not labels.is_amount, units)
        except Exception:  # The other facts do not depend on it.
            return []

    def first_rows(self, rows: pl.DataFrame) -> str:
        """With as many columns as fit; the targets are among them."""
        left, chosen = FIRST_ROWS - 100 - rows.height - 2, {}
        for name in [*self.targets, *(name for name in self.train.names if name not in self.targets)]:
            cells = [f" {md.plain(cell[:400], 30)} |" for cell in rows[name]]
            column = [f" {md.plain(name, 30)} |", "---|", *cells]
            left -= sum(map(len, column))
            if left < 0:
                break
            chosen[name] = column
        columns = [chosen[name] for name in self.train.names if name in chosen]
        lines = ["|" + "".join(cells) for cells in zip(*columns, strict=True)]
        few, all = len(columns), len(self.train.names)
        of = f", {few} of {all} columns" if few < all else ""
        return md.section(f"First rows of {md.path(self.train.file)}{of}", lines, FIRST_ROWS)

    # ------------------------------------------------------------ columns

    @cached_property
    def in_detail(self) -> list[str]:
        """The columns to describe in detail, the most interesting first. Targets have their own section."""
        facts, targets = self.train.facts, set(self.targets)
        features = [name for name in self.train.names if name not in targets]
        if len(features) > IN_DETAIL:
            sizes, seen = Counter(_series(facts[name]) for name in features), Counter[tuple[str, str]]()
            kept = []
            for name in features:
                seen[_series(facts[name])] += 1
                if seen[_series(facts[name])] <= OF_SERIES or sizes[_series(facts[name])] < SERIES:
                    kept.append(name)
            features = kept
        is_wide = len(features) > IN_DETAIL
        common = {name: is_wide and facts[name]["kind"] not in ("date", "text", "category") for name in features}
        return sorted(features, key=lambda name: (list(ROLES).index(self.data.role(name)), common[name]))[:IN_DETAIL]

    def columns(self, room: int) -> str:
        title = f"## Columns of {md.path(self.train.file)}\n\n"
        head = "| column | type | missing | distinct | values |\n|---|---|---|---|---|\n"
        new = {name: found for name in self.in_detail if (found := self.unseen(name))}
        legend = "Values: minimum / quartiles / maximum, or the most frequent ones."
        legend += ' "new": test rows whose value no training row has.' if new else ""
        sampled = self.inspected[0].rows
        legend += f" Computed from {sampled:,} rows." if sampled < self.train.rows else ""
        left = room - len(title) - len(head) - len(legend) - 2 - OTHERS
        rows, told = "", set(self.targets)
        for name in self.in_detail:
            row = self.row(name, new.get(name, ""))
            if len(row) > left:
                break
            left -= len(row)
            rows += row
            told.add(name)
        others = [one for name, one in self.train.facts.items() if name not in told]
        table = f"{head}{rows}" if rows else ""
        return f"{title}{legend}\n\n{table}\n{chr(10).join(md.fit(_groups(others), OTHERS))}".rstrip()

    def row(self, name: str, new: str) -> str:
        """A column in one row of the table."""
        train, test = self.inspected
        one, rows = self.train.facts[name], train.rows
        twin = self.test.facts[name] if self.test and name in self.test.facts else None
        missing = md.share(one["missing"], rows)
        if twin and test and abs(twin["missing"] / test.rows - one["missing"] / rows) >= NOTABLE:
            missing += f", test {md.share(twin['missing'], test.rows)}"
        column = train.column(name)
        own, other = _ends(column, one), _ends(test.column(name), one) if twin and test else None
        values = [_values(one, rows, own), _range_in_test(own, other) if other else "", new]
        role, found = ROLES[self.data.role(name)], "; ".join(value for value in values if value)
        return f"| {md.name(name)} | {one['kind']}{role} | {missing} | {one['distinct']:,} | {found} |\n"

    def unseen(self, name: str) -> str:
        """The share of test rows whose value no training row has, of columns whose values repeat."""
        one, test = self.train.facts[name], self.inspected[1]
        filled = min(self.train.rows, INSPECTED_ROWS) - one["missing"]
        times = {"category": 2, "boolean": 2, "integer": 3}.get(one["kind"])
        if times is None or one["distinct"] * times > filled or test is None or name not in test.facts:
            return ""
        values = test.column(name).values.drop_nulls()
        train = self.inspected[0].column(name).values
        new = values.filter(~values.is_in(train.drop_nulls().unique().implode()))
        if len(new) and self.inspected[0].rows < self.train.rows:
            text = self.train.column(name).text
            known = (text.str.strip_chars() if one["padded"] else text).unique()
            new = new.filter(~new.is_in(known.implode()))
        return f"new {md.share(len(new), len(values))}" if len(new) else ""

    # ------------------------------------------------------------ further tables

    def auxiliary(self, unreadable: Sequence[str]) -> str:
        folder, lines = self.data.folder, {}
        found = links.find(folder, self.data.target, self.data.facts.get("id"))
        for at, table in enumerate(folder.auxiliary):
            ways = [self.way(link) + self.not_later(found, link) for link in found if link.table == at]
            joined = ", and ".join(ways) or "no link to another table was found"
            columns = [f"{md.name(name)} {one['kind']}" for name, one in table.facts.items()]
            rows, file = md.counted(table.rows, "row"), md.path(table.file)
            lines[table.file] = f"- {file}: {rows}, {joined}; {md.listed(columns, OF_TABLE)}"
        lines |= {name: _alone(folder.path, name) for name in unreadable}
        return md.section("Auxiliary tables", [lines[name] for name in sorted(lines)], AUXILIARY)

    def way(self, link: Link) -> str:
        """How a table joins, in a few words."""
        table = self.data.folder.auxiliary[link.table]
        to = "its {}" if link.to is not None else "{} of the training table"
        pairs = [(md.name(own), md.name(other)) for own, other in zip(link.own, link.columns, strict=True)]
        on = " and ".join(own if own == other else f"{own} = {to.format(other)}" for own, other in pairs)
        if link.to is not None:
            per_key = "one row per key" if link.unique else "several rows per key"
            return f"joins {md.path(self.data.folder.auxiliary[link.to].file)} on {on} ({per_key})"
        each = md.number(round(table.rows / max(links.keys(table, link.own).n_unique(), 1), 1))
        per_key = "one row per key" if link.unique else f"{each} rows per key on average"
        return f"joins on {on} ({per_key})"

    def not_later(self, found: Sequence[Link], link: Link) -> str:
        """What not to join, in a few words."""
        told = ""
        for cutoff in links.cutoffs(self.data.folder, found, link, self.data.later_in):
            days, keys = int(cutoff.lag + 0.5), " and ".join(map(md.name, cutoff.columns))
            before = f"summarise only those before the {md.name(cutoff.date.column)} of the row"
            told += f"; of the rows with the same {keys}, {before}, "
            told += "since later ones are not known for the test rows as they are for the training rows"
            if days >= 1:
                told += f"; the table ends {days} days before most test rows, "
                told += "so leave out as many days before each training row"
        return told


def _series(one: Facts) -> tuple[str, str]:
    """The kind of a column and its name before the number."""
    return one["kind"], one["name"].rstrip("0123456789")


Ends = tuple[list[float] | None, tuple[str, str] | None]
"""Least value, quartiles and greatest value of a column; its first and its last date."""


def _ends(column: Column, one: Facts) -> Ends:
    if one["kind"] in NUMBERS:
        return quantiles(column.numbers, (0.0, 0.25, 0.5, 0.75, 1.0)), None
    if one["kind"] != "date" or column.kind != "date" or not np.isfinite(column.times).any():
        return None, None
    return None, (column.values[int(np.nanargmin(column.times))], column.values[int(np.nanargmax(column.times))])


def _is_code(one: Facts) -> bool:
    return bool(one["kind"] == "integer" and one["distinct"] <= SHOWN_LEVELS)


def quantiles(numbers: Numbers, shares: Sequence[float]) -> list[float] | None:
    ordered = np.sort(numbers[np.isfinite(numbers)])
    last = len(ordered) - 1
    return [float(ordered[int(share * last + 0.5)]) for share in shares] if last >= 0 else None


def _values(one: Facts, rows: int, ends: Ends) -> str:
    filled, top = rows - one["missing"], one["top_values"][0][1] if one["top_values"] else 0
    if one["kind"] == "empty":
        return ""
    if ends[1]:
        return f"{md.plain(ends[1][0], 30)} to {md.plain(ends[1][1], 30)}"
    if ends[0] and not _is_code(one):
        return " / ".join(map(md.number, ends[0]))
    if one["kind"] == "text":
        return f"{one['mean_length']:.0f} characters on average"
    if not _is_code(one) and (top * SELDOM <= filled or top <= 1):
        return f"such as {', '.join(md.value(value) for value, _ in one['top_values'][:2])}"
    levels = [f"{md.value(value)} {md.share(count, filled)}" for value, count in one["top_values"][:ALL_LEVELS]]
    if one["distinct"] > ALL_LEVELS or sum(len(level) + 2 for level in levels) > SHORT_LEVELS:
        levels = levels[:SHOWN_LEVELS]
    return ", ".join(levels) + (", …" if one["distinct"] > len(levels) else "")


def _range_in_test(train: Ends, test: Ends) -> str:
    """The range in the test table, if it is another one: for dates, and for numbers most of which lie outside that of
    the training table."""
    if train[1] and test[1]:
        return f"test {md.plain(test[1][0], 30)} to {md.plain(test[1][1], 30)}" if train[1] != test[1] else ""
    if train[0] and test[0] and not train[0][0] <= test[0][2] <= train[0][4]:
        return f"test {md.number(test[0][0])} to {md.number(test[0][4])}"
    return ""


def _groups(others: Sequence[Facts]) -> list[str]:
    """The other columns, a line for each series and for the rest of each kind."""
    sizes, groups = Counter(map(_series, others)), defaultdict(list)
    for one in others:
        kind, name = _series(one)
        groups[KINDS.index(kind), name if sizes[kind, name] >= SERIES else ""].append(one)
    lines = []
    for _, columns in sorted(groups.items(), key=lambda group: group[0]):
        names = list(dict.fromkeys(md.name(one["name"]) for one in (columns[0], columns[-1])))
        between = " and " if len(columns) == 2 else " … "
        missing, constant = sum(one["missing"] > 0 for one in columns), sum(one["distinct"] == 1 for one in columns)
        told = f", missing values in {missing:,}" if missing else ", no missing values"
        told = "" if columns[0]["kind"] == "empty" else told
        told += f", {constant} constant" if constant else ""
        number = md.counted(len(columns), f"more {columns[0]['kind']} column")
        lines.append(f"- {number}: {between.join(names)}{told}")
    return lines


# The target


class _Labels:
    """The labels of the training rows."""

    def __init__(self, column: Column) -> None:
        self.column, self.known = column, column.facts
        kind = self.known["kind"]
        self.is_measured = kind == "number" or (kind == "integer" and self.known["distinct"] > MAX_CLASSES)
        # Amounts are told from the rows that are looked at, classes and texts from all.
        values = column.inspected if self.is_measured else column.values
        self.times = column.table.rows / max(len(values), 1)
        filled = values.drop_nulls()
        self.missing = round(values.null_count() * self.times)
        self.rows = column.table.rows - self.missing
        counts = filled.value_counts().sort(["count", filled.name], descending=[True, False])
        self.distinct = counts.height
        self.counts: list[tuple[str, int]] = [
            (str(value), round(rows * self.times)) for value, rows in counts.head(COUNTED).iter_rows()
        ]
        numbers = filled.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()
        self.numbers = numbers[np.isfinite(numbers)]

    def outcomes(self, looked: Column) -> tuple[pl.Series, list[Numbers]] | None:
        """Which of the rows that are looked at have a label; the ranks of their numbers, or what is 1 in the rows of a
        class and 0 elsewhere. None for texts, too many classes, or one label."""
        values = looked.values
        if self.is_amount:
            values = values.cast(pl.Float64, strict=False)
            return values.is_not_null(), [values.drop_nulls().rank().to_numpy()]
        if self.known["kind"] == "text" or not 2 <= self.distinct <= COMPARED:
            return None
        return values.is_not_null(), self.of_each_class(values.drop_nulls())

    @property
    def is_amount(self) -> bool:
        """Whether labels are compared by their mean."""
        return self.is_measured or bool(self.known["kind"] == "integer" and self.distinct > WHOLE)

    @property
    def classes(self) -> list[str]:
        """The most frequent ones first; of two, the seldom one; none of numbers."""
        return [] if self.is_amount else [value for value, _ in self.counts][self.distinct == 2 :]

    def of_each_class(self, values: pl.Series) -> list[Numbers]:
        return [(values == one).cast(pl.Float64).to_numpy() for one in self.classes]

    def of_pairs(self, found: Sequence[pairs.Pair], silent: Collection[str]) -> list[str]:
        """The pairs of columns that tell more together; what `silent` columns tell alone is not visible."""
        if not found:
            return []
        what = f"mean of {md.name(self.column.name)}" if self.is_amount else "share of a class"
        lines = [
            "",
            "Pairs of columns that tell more together than each alone, found in half of the rows. In the other half: "
            f"the {what} there ± standard error, and what the effects of single columns let expect.",
            "",
        ]
        for pair in found:
            of = "" if self.is_amount else f"{md.name(self.column.name)} = {md.value(self.classes[pair.outcome])} "
            times, end = (1.0, "") if self.is_amount else (100.0, "%")
            digits = max(0, 1 - math.ceil(math.log10(times * pair.error)))
            mean, error, expected = (f"{times * one:.{digits}f}" for one in (pair.mean, pair.error, pair.expected))
            alone = [md.name(name) for name in pair.columns if name in silent]
            told = f"; no effect of {' or '.join(alone)} alone is visible" if alone else ""
            rows = md.counted(pair.rows, "row")
            lines.append(f"- {pair.where} ({rows}): {of}{mean}{end} ±{error}, expected {expected}{end}{told}")
        return lines

    def line(self) -> str:
        """The distribution."""
        without = f"; {md.counted(self.missing, 'row')} without a label" if self.missing else ""
        if self.is_measured:
            what = self.of_numbers()
        elif self.known["kind"] == "text":
            length = int(self.column.values.str.len_bytes().sum()) // max(self.rows, 1)
            what = f"free text with {length} characters on average"
        else:
            what = self.of_classes()
        return f"{md.name(self.column.name)} ({md.counted(self.rows, 'row')}{without}): {what}."

    def of_classes(self) -> str:
        told = [f"{md.value(value)} {rows:,} ({md.share(rows, self.rows)})" for value, rows in self.counts]
        small = sum(rows < SMALL for _, rows in self.counts)
        few = f"; {small:,} with fewer than {SMALL} rows" if small else ""
        more = "more than " if self.distinct > len(told) else ""
        return f"{more}{len(told):,} classes: {md.listed(told, OF_TABLE)}{few}"

    def of_numbers(self) -> str:
        at = quantiles(self.numbers, (0.0, 0.01, 0.25, 0.5, 0.75, 0.99, 1.0))
        if at is None:
            return "no numbers"
        ends = zip(("minimum", "1%", "25%", "median", "75%", "99%", "maximum"), at, strict=True)
        told = ", ".join(f"{name} {md.number(value)}" for name, value in ends)
        told += f"; mean {md.number(float(self.numbers.mean()))}"
        told += f"; {self.distinct} distinct values" if self.distinct <= MAX_CLASSES else ""
        value, rows = self.counts[0]
        value = repr(float(value)).removesuffix(".0") if self.known["kind"] == "number" else value
        told += f"; {md.share(rows, self.rows)} are {md.plain(value, 20)}" if rows * FREQUENT >= self.rows else ""
        zeros = round(int((self.numbers == 0).sum()) * self.times)
        told += f"; 0 in {zeros:,} rows" if 0 < zeros * FREQUENT < self.rows else ""
        return told + (f"; from {len(self.numbers):,} rows" if self.times > 1 else "")
