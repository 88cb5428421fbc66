"""Scores the recorded run and LightGBM on the hidden answers: `python hidden_scores.py RUN EXAMPLE`."""

import json
import sys
from pathlib import Path

import pandas as pd
from lightgbm import LGBMClassifier
from sklearn.metrics import roc_auc_score


def frames(data: Path) -> list[pd.DataFrame]:
    """Training and test rows, with weather and planes joined and texts as categories."""
    train, test = (pd.read_csv(data / name) for name in ("train.csv", "test.csv"))
    rows = pd.concat([train, test], ignore_index=True)
    rows = rows.merge(pd.read_csv(data / "weather.csv"), on=["origin", "time_hour"], how="left")
    rows = rows.merge(pd.read_csv(data / "planes.csv"), on="tailnum", how="left")
    for column in rows.columns:
        if not pd.api.types.is_numeric_dtype(rows[column]):
            rows[column] = rows[column].astype("category")
    return [rows.iloc[: len(train)], rows.iloc[len(train) :]]


def main(run: Path, example: Path) -> None:
    """Prints a JSON object: the metric and the scores of the submission and of LightGBM with default settings."""
    answers = pd.read_csv(example / "answers.csv")
    key, target = answers.columns
    submission = pd.read_csv(run / "final" / "submission.csv").set_index(key)[target]
    train, test = frames(example / "data")
    model = LGBMClassifier(random_state=0, verbose=-1)
    model.fit(train.drop(columns=[key, target]), train[target].astype(int))
    lightgbm = pd.Series(model.predict_proba(test.drop(columns=[key, target]))[:, 1], index=test[key])
    truth = answers.set_index(key)[target]
    score, other = (round(roc_auc_score(truth, scores[truth.index]), 5) for scores in (submission, lightgbm))
    print(json.dumps({"metric": "ROC-AUC", "rows": len(truth), "score": score, "lightgbm": other}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
