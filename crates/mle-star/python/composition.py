"""Ensemble selection: the predictions of several solutions, combined by weights.

Each member is a complete script. It runs in a folder of its own, with the same input. The weights were chosen greedily
on the predictions for validation rows.
"""

import contextlib
import io
import os
import sys
import tempfile
import types

import pandas as pd

ID = None
BY = "mean"
# MEMBERS

FILES = ["submission.csv", "validation_predictions.csv"]
if BY == "class_scores":
    FILES += ["submission_class_scores.csv", "validation_class_scores.csv"]


def predictions_of(member) -> list[pd.DataFrame]:
    """Runs a member and returns the tables that it wrote, as text."""
    home, main = os.getcwd(), sys.modules["__main__"]
    with tempfile.TemporaryDirectory(dir=home) as folder:
        os.symlink(os.path.join(home, "input"), os.path.join(folder, "input"))
        os.mkdir(os.path.join(folder, "final"))
        # Libraries that start processes look functions up in the main module.
        module = sys.modules["__main__"] = types.ModuleType("__main__")
        os.chdir(folder)
        try:
            # The scores of members are not the score of the ensemble.
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(member(), f"{member.__name__}.py", "exec"), vars(module))
        except SystemExit as end:
            if end.code:
                raise
        finally:
            os.chdir(home)
            sys.modules["__main__"] = main
        files = [os.path.join(folder, "final", name) for name in FILES]
        tables = [pd.read_csv(file, dtype=str, keep_default_na=False) for file in files]
    return [table.rename(columns=str.strip) for table in tables]


def combined(tables: list[pd.DataFrame], weights: list[float]) -> pd.DataFrame:
    """The weighted mean of numbers, or the label with the largest weight, in the rows of the first table."""
    first = tables[0]
    for column in first.columns.drop([ID], errors="ignore"):
        values = [table[column] for table in in_rows_of(first, tables)]
        if all(value.equals(values[0]) for value in values):
            continue
        if BY == "votes":
            first[column] = largest([pd.get_dummies(value) for value in values], weights)
        else:
            first[column] = sum(value.astype(float) * weight for value, weight in zip(values, weights))
    return first


def decided(first: pd.DataFrame, scores: list[pd.DataFrame], weights: list[float]) -> pd.DataFrame:
    """The class with the largest weighted score, in the rows of the first table of predictions."""
    (column,) = first.columns.drop([ID], errors="ignore")
    # The first column names the row.
    classes = [table.iloc[:, 1:].astype(float) for table in in_rows_of(first, scores)]
    return first.assign(**{column: largest(classes, weights)})


def in_rows_of(first: pd.DataFrame, tables: list[pd.DataFrame]) -> list[pd.DataFrame]:
    """The tables with their rows in the order of the first one."""
    return tables if ID is None else [table.set_index(ID).loc[first[ID]].reset_index() for table in tables]


def largest(scores: list[pd.DataFrame], weights: list[float]) -> pd.Series:
    """The column with the largest weighted sum in each row."""
    weighted = pd.concat([score * weight for score, weight in zip(scores, weights)])
    return weighted.fillna(0.0).groupby(level=0).sum().idxmax(axis=1)


weights = [weight for _, weight in MEMBERS]
tables = [predictions_of(member) for member, _ in MEMBERS]
os.makedirs("final", exist_ok=True)
for position in range(2):
    of_members = [files[position::2] for files in tables]
    predictions = [files[0] for files in of_members]
    if BY == "class_scores":
        table = decided(predictions[0], [files[1] for files in of_members], weights)
    else:
        table = combined(predictions, weights)
    table.to_csv(os.path.join("final", FILES[position]), index=False)
print(f"Combined the predictions of {len(MEMBERS)} solutions.")
