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
VOTE = False
# MEMBERS

FILES = ["submission.csv", "validation_predictions.csv"]


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
    if ID is not None:
        tables = [table.set_index(ID).loc[first[ID]].reset_index() for table in tables]
    for column in first.columns.drop([ID], errors="ignore"):
        values = [table[column] for table in tables]
        if all(value.equals(values[0]) for value in values):
            continue
        if VOTE:
            votes = pd.concat([pd.get_dummies(value) * weight for value, weight in zip(values, weights)])
            first[column] = votes.fillna(0.0).groupby(level=0).sum().idxmax(axis=1)
        else:
            first[column] = sum(value.astype(float) * weight for value, weight in zip(values, weights))
    return first


weights = [weight for _, weight in MEMBERS]
tables = [predictions_of(member) for member, _ in MEMBERS]
os.makedirs("final", exist_ok=True)
for name, of_members in zip(FILES, zip(*tables)):
    combined(list(of_members), weights).to_csv(os.path.join("final", name), index=False)
print(f"Combined the predictions of {len(MEMBERS)} solutions.")
