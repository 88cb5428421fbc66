"""What simple and usual forecasts score on the tasks of series.py.

anchors.py FOLDER [KIND ...]

writes FOLDER/against/KIND-0/TASK.csv for each task of FOLDER/tasks.json, unless it is there, and beside it the seconds that
it took; then FOLDER/anchors.csv and FOLDER/anchors.md with all scores. It needs pandas and scikit-learn, lightgbm 4.7
for `trees`, and statsforecast 2 for `ets`, `theta` and `mstl`. Everything runs in one thread.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

# Before the libraries are imported, which read it once.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np  # noqa: E402
import pandas as pd  # noqa: E402

from compare import score  # noqa: E402
from series_sources import TARGET, TIME  # noqa: E402

SEED = 1
# Values until a series repeats, where that is a year; shorter steps repeat after a week.
YEARS = {"7D": 52, "MS": 12, "QS": 4, "QS-MAR": 4}
WEEKS_OF_YEAR = 52
# Statistical models see this much of the end of a series; longer ones take minutes each.
MOST_HISTORY = 4_000
# The longest season that exponential smoothing can have.
LONGEST_SMOOTHED = 24


class Panel:
    """The series of a task on a common grid of times, and where on it the rows of both tables are."""

    def __init__(self, folder: Path, task: dict) -> None:
        self.metric = task["metric"]
        self.train, self.test = (pd.read_csv(folder / f"{name}.csv", parse_dates=[TIME]) for name in ("train", "test"))
        self.names = task["series"]
        every = task["every"]
        start, end = self.train[TIME].min(), self.test[TIME].max()
        grid = pd.date_range(start, end, freq=every)
        self.is_weekly = every not in YEARS
        if self.is_weekly:
            # Only times of the week that occur: a shop is closed at night.
            used = set(self.slots(pd.DatetimeIndex(self.train[TIME])))
            grid = grid[[slot in used for slot in self.slots(grid)]]
            self.season, self.day = len(used), round(len(used) / len({slot.days for slot in used}))
            self.year = WEEKS_OF_YEAR * self.season
        else:
            self.season = self.day = self.year = YEARS[every]
        self.size = int((grid <= self.train[TIME].max()).sum())
        self.horizon = len(grid) - self.size
        self.grid = grid
        self.values = self.filled(self.wide(self.train).reindex(grid[: self.size]))

    @staticmethod
    def slots(times: pd.DatetimeIndex) -> pd.TimedeltaIndex:
        """The time since the week began."""
        return (times - times.normalize()) + pd.to_timedelta(times.dayofweek, unit="D")

    def keys(self, table: pd.DataFrame) -> pd.Series:
        if not self.names:
            return pd.Series("", index=table.index)
        return table[self.names].astype(str).agg("|".join, axis=1)

    def wide(self, table: pd.DataFrame) -> pd.DataFrame:
        return table.pivot_table(TARGET, TIME, self.keys(table).rename("key"))

    def filled(self, wide: pd.DataFrame) -> pd.DataFrame:
        """A missing value is that of a week before, or lies between its neighbours."""
        if self.is_weekly:
            at = np.arange(len(wide)) % self.season
            wide = wide.groupby(at).ffill().fillna(wide.groupby(at).bfill())
        return wide.interpolate(limit_direction="both").fillna(0)

    def picked(self, wide: pd.DataFrame) -> np.ndarray:
        """The predictions of the test rows, from those of all series and times after the training time."""
        wide = wide.clip(lower=0) if self.train[TARGET].min() >= 0 else wide
        cells = wide.stack().rename(TARGET)
        cells.index.names = [TIME, "key"]
        rows = self.test[[TIME]].assign(key=self.keys(self.test))
        return rows.join(cells, on=[TIME, "key"])[TARGET].fillna(self.train[TARGET].median()).to_numpy()

    def each(self, forecast: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """What a forecast of one series says of the test rows."""
        later = self.grid[self.size :]
        found = {key: forecast(self.values[key].to_numpy(dtype=float)) for key in self.values.columns}
        return self.picked(pd.DataFrame(found, index=later))


def repeated(values: np.ndarray, size: int) -> np.ndarray:
    return np.tile(values, -(-size // len(values)))[:size]


def naive(panel: Panel) -> np.ndarray:
    """The last week, or the last year of rarer values."""
    return panel.each(lambda past: repeated(past[-panel.season :], panel.horizon))


def level(panel: Panel) -> np.ndarray:
    """The same period of the last year, times the ratio of the levels now and then. Without such a year, the mean week."""
    period = -(-panel.horizon // panel.season) * panel.season

    def forecast(past: np.ndarray) -> np.ndarray:
        window = min(period, panel.year)
        if len(past) < panel.year + window:
            weeks = past[len(past) % panel.season :].reshape(-1, panel.season)[-(window // panel.season) :]
            return repeated(weeks.mean(axis=0), panel.horizon)
        before = past[-panel.year - window : -panel.year].mean()
        ratio = past[-window:].mean() / before if before > 0 else 1.0
        return repeated(past[-panel.year :], panel.horizon) * ratio

    return panel.each(forecast)


def ets(panel: Panel) -> np.ndarray:
    """Exponential smoothing, with seasons where they are short enough for it."""
    from statsforecast.models import AutoETS

    season = panel.day if panel.is_weekly and panel.day > 1 else panel.season
    return smoothed(panel, lambda: AutoETS(season_length=season if season <= LONGEST_SMOOTHED else 1))


def theta(panel: Panel) -> np.ndarray:
    """The best of the Theta methods; the season of values within a day is the day."""
    from statsforecast.models import AutoTheta

    return smoothed(panel, lambda: AutoTheta(season_length=panel.day if panel.day > 1 else panel.season))


def mstl(panel: Panel) -> np.ndarray:
    """Seasons of the day and the week or of the year, and exponential smoothing of the rest."""
    from statsforecast.models import MSTL, AutoETS

    seasons = sorted({season for season in (panel.day, panel.season) if season > 1})
    return smoothed(panel, lambda: MSTL(season_length=seasons, trend_forecaster=AutoETS(model="ZZN")))


def smoothed(panel: Panel, model: Callable[[], object]) -> np.ndarray:
    return panel.each(lambda past: model().forecast(y=past[-MOST_HISTORY:], h=panel.horizon)["mean"])


def trees(panel: Panel) -> np.ndarray:
    """LightGBM with parts of the date, known columns, and lags that are known for all test rows."""
    from lightgbm import LGBMRegressor, early_stopping

    is_relative = panel.metric in {"RMSLE", "SMAPE"} and panel.train[TARGET].min() >= 0
    x, x_test = features(panel)
    y = np.log1p(panel.train[TARGET]) if is_relative else panel.train[TARGET]
    objective = "regression_l1" if panel.metric in {"MAE", "SMAPE"} else "regression"
    options = {"objective": objective, "learning_rate": 0.05, "random_state": SEED, "n_jobs": 1, "verbose": -1}
    stop = (panel.train[TIME] > panel.grid[max(panel.size - panel.horizon, panel.size // 2) - 1]).to_numpy()
    tried = LGBMRegressor(n_estimators=1_000, **options).fit(
        x[~stop], y[~stop], eval_X=x[stop], eval_y=y[stop], callbacks=[early_stopping(50, verbose=False)]
    )
    predicted = LGBMRegressor(n_estimators=max(tried.best_iteration_, 10), **options).fit(x, y).predict(x_test)
    predicted = np.expm1(predicted) if is_relative else predicted
    return predicted.clip(min=0) if panel.train[TARGET].min() >= 0 else predicted


def features(panel: Panel) -> tuple[pd.DataFrame, pd.DataFrame]:
    both = pd.concat([panel.train.drop(columns=TARGET), panel.test], ignore_index=True)
    times = both[TIME].dt
    found = both.drop(columns=[TIME, *(["row_id"] if "row_id" in both else [])])
    for column in found.select_dtypes(exclude="number").columns:
        found[column] = found[column].astype(str).astype("category")
    for column in panel.names:
        found[column] = found[column].astype("category")
    for part in ("year", "quarter", "month", "day", "dayofyear", "dayofweek", "hour", "minute"):
        found[part] = getattr(times, part)
    found["days"] = (both[TIME] - both[TIME].min()) / pd.Timedelta(days=1)
    found = found.drop(columns=[column for column in found if found[column].nunique() < 2])
    whole = -(-panel.horizon // panel.season) * panel.season
    past = panel.values.reindex(panel.grid)
    shifted = {f"lag {lag}": past.shift(lag) for lag in {panel.horizon, whole, whole + panel.season, panel.year}}
    shifted = {name: wide for name, wide in shifted.items() if int(name.split()[1]) >= panel.horizon}
    shifted["mean"] = past.rolling(panel.season).mean().shift(panel.horizon)
    rows = both[[TIME]].assign(key=panel.keys(both))
    for name, wide in shifted.items():
        cells = wide.stack().rename(name)
        cells.index.names = [TIME, "key"]
        found[name] = rows.join(cells, on=[TIME, "key"])[name]
    return found[: len(panel.train)], found[len(panel.train) :]


KINDS = {"naive": naive, "level": level, "ets": ets, "theta": theta, "mstl": mstl, "trees": trees}


def submit(folder: Path, name: str, task: dict, kind: str) -> None:
    file = folder / "against" / f"{kind}-0" / f"{name}.csv"
    if file.exists():
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    start = time.monotonic()
    panel = Panel(folder / "tasks" / name, task)
    predicted = KINDS[kind](panel)
    took = time.monotonic() - start
    file.with_suffix(".json").write_text(json.dumps({"seconds": took}))
    sample = pd.read_csv(folder / "tasks" / name / "sample_submission.csv")
    sample.assign(**{TARGET: predicted}).to_csv(file, index=False)
    print(f"{name}: {kind}, {took:.1f} s", flush=True)


def results(folder: Path, tasks: dict) -> pd.DataFrame:
    rows = []
    for name, task in tasks.items():
        for kind in KINDS:
            file = folder / "against" / f"{kind}-0" / f"{name}.csv"
            if file.exists():
                hidden = score(task["metric"], folder / "answers" / file.name, file)
                seconds = json.loads(file.with_suffix(".json").read_text())["seconds"]
                rows.append(
                    {"task": name, "metric": task["metric"], "anchor": kind, "hidden": hidden, "seconds": seconds}
                )
    return pd.DataFrame(rows)


def markdown(found: pd.DataFrame) -> str:
    """A row for each task, its best score in bold, and a row with the seconds of all tasks."""
    wide = found.pivot_table("hidden", ["task", "metric"], "anchor", sort=False)
    lines = [f"| task | metric | {' | '.join(wide.columns)} |", "|---|---|" + "---:|" * len(wide.columns)]
    for (task, metric), scores in wide.iterrows():
        cells = [f"**{one:.4g}**" if one == scores.min() else f"{one:.4g}" for one in scores]
        lines.append(f"| {task} | {metric} | {' | '.join(cells)} |")
    seconds = found.groupby("anchor", sort=False)["seconds"].sum()[wide.columns]
    lines.append(f"| seconds | | {' | '.join(f'{one:.0f}' for one in seconds)} |")
    return "\n".join(lines) + "\n"


def main(folder: Path, kinds: list[str]) -> None:
    tasks = json.loads((folder / "tasks.json").read_text())
    for kind in kinds or KINDS:
        for name, task in tasks.items():
            submit(folder, name, task, kind)
    found = results(folder, tasks)
    found.to_csv(folder / "anchors.csv", index=False, float_format="%.6g")
    (folder / "anchors.md").write_text(markdown(found))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), sys.argv[2:])
