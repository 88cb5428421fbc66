"""Predicts rows with the fitted model in `model/`.

    python predict.py NEW OUT

NEW is a CSV file with the columns of the test table, OUT becomes one with the columns of the submission, in the order of the
rows. This needs the libraries in requirements.txt and nothing else. Rows are predicted in blocks, so that memory does not grow
with their number.
"""

import csv
import functools
import hashlib
import importlib
import io
import itertools
import json
import math
import os
import pickle
import re
import sys
import tempfile
import time
import types

# Cells may hold whole texts.
csv.field_size_limit(2**31 - 1)

# COMBINATION

AT_ONCE = 50_000
# The scores from which the labels of a script follow.
SCORES = "class_scores.csv"
HERE = os.path.dirname(os.path.abspath(__file__))
MODEL = os.path.join(HERE, "model")


def stop(message, hint):
    print(f"error: {message}\nhint: {hint}", file=sys.stderr)
    end = SystemExit(2)
    end.message = message
    raise end


def checked():
    """The record of the model, whose files are unchanged."""
    with open(os.path.join(HERE, "model.json"), encoding="utf-8") as file:
        record = json.load(file)
    for name, digest in record["files"].items():
        path = os.path.join(MODEL, *name.split("/"))
        if not os.path.isfile(path):
            stop(f"the file {name} of the model is missing", "restore the folder from a copy")
        with open(path, "rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != digest:
                stop(f"the file {name} of the model has changed since it was made", "restore the folder from a copy")
    made, now = record["python"].split(".")[:2], [str(part) for part in sys.version_info[:2]]
    if made != now:
        stop(f"the model was made with Python {'.'.join(made)}, and this is {'.'.join(now)}", f"use Python {'.'.join(made)}")
    return record


class Loader(pickle.Unpickler):
    """Reads boosters from the files of their libraries, beside the file with everything else."""

    def __init__(self, folder):
        self.folder, self.file = folder, open(os.path.join(folder, "model.pickle"), "rb")
        super().__init__(self.file)

    def persistent_load(self, found):
        library, kind, name = found
        path = os.path.join(self.folder, name)
        if library == "catboost":
            import catboost

            return getattr(catboost, kind)().load_model(path)
        return getattr(__import__(library), kind)(model_file=path)


def loaded(folder):
    """What reads rows, and what finds the answers for them."""
    loader = Loader(folder)
    with loader.file:
        return loader.load()


def as_table(frame):
    """The columns of a frame with cells as text, as they are in a CSV file."""
    text = frame.to_csv(index=False)
    header, *rows = csv.reader(io.StringIO(text))
    return {name: list(column) for name, column in zip(header, zip(*rows, strict=True), strict=True)}


def blocks(parts, weights):
    """The answers of the weighted members, a table for each block of rows."""
    for found in zip(*parts, strict=True):
        tables = [table for table, _ in found]
        if len(found) == 1:
            yield tables[0]
        elif BY == "class_scores":
            names = {name: column for name, column in tables[0].items() if name == ID}
            names = names or {"row": list(range(len(next(iter(tables[0].values())))))}
            yield decided(tables[0], [{**names, **scores} for _, scores in found], weights)
        else:
            yield combined(tables, weights)


def answers_of(member, new):
    """The answers of a member for each block of rows: a table, and the scores of the classes if it has them."""
    read, answers = member
    for rows in read(new, AT_ONCE):
        table, scores = answers(rows)
        yield as_table(table), None if scores is None else as_table(scores)


def ufunc(name):
    """A function of numpy or scipy that a script imported. Objects of its kind do not know their module, so pickle stores them as
    names of the main module (`__mp_main__`) if it finds them there first."""
    for library in ("numpy", "scipy.special"):
        try:
            found = getattr(importlib.import_module(library), name)
        except (ImportError, AttributeError):
            continue
        if type(found).__name__ == "ufunc":
            return found
    raise AttributeError(f"module '__main__' has no attribute {name!r}")


def run_script(script):
    """Runs a script as if by hand, but for the names of `ufunc`, which its main module has, too."""
    main, names = types.ModuleType("__main__"), ("__main__", "__mp_main__")
    main.__file__, main.__getattr__ = script, ufunc
    own = {name: sys.modules[name] for name in names if name in sys.modules}
    sys.modules.update(dict.fromkeys(names, main))
    try:
        with open(script, "rb") as file:
            exec(compile(file.read(), script, "exec"), main.__dict__)
    finally:
        for name in names:
            sys.modules.pop(name, None)
        sys.modules.update(own)


def by_script(record, folder, new):
    """The answers of the script that was written with the model in this folder, as those of other members."""
    script = os.path.join(folder, "predict.py")
    sys.dont_write_bytecode = True
    with tempfile.TemporaryDirectory() as work, open(new, newline="", encoding="utf-8-sig") as lines:
        rows = csv.reader(lines)
        header = next(rows)
        places = [header.index(name) for name in record["columns"]]
        given, found = os.path.join(work, "new.csv"), os.path.join(work, "out.csv")
        while block := [[row[place] for place in places] for row in itertools.islice(filter(None, rows), AT_ONCE)]:
            with open(given, "w", newline="", encoding="utf-8") as file:
                csv.writer(file, lineterminator="\n").writerows([record["columns"], *block])
            home, arguments, paths = os.getcwd(), sys.argv, sys.path[:]
            sys.argv, sys.path[:0] = [script, given, found], [folder]
            os.chdir(folder)
            try:
                run_script(script)
            except SystemExit as end:
                if end.code:
                    stop(f"the model's own predict.py ended with exit code {end.code}", "look at what it prints")
            finally:
                os.chdir(home)
                sys.argv, sys.path[:] = arguments, paths
            if not os.path.isfile(found):
                stop("the model's own predict.py did not write the file that it was given", "look at model/predict.py")
            table, scores = table_of(found), None
            os.remove(found)
            if missing := [name for name in record["header"] if name not in table]:
                stop(f'the model\'s own predict.py wrote no column "{missing[0]}"', "look at model/predict.py")
            names = [form(row[record["columns"].index(ID)]) for row in block] if ID in record["columns"] else None
            same_rows("rows", table, block, names)
            if BY == "class_scores":
                file = os.path.join(work, SCORES)
                if not os.path.isfile(file):
                    stop(f"the model's own predict.py wrote no {SCORES} beside its predictions", "look at model/predict.py")
                scores = table_of(file)
                os.remove(file)
                same_rows("rows of class scores", scores, block, names)
                # The first column names the row.
                del scores[next(iter(scores))]
            yield {name: table[name] for name in record["header"]}, scores


def same_rows(what, table, block, names):
    """Stops unless the table has the rows of this block, whose names are these if they have some."""
    first = next(iter(table.values()))
    found = table.get(ID) if names else None
    if len(first) != len(block) or (found and [form(name) for name in found] != names):
        stop(f"the model's own predict.py wrote {len(first)} {what} that are not the {len(block)} rows it was given", "look at model/predict.py")


def table_of(file):
    with open(file, newline="", encoding="utf-8-sig") as lines:
        header, *rows = (row for row in csv.reader(lines) if row)
    columns = zip(*rows, strict=True) if rows else [()] * len(header)
    return {name.strip(): list(column) for name, column in zip(header, columns, strict=True)}


def main(new, out):
    """Predicts the rows of a file."""
    record = checked()
    global ID, BY
    ID, BY = record["id"], record["by"]
    with open(new, newline="", encoding="utf-8-sig") as lines:
        header = next(csv.reader(lines), [])
    for name in record["columns"]:
        if name not in header:
            stop(f'{os.path.basename(new)} has no column "{name}"', f"the columns are {', '.join(record['columns'])}")
    parts = []
    for member in record["members"]:
        folder = os.path.normpath(os.path.join(MODEL, *member["folder"].split("/")))
        if os.path.isfile(os.path.join(folder, "predict.py")):
            parts.append(by_script(record, folder, os.path.abspath(new)))
        else:
            parts.append(answers_of(loaded(folder), new))
    began, rows = time.perf_counter(), 0
    found = blocks(parts, [member["weight"] for member in record["members"]])
    with open(out, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(record["header"])
        for table in found:
            columns = [table[name] for name in record["header"]]
            writer.writerows(zip(*columns, strict=True))
            rows += len(columns[0])
    print(f"{rows} rows predicted in {time.perf_counter() - began:.6f} s")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        stop("two files are needed", "python predict.py NEW OUT")
    main(*sys.argv[1:])
