"""Tasks with held-back answers, two baselines, and the score of a submission.

make FOLDER                    writes every task: FOLDER/NAME/input/*.csv, answers.csv, task.json
baselines TASK                 prints the held-back scores of a constant and of default LightGBM
score TASK SUBMISSION          prints the held-back score of a submission
"""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn import datasets, metrics


def bundled(loader, rows, test_share, metric, direction):
    data = loader(as_frame=True)
    table = data.data.copy()
    table.columns = [str(column).replace(" ", "_").replace("/", "_") for column in table.columns]
    table["target"] = data.target
    table = table.sample(n=min(rows, len(table)), random_state=3).reset_index(drop=True)
    return split(table, test_share, metric, direction)


def split(table, test_share, metric, direction, **others):
    order = np.random.default_rng(11).permutation(len(table))
    held = int(len(table) * test_share)
    table.insert(0, "id", np.arange(1000, 1000 + len(table)))
    return {
        "train": table.iloc[order[held:]],
        "test": table.iloc[order[:held]],
        "metric": metric,
        "direction": direction,
        "others": others,
    }


def split_by(group, table, test_share, metric, direction):
    """Like `split`, but whole groups are held back."""
    order = np.random.default_rng(11).permutation(table[group].unique())
    is_held = table[group].isin(order[: int(len(order) * test_share)])
    table.insert(0, "id", np.arange(1000, 1000 + len(table)))
    return {"train": table[~is_held], "test": table[is_held], "metric": metric, "direction": direction, "others": {}}


def trips():
    """Durations that follow hour, season, district and weather; the weather is in a table of its own."""
    random = np.random.default_rng(5)
    days = pd.date_range("2023-01-01", periods=200)
    districts = np.array([f"district_{number}" for number in range(25)])
    cities = np.array(["north", "south", "west"])
    weather = pd.DataFrame([(day, city) for day in days for city in cities], columns=["day", "city"])
    weather["rain"] = np.round(random.gamma(0.6, 4.0, len(weather)), 1)
    weather["wind"] = np.round(random.gamma(2.0, 5.0, len(weather)), 1)
    n = 2400
    table = pd.DataFrame({
        "day": random.choice(days, n), "city": random.choice(cities, n), "from_district": random.choice(districts, n),
        "hour": random.integers(0, 24, n), "kilometres": np.round(random.gamma(2.0, 3.0, n) + 0.5, 2),
    })
    level = pd.Series(random.normal(0, 0.25, len(districts)), index=districts)
    merged = table.merge(weather, on=["day", "city"], how="left")
    rush = np.isin(table["hour"], [7, 8, 16, 17, 18])
    weekend = pd.to_datetime(table["day"]).dt.day_of_week >= 5
    speed = 3.2 - 0.35 * (rush & ~weekend) - 0.03 * merged["rain"] + table["from_district"].map(level)
    table["target"] = np.round(60 * table["kilometres"] / np.exp(speed) * np.exp(random.normal(0, 0.15, n)), 1) + 1
    for frame in (table, weather):
        frame["day"] = pd.to_datetime(frame["day"]).dt.strftime("%Y-%m-%d")
    return split(table, 0.4, "RMSLE", "minimize", weather=weather)


def reviews():
    """Opinions whose words, length and shop say whether the customer comes back."""
    random = np.random.default_rng(6)
    good = "great lovely quick friendly tasty fresh warm perfect kind generous".split()
    bad = "slow cold rude stale noisy dirty late bland pricey broken".split()
    plain = "the food was and we had a table with some people there on monday evening service place".split()
    rows = []
    for _ in range(1800):
        mood = random.normal()
        words = list(random.choice(plain, random.integers(6, 18)))
        for _ in range(random.integers(1, 5)):
            words.insert(random.integers(0, len(words)), str(random.choice(good if random.random() < 1 / (1 + np.exp(-2 * mood)) else bad)))
        price = round(float(random.gamma(3.0, 8.0)), 2)
        shop = f"shop_{random.integers(0, 60)}"
        back = random.random() < 1 / (1 + np.exp(-(1.8 * mood - 0.03 * (price - 24) - 1.2)))
        rows.append((" ".join(words), price, shop, random.choice(["web", "app", "phone"]), "yes" if back else "no"))
    return split(pd.DataFrame(rows, columns=["review", "price", "shop", "channel", "target"]), 0.4, "F1", "maximize")


def claims():
    """Rare outcomes over many categories, with gaps."""
    random = np.random.default_rng(7)
    n = 3000
    makers = np.array([f"maker_{number}" for number in range(120)])
    risk = pd.Series(random.normal(0, 0.9, len(makers)), index=makers)
    table = pd.DataFrame({
        "maker": random.choice(makers, n), "region": random.choice(list("abcdefgh"), n),
        "age": random.integers(18, 90, n).astype(float), "power": np.round(random.gamma(4.0, 30.0, n)),
        "mileage": np.round(random.lognormal(9.5, 0.8, n)), "previous": random.poisson(0.4, n),
    })
    margin = table["maker"].map(risk) + 0.7 * (table["age"] < 25) + 0.9 * table["previous"] + 0.004 * (table["power"] - 120) - 1.2
    margin += 0.5 * np.log(table["mileage"] / 13000) + 0.6 * table["region"].isin(list("ce"))
    draw = margin + random.logistic(0, 1, n)
    table["target"] = np.select([draw > 2.2, draw > 0], ["large", "small"], "zero")
    table.loc[random.random(n) < 0.15, "age"] = np.nan
    table.loc[random.random(n) < 0.1, "mileage"] = np.nan
    return split(table, 0.4, "log loss", "minimize")


def patients():
    """Readings of new patients; habits tell patients apart and little else, each patient has a level of their own."""
    random = np.random.default_rng(8)
    number, visits = 120, 20
    habits = pd.DataFrame(random.normal(0, 10, (number, 4)), columns=["sleep", "steps", "calories", "screen"])
    habits["patient_id"] = random.permutation(number)
    habits["ward"] = random.choice(list("abcde"), number)
    habits["level"] = random.normal(0, 2.0, number) + 0.08 * habits["steps"] + 1.5 * (habits["ward"] == "c")
    table = habits.loc[habits.index.repeat(visits)].sample(frac=1.0, random_state=9).reset_index(drop=True)
    table["dose"] = np.round(random.gamma(2.0, 1.0, len(table)), 2)
    table["hour"] = random.integers(0, 24, len(table))
    for column in ["sleep", "steps", "calories", "screen"]:
        table[column] = np.round(table[column] + random.normal(0, 0.3, len(table)) + 50, 1)
    response = 3.0 * np.log1p(table["dose"]) + 1.5 * np.sin(table["hour"] / 24 * 2 * np.pi)
    table["target"] = np.round(20 + table.pop("level") + response + random.normal(0, 0.5, len(table)), 2)
    return split_by("patient_id", table, 0.4, "RMSE", "minimize")


TASKS = {
    "breast_cancer": lambda: bundled(datasets.load_breast_cancer, 569, 0.4, "ROC-AUC", "maximize"),
    "wine": lambda: bundled(datasets.load_wine, 178, 0.4, "macro F1", "maximize"),
    "diabetes": lambda: bundled(datasets.load_diabetes, 442, 0.4, "RMSE", "minimize"),
    "digits": lambda: bundled(datasets.load_digits, 1000, 0.5, "accuracy", "maximize"),
    "trips": trips,
    "reviews": reviews,
    "claims": claims,
    "patients": patients,
}


def make(folder):
    for name, build in TASKS.items():
        task = build()
        place = Path(folder) / name
        (place / "input").mkdir(parents=True, exist_ok=True)
        task["train"].to_csv(place / "input/train.csv", index=False)
        task["test"].drop(columns="target").to_csv(place / "input/test.csv", index=False)
        task["test"][["id", "target"]].to_csv(place / "answers.csv", index=False)
        sample = task["test"][["id"]].copy()
        if task["metric"] == "log loss":
            for label in sorted(task["train"]["target"].unique()):
                sample[label] = 1 / task["train"]["target"].nunique()
        else:
            sample["target"] = task["train"]["target"].mode()[0]
        sample.to_csv(place / "input/sample_submission.csv", index=False)
        for other, table in task["others"].items():
            table.to_csv(place / f"input/{other}.csv", index=False)
        (place / "task.json").write_text(json.dumps({key: task[key] for key in ("metric", "direction")}))


def score(metric, truth, labels, predicted):
    """`predicted`: labels or numbers, or for probabilities one column per label."""
    if metric == "ROC-AUC":
        return metrics.roc_auc_score(truth == labels[1], predicted[:, 1])
    if metric == "log loss":
        return metrics.log_loss(truth, predicted / predicted.sum(axis=1, keepdims=True), labels=labels)
    return {
        "macro F1": lambda: metrics.f1_score(truth, predicted, average="macro"),
        "F1": lambda: metrics.f1_score(truth, predicted, pos_label=labels[1]),
        "accuracy": lambda: metrics.accuracy_score(truth, predicted),
        "RMSE": lambda: metrics.root_mean_squared_error(truth, predicted),
        "RMSLE": lambda: metrics.root_mean_squared_log_error(truth, np.maximum(predicted, 0)),
    }[metric]()


def read(place):
    place = Path(place)
    return (
        json.loads((place / "task.json").read_text())["metric"],
        pd.read_csv(place / "input/train.csv"),
        pd.read_csv(place / "input/test.csv"),
        pd.read_csv(place / "answers.csv")["target"].to_numpy(),
    )


def baselines(place):
    from lightgbm import LGBMClassifier, LGBMRegressor

    metric, train, test, truth = read(place)
    labels = np.sort(train["target"].unique())
    y = train.pop("target").to_numpy()
    both = pd.concat([train, test]).drop(columns="id")
    for column in both.select_dtypes(exclude="number").columns:
        both[column] = both[column].astype("category")
    x, x_test = both.iloc[: len(train)], both.iloc[len(train) :]
    if metric.startswith("RMS"):
        constant = np.full(len(test), np.expm1(np.log1p(y).mean()) if metric == "RMSLE" else y.mean())
        boosted = LGBMRegressor(random_state=0, n_jobs=1, verbose=-1).fit(x, y).predict(x_test)
    else:
        model = LGBMClassifier(random_state=0, n_jobs=1, verbose=-1).fit(x, y)
        shares = np.array([(y == label).mean() for label in labels])
        if metric in ("ROC-AUC", "log loss"):
            constant, boosted = np.tile(shares, (len(test), 1)), model.predict_proba(x_test)
        else:
            # The better of the constant answers, as the metric sees them.
            constant = max((np.full(len(test), label) for label in labels), key=lambda c: score(metric, truth, labels, c))
            boosted = model.predict(x_test)
    print(score(metric, truth, labels, constant), score(metric, truth, labels, boosted))


def submitted(place, file):
    metric, train, test, truth = read(place)
    labels = np.sort(train["target"].unique())
    submission = pd.read_csv(file).set_index("id").loc[test["id"]]
    if metric == "log loss":
        predicted = submission[list(labels)].to_numpy()
    else:
        predicted = submission["target"].to_numpy()
    if metric == "ROC-AUC":
        predicted = np.column_stack([1 - predicted, predicted])
    print(score(metric, truth, labels, predicted))


if __name__ == "__main__":
    {"make": make, "baselines": baselines, "score": submitted}[sys.argv[1]](*sys.argv[2:])
