"""How often reported 95 % intervals have the score of rows that are not known yet, in simulated worlds.

coverage.py [WORLDS [KIND ...]]

prints a table. In each of the worlds (200), three simple models are validated, the best one by validation is scored on held-out
rows, and then fitted to all known rows and scored on the hidden ones. Optimism is how much better the held-out score is than the
hidden one, as a share of the validation score. Scores and intervals are those of the data plane. It needs an interpreter that
has its libraries.
"""

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from compare import LOWER_IS_BETTER

sys.path.insert(0, str(Path(__file__).parents[2] / "python"))
from mle_star_data import questions
from mle_star_data.intervals import Scale, effective_groups, next_period, t_quantile

Array = np.ndarray
Random = np.random.Generator
# Parts of the rows; those of a series that has ended are in none.
NONE, VALIDATION, HELD_OUT, HIDDEN = range(4)
FOLDS = 5


class World(NamedTuple):
    """All rows of a task, and the predictions of three models."""

    y: Array
    part: Array
    # The fold that validates a row, below 0 if none does.
    fold: Array
    # The group of a row; for times its step, or its series where each has its own end.
    unit: Array
    models: list[Array]
    # What intervals are for.
    target: str


class Series(NamedTuple):
    """Series with levels that wander and jump, together and each alone, seasons, events and noise."""

    count: int = 3
    period: int = 28
    folds: int = FOLDS
    # The steps before the first fold.
    before: int = 560
    season: int = 7
    # The steps of a year.
    year: float = 365.25
    walk: float = 0.006
    # How many jumps there are in a step, and how large they are.
    jumps: tuple[float, float] = (1 / 182, 0.15)
    # The growth in a step.
    growth: float = 0.0
    noise: float = 0.1
    # By how many steps a series may end earlier than others: each has its own last period then.
    ends: int = 0
    by_series: bool = False


class Groups(NamedTuple):
    """Groups with levels, slopes and noise of their own."""

    known: int
    hidden: int
    rows: int
    # The standard deviation of the logarithm of their sizes.
    unequal: float = 0.0
    level: float = 0.7


class Rows(NamedTuple):
    """Rows without groups, of which the noise grows with a column."""

    validated: int = 1_700
    held_out: int = 300
    hidden: int = 400


DAYS, OWN = Series(), Series(count=20, period=14, before=150, ends=90)
WEEKS = Series(12, 13, FOLDS, 104, 13, 52, 0.03, (0.01, 0.2), 0.004, 0.2)
HOURS = Series(5, 48, FOLDS, 480, 24, 168, 0.01, (0.01, 0.2), 0.0, 0.15)
MONTHS = Series(30, 6, 4, 48, 12, 12, 0.04, (0.02, 0.2), -0.003, 0.1)
UNEQUAL = Groups(25, 60, 80, unequal=0.8)
# The first four are those on which the rules were chosen.
KINDS = {
    "time": ("MAE", DAYS),
    "10 groups": ("MAE", Groups(10, 5, 200)),
    "100 groups": ("MAE", Groups(100, 50, 20)),
    "rows": ("MAE", Rows(1_275, 225, 1_000)),
    "three periods": ("MAE", DAYS._replace(folds=2)),
    "time, SMAPE": ("SMAPE", DAYS),
    "weeks that grow": ("MAE", WEEKS),
    "weeks that grow, RMSE": ("RMSE", WEEKS),
    "hours with jumps": ("RMSE", HOURS),
    "hours with jumps, SMAPE": ("SMAPE", HOURS),
    "hours, above the median": ("ROC-AUC", HOURS),
    "months": ("RMSE", MONTHS),
    "6 groups": ("RMSE", Groups(6, 4, 300, level=0.5)),
    "25 unequal groups, 60 hidden": ("MAE", UNEQUAL),
    "300 small groups, 10 large hidden": ("RMSE", Groups(300, 10, 10, unequal=0.3)),
    "25 unequal groups, above the median": ("ROC-AUC", UNEQUAL),
    "12 groups, above the median": ("ROC-AUC", Groups(12, 12, 150)),
    "rows, RMSE": ("RMSE", Rows()),
    "own ends": ("MAE", OWN),
    "own ends that grow, RMSE": ("RMSE", OWN._replace(growth=0.003)),
    "own ends, by series": ("MAE", OWN._replace(by_series=True)),
    "own ends, one fold, by series": ("MAE", OWN._replace(by_series=True, folds=1)),
    "rows, above the median": ("ROC-AUC", Rows()),
}


def fit(x: Array, y: Array) -> Array:
    """Least squares with a small ridge."""
    return np.linalg.solve(x.T @ x + 1e-6 * len(x) * np.eye(x.shape[1]), x.T @ y)


def of_series(kind: Series, random: Random) -> World:
    steps = np.arange(kind.before + (kind.folds + 2) * kind.period)

    def wandering() -> Array:
        jumps = random.random(len(steps)) < kind.jumps[0]
        return np.cumsum(random.normal(0, kind.walk, len(steps)) + jumps * random.normal(0, kind.jumps[1], len(steps)))

    angle = 2 * np.pi * steps / kind.year
    year = random.normal(0, 0.12, 4) @ [np.sin(angle), np.cos(angle), np.sin(2 * angle), np.cos(2 * angle)]
    common = year + random.normal(0, 0.15, kind.season)[steps % kind.season] + wandering() + kind.growth * steps
    earlier = random.integers(0, kind.ends + 1, (kind.count, 1))
    events = (random.random((kind.count, len(steps))) < 0.2).astype(float)
    alone = np.array([3 + random.normal(0, 0.5) + wandering() for _ in range(kind.count)])
    effects = random.normal(0.2, 0.05, (kind.count, 1))
    log = common + alone + effects * events + random.normal(0, kind.noise, events.shape)
    period = (steps + earlier - kind.before) // kind.period
    kinds = [period < 0, period < kind.folds, period == kind.folds, period == kind.folds + 1]
    part = np.select(kinds, [NONE, VALIDATION, HELD_OUT, HIDDEN], NONE)
    windows = [max(-(-kind.period * quarters // 4), 2) for quarters in (1, 4, 13)]
    models = [forecasts(kind, log, events, earlier.ravel(), window).ravel() for window in windows]
    fold = np.where(part == VALIDATION, period, -1)
    unit = np.broadcast_to(np.arange(kind.count)[:, None] if kind.ends else steps, log.shape)
    target = "groups" if kind.by_series else "period"
    return World(np.exp(log).ravel(), part.ravel(), fold.ravel(), unit.ravel(), models, target)


def forecasts(kind: Series, log: Array, events: Array, earlier: Array, window: int) -> Array:
    """Forecasts of each period from the steps before it: the level of the last `window` steps, with a season and the effect
    of events."""
    predicted = np.full(log.shape, np.nan)
    steps = np.arange(log.shape[1])
    seasons = (steps[:, None] % kind.season == np.arange(kind.season)).astype(float)
    for series, own in enumerate(earlier):
        for ahead in range(1, kind.folds + 3):
            first = len(steps) - ahead * kind.period - own
            x = np.column_stack([seasons, events[series], (steps - first) / 100])
            history = slice(max(first - 26 * min(kind.season, 26), 0), first)
            model = fit(x[history], log[series, history])
            # The level goes on as it was at the end.
            model[-1] = 0
            level = (log[series] - x @ model)[first - window : first].mean()
            future = slice(first, first + kind.period)
            predicted[series, future] = np.exp(x[future] @ model + level)
    return predicted


def of_groups(kind: Groups, random: Random) -> World:
    count = kind.known + kind.hidden
    sizes = np.maximum(np.round(kind.rows * np.exp(random.normal(0, kind.unequal, count))), 3).astype(int)
    unit = np.repeat(np.arange(count), sizes)
    area, level, slope = (random.normal(0, deviation, count)[unit] for deviation in (1, kind.level, 0.4))
    noise = np.exp(random.normal(0, 0.4, count) - 0.5)[unit]
    x = random.normal(size=(len(unit), 4))
    y = relation(x) + 0.6 * area + level + slope * x[:, 1] + random.normal(0, noise)
    held_out = max(round(kind.known * 0.15), 1)
    part = np.select([unit >= kind.known, unit < held_out], [HIDDEN, HELD_OUT], VALIDATION)
    return fitted(x, area, y, part, unit, "groups")


def of_rows(kind: Rows, random: Random) -> World:
    part = np.repeat([VALIDATION, HELD_OUT, HIDDEN], kind)
    x = random.normal(size=(len(part), 4))
    y = relation(x) + random.normal(0, 0.5 * np.exp(0.4 * x[:, 3]))
    return fitted(x, np.zeros(len(y)), y, part, np.arange(len(y)), "rows")


def relation(x: Array) -> Array:
    return x[:, 0] + np.sin(2 * x[:, 1]) + 0.5 * x[:, 0] * x[:, 2]


def fitted(x: Array, area: Array, y: Array, part: Array, unit: Array, target: str) -> World:
    """Least squares with the first features: each part is predicted from what is known before it."""
    fold = np.where(part == VALIDATION, unit % FOLDS, -1)
    columns = [np.ones(len(y)), *x.T, area, np.sin(2 * x[:, 1]), x[:, 0] * x[:, 2], x[:, 0] ** 2, x[:, 3] ** 2]
    parts = [((fold >= 0) & (fold != at), fold == at) for at in range(FOLDS)]
    parts += [(part == VALIDATION, part == HELD_OUT), (part != HIDDEN, part == HIDDEN)]
    models = []
    for width in (6, 8, 10):
        features, predicted = np.column_stack(columns[:width]), np.empty(len(y))
        for known, wanted in parts:
            predicted[wanted] = features[wanted] @ fit(features[known], y[known])
        models.append(predicted)
    return World(y, part, fold, unit, models, target)


WORLDS: dict[type, Callable[..., World]] = {Series: of_series, Groups: of_groups, Rows: of_rows}


def measured(world: World, metric: str, predicted: Array, part: int, replicates: int) -> dict:
    """The score of a part, with the interval for the hidden rows."""
    chosen, hidden = world.part == part, world.part == HIDDEN
    y = (world.y > np.median(world.y)).astype(int) if metric == "ROC-AUC" else world.y
    rows = pd.DataFrame(
        {"id": np.arange(len(y)), "y": y, "unit": world.unit, "predicted": predicted, "fold": world.fold}
    )
    target = {"kind": world.target}
    if world.target != "period":
        target["rows"] = int(hidden.sum())
    if world.target == "groups":
        of = effective_groups(np.unique(world.unit[hidden], return_counts=True)[1])
        target |= {"groups": of["groups"], "rows_of_groups": of["rows"]}
    with tempfile.TemporaryDirectory() as folder:
        answers, submission, folds = (f"{folder}/{name}.csv" for name in ("answers", "submission", "folds"))
        rows.loc[chosen, ["id", "y", "unit"]].to_csv(answers, index=False)
        rows.loc[chosen, ["id", "predicted"]].set_axis(["id", "y"], axis=1).to_csv(submission, index=False)
        rows.loc[world.fold >= 0, ["id", "fold"]].to_csv(folds, index=False)
        question = {"question": "score", "metric": metric, "answers": answers, "submission": submission}
        question["columns"] = {"id": "id", "target": "y", "cluster": None if world.target == "rows" else "unit"}
        question |= {"layout": {"header": ["id", "y"], "id": "id"}, "replicates": replicates, "target": target}
        return questions.answer(question | ({"folds": folds} if world.target == "period" else {}))["measured"]


def interval_beside(held_out: dict, validated: dict, is_error: bool) -> list[float] | None:
    """As `Measurement::interval_beside` in `crates/mle-star-domain/src/measure.rs`."""
    scale = Scale(**held_out["bounds"], is_error=is_error)
    if periods := validated.get("periods"):
        return next_period([period["score"] for period in periods] + [held_out["score"]], scale)
    if not (spread := held_out.get("spread")):
        return held_out["interval"]
    spreads = [spread, *([validated["spread"]] if validated.get("spread") else [])]
    freedoms = [max(one["of"]["groups"] - 1, 0.0) for one in spreads]
    if (student := t_quantile(sum(freedoms))) is None:
        return None
    between = np.average([one["between"] for one in spreads], weights=freedoms)
    within = np.average([one["within"] for one in spreads], weights=[one["of"]["rows"] for one in spreads])
    of, test = spread["of"], spread["test"]
    variance = sum(between / one["groups"] + within / one["rows"] for one in (of, test))
    half = student * float(variance) ** 0.5
    return scale.within(held_out["score"] - half, held_out["score"] + half)


class Case(NamedTuple):
    """What one world came to."""

    validated: float
    held_out: float
    hidden: float
    intervals: tuple[list[float] | None, list[float] | None]


def case(name: str, seed: int) -> Case:
    metric, kind = KINDS[name]
    # Kinds have worlds of their own.
    world = WORLDS[type(kind)](kind, np.random.default_rng([seed, *name.encode()]))
    is_error = metric in LOWER_IS_BETTER
    scores = [measured(world, metric, model, VALIDATION, 2)["score"] for model in world.models]
    best = world.models[scores.index(min(scores) if is_error else max(scores))]
    validated, held_out = measured(world, metric, best, VALIDATION, 200), measured(world, metric, best, HELD_OUT, 1000)
    hidden = measured(world, metric, best, HIDDEN, 2)["score"]
    beside = interval_beside(held_out, validated, is_error)
    return Case(validated["score"], held_out["score"], hidden, (beside, validated["interval"]))


def line(name: str, cases: list[Case]) -> str:
    metric, _ = KINDS[name]
    cells = [name, metric]
    for which in (0, 1):
        known = [(one.intervals[which], one.hidden) for one in cases if one.intervals[which]]
        covered = sum(low <= hidden <= high for (low, high), hidden in known) / len(cases)
        width = np.median([(high - low) / hidden for (low, high), hidden in known]) if known else np.nan
        cells += [f"{covered:.1%}".replace("%", " %"), f"{width:.2f}"]
    sign = -1 if metric in LOWER_IS_BETTER else 1
    optimism = 100 * sign * np.array([(one.held_out - one.hidden) / one.validated for one in cases])
    cells += [f"{optimism.mean():+.1f} %", f"{optimism.std(ddof=1) / len(cases) ** 0.5:.1f} %"]
    return f"| {' | '.join(cells)} |"


def main(worlds: int = 200, *names: str) -> None:
    interval = "interval covers | its width"
    print(f"| worlds | metric | held-out {interval} | validation {interval} | optimism of the held-out score | error |")
    print("|---|---|---:|---:|---:|---:|---:|---:|")
    for name in names or KINDS:
        print(line(name, [case(name, seed) for seed in range(int(worlds))]), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
