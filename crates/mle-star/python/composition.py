"""Ensemble selection: the predictions of several solutions, combined by weights.

Each member is a complete script. It runs in a folder of its own, with the same input. The weights were chosen greedily
on the predictions for validation rows. The combination itself needs only the standard library.
"""

import contextlib
import csv
import functools
import io
import json
import math
import os
import re
import shutil
import sys
import tempfile
import types

ID = None
BY = "mean"
# MEMBERS

# A table is its columns by their names, with cells as text.
Table = dict[str, list[str]]

FILES = ["submission.csv", "validation_predictions.csv"]
SCORES = ["submission_class_scores.csv", "validation_class_scores.csv"]
# Where there is an empty folder for them, the fitted models of the members are kept.
KEEPS_MODEL = os.path.isdir(os.path.join("final", "model")) and not os.listdir(os.path.join("final", "model"))
csv.field_size_limit(sys.maxsize)


def predictions_of(member) -> dict[str, Table]:
    """Runs a member and returns the tables that it wrote, as far as they are there."""
    home, model = os.getcwd(), os.path.join("final", "model")
    with tempfile.TemporaryDirectory(dir=home, ignore_cleanup_errors=True) as folder:
        os.symlink(os.path.join(home, "input"), os.path.join(folder, "input"))
        os.makedirs(os.path.join(folder, model if KEEPS_MODEL else "final"))
        # As if it ran by hand: it finds files beside itself, and libraries that start processes or store objects find its
        # functions and classes in the main module. Its lines have the numbers that they have here.
        script = os.path.join(folder, f"{member.__name__}.py")
        text = "\n" * (member.__code__.co_firstlineno + 1) + member()
        with open(script, "w", encoding="utf-8") as file:
            file.write(text)
        main, own = types.ModuleType("__main__"), (sys.modules["__main__"], sys.argv)
        # What it stores knows its functions by the name of the script, not by this folder.
        main.__file__ = script
        sys.modules["__main__"], sys.argv = main, [script]
        os.chdir(folder)
        try:
            # The scores of members are not the score of the ensemble.
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(text, os.path.basename(script), "exec"), main.__dict__)
        except SystemExit as end:
            if end.code:
                raise
        finally:
            os.chdir(home)
            sys.modules["__main__"], sys.argv = own
        kept, predict = os.path.join(home, model, member.__name__), os.path.join(folder, "final", "predict.py")
        if KEEPS_MODEL and os.path.exists(predict):
            # With a script of its own, which looks for the folder beside it.
            os.mkdir(kept)
            shutil.move(predict, kept)
            shutil.move(os.path.join(folder, model), os.path.join(kept, "model"))
        elif KEEPS_MODEL and os.listdir(os.path.join(folder, model)):
            shutil.move(os.path.join(folder, model), kept)
        files = {name: os.path.join(folder, "final", name) for name in FILES + SCORES}
        return {name: table_of(file) for name, file in files.items() if os.path.exists(file)}


def table_of(file: str) -> Table:
    with open(file, newline="", encoding="utf-8-sig") as lines:
        header, *rows = (row for row in csv.reader(lines) if row)
    columns = zip(*rows, strict=True) if rows else [()] * len(header)
    return {name.strip(): list(column) for name, column in zip(header, columns, strict=True)}


def combined(tables: list[Table], weights: list[float]) -> Table:
    """The weighted mean of numbers, or the labels with the largest weights, in the rows of the first table."""
    first, tables = tables[0], in_rows_of(tables[0], tables)
    made = dict(first)
    for column in predicted(first):
        values = [table[column] for table in tables]
        if any(value != values[0] for value in values):
            if BY.startswith("guesses"):
                made[column] = guessed(values, weights)
            else:
                made[column] = voted(values, weights) if BY in ("votes", "sets") else mean(values, weights)
    return made


def decided(first: Table, scores: list[Table], weights: list[float]) -> Table:
    """The class with the largest weighted score, in the rows of the first table of predictions."""
    # Without an ID, the first of two columns names the row.
    column = predicted(first)[-1]
    tables = in_rows_of(first, scores)
    # The first column names the row.
    classes = list(scores[0])[1:]
    sums = [mean([table[name] for table in tables], weights) for name in classes]
    largest = [max(range(len(classes)), key=row.__getitem__) for row in zip(*sums)]
    return {**first, column: [classes[place] for place in largest]}


def predicted(table: Table) -> list[str]:
    return [name for name in table if name != ID]


def in_rows_of(first: Table, tables: list[Table]) -> list[Table]:
    """The tables with their rows in the order of the first one."""
    if ID is None:
        return tables
    wanted = [form(name) for name in first[ID]]
    ordered = []
    for table in tables:
        places = {form(name): place for place, name in enumerate(table[ID])}
        if len(places) != len(table[ID]) or len(table[ID]) != len(wanted):
            raise ValueError(f"a member has {len(table[ID])} rows with {len(places)} names, the first one {len(wanted)}")
        order = [places[name] for name in wanted]
        ordered.append({name: [column[place] for place in order] for name, column in table.items()})
    return ordered


@functools.lru_cache(maxsize=1 << 16)
def form(text: str) -> str:
    """The one form of equal row names and labels, such as `7`, ` 7.0` and `007`."""
    text = text.strip()
    if number := re.fullmatch(r"([+-]?)0*([0-9]+)(\.0*)?", text):
        return number[2] if number[1] != "-" or number[2] == "0" else f"-{number[2]}"
    return text.lower() if text.lower() in ("true", "false") else text


def mean(values: list[list[str]], weights: list[float]) -> list[float]:
    return [math.fsum(float(value) * weight for value, weight in zip(row, weights)) for row in zip(*values)]


def voted(values: list[list[str]], weights: list[float]) -> list[str]:
    """In each row the label with the largest weight, the first table's of equal ones."""
    labels = []
    for row in zip(*values):
        sums: dict[str, float] = {}
        for label, weight in zip(row, weights):
            sums[vote(label)] = sums.get(vote(label), 0.0) + weight
        most = max(sums, key=sums.__getitem__)
        labels.append(next(label for label in row if vote(label) == most))
    return labels


def vote(label: str) -> str:
    """What equal votes have in common: labels their form, sets their labels in any order."""
    return " ".join(sorted({form(part) for part in re.split(r"[\s,;|]+", label) if part})) if BY == "sets" else form(label)


def guessed(values: list[list[str]], weights: list[float]) -> list[str]:
    """In each row the guesses with the largest weights: the second guess of a table has half of its weight, and so on."""
    most = int(BY.split()[1])
    separator = next((mark for mark in "|;," if any(mark in cell for column in values for cell in column)), " ")
    cells = []
    for row in zip(*values):
        sums: dict[str, float] = {}
        names: dict[str, str] = {}
        for cell, weight in zip(row, weights):
            # Tables may write equal labels in different forms.
            parts = cell.split() if separator == " " else cell.split(separator)
            guesses = [part.strip() for part in parts if part.strip()]
            for place, guess in enumerate(dict.fromkeys(map(form, guesses))):
                sums[guess] = sums.get(guess, 0.0) + weight / (place + 1)
            for guess in guesses:
                names.setdefault(form(guess), guess)
        best = sorted(sums, key=lambda guess: -sums[guess])[:most]
        cells.append(separator.join(names[guess] for guess in best))
    return cells


weights = [weight for _, weight in MEMBERS]
members = [predictions_of(member) for member, _ in MEMBERS]
os.makedirs("final", exist_ok=True)
for name, scores in zip(FILES, SCORES):
    # The submission is needed; predictions for validation rows are combined if all members left them.
    if name != FILES[0] and not all(name in files for files in members):
        continue
    tables = [files[name] for files in members]
    if BY == "class_scores":
        table = decided(tables[0], [files[scores] for files in members], weights)
    else:
        table = combined(tables, weights)
    with open(os.path.join("final", name), "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(table)
        writer.writerows(zip(*table.values(), strict=True))
if KEEPS_MODEL:
    # Together they are a model if each of them is one.
    kept = {"id": ID, "by": BY, "members": [{"folder": member.__name__, "weight": weight} for member, weight in MEMBERS]}
    with open(os.path.join("final", "model", "members.json"), "w", encoding="utf-8") as file:
        json.dump(kept, file)
print(f"Combined the predictions of {len(MEMBERS)} solutions.")
