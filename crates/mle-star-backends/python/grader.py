"""Computes a score with a metric file, and scores of parts of the rows or of resampled rows.

`input/` has the metric file, both tables with their rows in the same order, and how often each row counts in each further score.
"""

import importlib.util
import inspect
import json
import math
import os
import signal
import sys
import time
import traceback
import types

import numpy as np
import pandas as pd

with open("input/request.json", encoding="utf-8") as file:
    REQUEST = json.load(file)
FOLDER = os.path.abspath("input/metric")
FILE = os.path.join(FOLDER, "metric.py")
# After so many further scores that there are not, there will be none, unless more are asked for.
TRIES = 5


class Refused(Exception):
    """A sentence about the metric file, with the line that it is about."""

    def __init__(self, text, line=None):
        super().__init__(text)
        self.line = line


def line_of(error):
    """The last line of the metric file, or of a module beside it, that was executed."""
    if isinstance(error, SyntaxError) and error.filename and error.filename.startswith(FOLDER):
        return error.filename, error.lineno
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith(FOLDER)]
    return (frames[-1].filename, frames[-1].lineno) if frames else (FILE, None)


def loaded():
    """The function to call with the true and the predicted table, and the line that defines it."""
    package = types.ModuleType("metric_package")
    package.__path__ = [FOLDER]
    sys.modules[package.__name__] = package
    spec = importlib.util.spec_from_file_location("metric_package.metric", FILE)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    # Modules beside the file may be imported as they are where the user runs it.
    sys.path.append(FOLDER)
    spec.loader.exec_module(module)
    names = [name for name in ("score", "grade") if inspect.isfunction(getattr(module, name, None))]
    if not names:
        raise Refused("has neither score(solution, submission, row_id_column_name) nor grade(submission, answers)")
    function = getattr(module, names[0])
    if names[0] == "score":
        call = lambda truth, predicted: function(truth, predicted, REQUEST["id"])
    else:
        call = lambda truth, predicted: function(predicted, truth)
    return call, function.__code__.co_firstlineno


def read(name):
    """A table; words such as NA are values."""
    return pd.read_csv(f"input/{name}.csv", keep_default_na=False, na_values=[""], low_memory=False)


def number(value, line):
    try:
        value = float(value)
    except (TypeError, ValueError):
        raise Refused(f"returned {value!r:.60}, which is no number", line) from None
    if not math.isfinite(value):
        raise Refused(f"returned {value}, which is no finite number", line)
    return value


def renamed(values, copies):
    """IDs of drawn rows: that of the first copy stays, further ones get new ones."""
    repeated = copies > 0
    if values.dtype.kind in "iuf":
        # All numbers up to the largest must differ from the ones before.
        most = np.iinfo(values.dtype).max if values.dtype.kind in "iu" else 2 ** np.finfo(values.dtype).nmant
        if values.max() < most - len(values):
            values = values.copy()
            values[repeated] = values.max() + np.arange(1, repeated.sum() + 1, dtype=values.dtype)
            return values
    # IDs often begin with what they are about, and end with one of its parts.
    return np.where(repeated, [f"{copy}~{value}" for value, copy in zip(values, copies)], values)


def drawn(table, rows, copies):
    resampled = table.iloc[rows].reset_index(drop=True)
    resampled[REQUEST["id"]] = renamed(resampled[REQUEST["id"]].to_numpy(), copies)
    return resampled


def replicates(call, truth, predicted, line, whole):
    """Scores of parts or of resampled rows, as many as the time allows; None where there is no score."""
    times = np.fromfile("input/draws.bin", dtype=np.uint8).reshape(-1, len(truth))
    scores = resampled_scores(call, truth, predicted, line, times)
    if any(score is not None for score in scores) or times.max(initial=0) <= 1:
        return scores
    # It may refuse other IDs. Drawn rows count once then; their share of all rows makes the spread too small.
    share = 1.0 - math.exp(-1.0)
    factor = math.sqrt(share / (1.0 - share))
    scores = resampled_scores(call, truth, predicted, line, np.minimum(times, 1))
    return [None if score is None else whole + (score - whole) * factor for score in scores]


def resampled_scores(call, truth, predicted, line, times):
    began, scores = time.monotonic(), []
    for counts in times:
        if len(scores) >= REQUEST["fewest"]:
            if len(scores) >= TRIES and all(score is None for score in scores):
                break
            if time.monotonic() - began > REQUEST["seconds"]:
                break
        rows = np.repeat(np.arange(len(truth)), counts)
        # 0 for the first copy of a row, 1 for the second, and so on.
        copies = np.arange(len(rows)) - np.repeat(np.cumsum(counts, dtype=np.int64) - counts, counts)
        try:
            scores.append(number(call(drawn(truth, rows, copies), drawn(predicted, rows, copies)), line))
        except Exception:
            scores.append(None)
    return scores


def sentence(error):
    if isinstance(error, ModuleNotFoundError) and error.name:
        return f"imports {error.name}, which the Python interpreter lacks"
    text = " ".join(str(error).split())
    return f"raised {type(error).__name__}" + (f": {text}" if text else "")


def result():
    try:
        truth, predicted = read("truth"), read("predictions")
        # Ends the process, whatever it is doing.
        signal.alarm(REQUEST["limit"])
        call, line = loaded()
        began = time.monotonic()
        score = number(call(truth.copy(), predicted.copy()), line)
        signal.alarm(0)
        seconds = time.monotonic() - began
        return {"score": score, "seconds": seconds, "replicates": replicates(call, truth, predicted, line, score)}
    except Refused as error:
        return {"error": str(error), "file": "metric.py", "line": error.line}
    except BaseException as error:
        file, line = line_of(error)
        return {"error": sentence(error), "file": os.path.basename(file), "line": line}


answer = result()
with open("final/score.json", "w", encoding="utf-8") as file:
    json.dump(answer, file)
