"""Tables of hidden scores, from rows such as those in lab/measured/.

compare.py rows FOLDER [BENCH ...]            prints a row for each submission in FOLDER/against/ and for each run of
                                              the benches (folders with a results.json)
compare.py scores FILE [--tasks NAME,NAME] PROGRAM:LIMIT ...
                                              compares each program with the first one
compare.py reports FILE [--tasks NAME,NAME] PROGRAM:LIMIT ...
                                              compares what runs report with the hidden scores

FILE has the rows. `default:60` names the rows of a program (which for a bench is the name of its folder) with a time limit.
`a,b:60` are those of two builds; where both have a case, the last one counts. `a:60+b:60` is the better one in each case. A
case is a task with a seed. Means are those of the tasks' means; their 95 % intervals are those of a bootstrap that draws tasks
first, then seeds. A run without a valid submission counts as the constant.
"""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd

LOWER_IS_BETTER = {"RMSLE", "RMSE", "MAE", "SMAPE", "log loss"}
# Gains are divided by those of another program, which count as at least this share of what is possible.
SMALLEST_GAIN = 0.01
# Relative gains end here, so that no single task decides a mean.
LIMITS = (-1.0, 2.0)
RESAMPLES = 2_000

Row = dict
Case = tuple[str, int]
Values = dict[Case, float]


def score(metric: str, answers: Path, submission: Path) -> float:
    from sklearn import metrics

    truth = pd.read_csv(answers).set_index(pd.read_csv(answers, nrows=0).columns[0])["target"]
    submitted = pd.read_csv(submission)
    submitted = submitted.set_index(submitted.columns[0]).loc[truth.index]
    if metric == "log loss":
        classes = sorted(truth.unique())
        shares = submitted[[str(one) for one in classes]]
        return float(metrics.log_loss(truth, shares.div(shares.sum(axis=1), axis=0), labels=classes))
    functions: dict[str, Callable[..., float]] = {
        "accuracy": metrics.accuracy_score,
        "average precision": metrics.average_precision_score,
        # The positive label is the last one, as of 0 and 1, no and yes.
        "F1": lambda true, found: metrics.f1_score(true, found, pos_label=max(true)),
        "MAE": metrics.mean_absolute_error,
        "quadratic weighted kappa": lambda true, found: metrics.cohen_kappa_score(true, found, weights="quadratic"),
        "RMSE": metrics.root_mean_squared_error,
        "RMSLE": metrics.root_mean_squared_log_error,
        "ROC-AUC": metrics.roc_auc_score,
        "SMAPE": smape,
    }
    return float(functions[metric](truth, submitted["target"]))


def smape(truth: pd.Series, predicted: pd.Series) -> float:
    """In percent; 0/0 counts as 0."""
    size = truth.abs() + predicted.abs()
    return float((200 * (predicted - truth).abs() / size.where(size > 0, 1)).mean())


def rows(folder: Path, benches: list[Path]) -> Iterator[Row]:
    tasks = json.loads((folder / "tasks.json").read_text())

    def row(program: str, limit: int, name: str, hidden: float | None, seconds: float, **more: object) -> Row:
        task, _, seed = name.partition("-")
        known = {key: tasks[name][key] for key in ("metric", "constant", "best")}
        start = {"program": program, "limit": limit, "task": task, "seed": int(seed or 1)}
        return start | known | {"hidden": hidden, "seconds": seconds} | more

    for other in sorted(folder.glob("against/*")):
        program, limit = other.name.rsplit("-", 1)
        for file in sorted(other.glob("*.csv")):
            hidden = score(tasks[file.stem]["metric"], folder / "answers" / file.name, file)
            seconds = json.loads(file.with_suffix(".json").read_text())["seconds"]
            yield row(program, int(limit), file.stem, hidden, seconds)
    for bench in benches:
        for run in json.loads((bench / "results.json").read_text())["runs"]:
            reports = reported(bench / "runs" / run["run"] / "result.json")
            limit, took = run["budget_seconds"], run["report"]["summary"]["elapsed_seconds"]
            yield row(bench.name, limit, run["task"], run["hidden_score"], took, **reports)


def reported(result: Path) -> Row:
    trust = json.loads(result.read_text()).get("trust") if result.exists() else None
    kinds = ("validation", "holdout") if trust else ()
    return {
        kind: {"score": trust[f"{kind}_score"], "interval": trust.get(f"{kind}_interval")}
        for kind in kinds
        if trust.get(f"{kind}_score") is not None
    }


def gained(row: Row, value: float | None = None) -> float:
    """How much better a score, otherwise the hidden one, is than the constant; of what is possible, if that is known."""
    value = row["hidden"] if value is None else value
    value = row["constant"] if value is None else value
    if row["best"] is not None:
        return (value - row["constant"]) / (row["best"] - row["constant"])
    return (value - row["constant"]) * (-1 if row["metric"] in LOWER_IS_BETTER else 1)


def chosen(every: list[Row], contestant: str) -> dict[Case, Row]:
    found: dict[Case, Row] = {}
    for part in contestant.split("+"):
        programs, limit = part.rsplit(":", 1)
        own: dict[Case, Row] = {}
        for program in programs.split(","):
            for row in every:
                if (row["program"], row["limit"]) == (program, int(limit)):
                    own[row["task"], row["seed"]] = row
        if part == contestant:
            return own
        shared = own.keys() if not found else found.keys() & own.keys()
        found = {case: max((one[case] for one in (found, own) if case in one), key=gained) for case in shared}
    return found


def mean(values: Values) -> tuple[float, float, float]:
    """The mean of the tasks' means, and its interval."""
    tasks: dict[str, list[float]] = {}
    for (task, _), value in values.items():
        tasks.setdefault(task, []).append(value)
    lists = [np.array(one) for one in tasks.values()]
    random = np.random.default_rng(0)

    def resampled() -> float:
        drawn = (lists[at] for at in random.integers(0, len(lists), len(lists)))
        return float(np.mean([random.choice(one, len(one)).mean() for one in drawn]))

    low, high = np.quantile([resampled() for _ in range(RESAMPLES)], [0.025, 0.975])
    return float(np.mean([one.mean() for one in lists])), float(low), float(high)


def percent(values: Values) -> str:
    return "{:.2f} % ({:.2f} to {:.2f} %)".format(*(100 * value for value in mean(values))) if values else "-"


def print_scores(every: list[Row], names: list[str]) -> None:
    contestants = {name: chosen(every, name) for name in names}
    first = contestants[names[0]]
    print("| task | constant | best possible |", " | ".join(names), "|")
    print("|---|---:|---:|" + "---:|" * len(names))
    for task in dict.fromkeys(
        row["task"] for row in every if any((row["task"], row["seed"]) in one for one in contestants.values())
    ):
        of_task = [[row for row in one.values() if row["task"] == task] for one in contestants.values()]
        columns = [[row["hidden"] for row in one if row["hidden"] is not None] for one in of_task]
        known = [row for one in of_task for row in one]
        scale = [[row["constant"] for row in known], [row["best"] for row in known if row["best"] is not None]]
        print(f"| {task} |", " | ".join(f"{np.mean(one):.4f}" if one else "-" for one in scale + columns), "|")
    print("\n| | cases | share of the possible gain | minus the first | better | worse | relative gain | at or above |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for name, one in contestants.items():
        gains = {case: gained(row) for case, row in one.items()}
        both = {case: (gains[case], gained(first[case])) for case in gains if case in first}
        by = {case: own - other for case, (own, other) in both.items()}
        floor = SMALLEST_GAIN if all(row["best"] is not None for row in one.values()) else 1e-9
        relative = {case: float(np.clip(own / max(other, floor), *LIMITS)) for case, (own, other) in both.items()}
        tasks = {task: sum(value for case, value in by.items() if case[0] == task) for task, _ in by}
        better, worse = sum(value > 0 for value in by.values()), sum(value < 0 for value in by.values())
        shown = "{:.3f} ({:.3f} to {:.3f})".format(*mean(relative)) if relative else "-"
        above = f"{sum(value >= 0 for value in tasks.values())} of {len(tasks)}"
        print(f"| {name} | {len(one)} | {percent(gains)} | {percent(by)} | {better} | {worse} | {shown} | {above} |")


def print_reports(every: list[Row], names: list[str]) -> None:
    print("| report | cases | optimism | size of optimism | width of the interval | interval covers the hidden score |")
    print("|---|---:|---:|---:|---:|---:|")
    for name in names:
        for kind in ("validation", "holdout"):
            own = {
                case: row for case, row in chosen(every, name).items() if row.get(kind) and row["hidden"] is not None
            }
            if not own:
                continue
            optimism = {case: gained(row, row[kind]["score"]) - gained(row) for case, row in own.items()}
            with_interval = {case: row for case, row in own.items() if row[kind].get("interval")}
            ends = {case: row[kind]["interval"] for case, row in with_interval.items()}
            width = {
                case: abs(gained(row, ends[case][1]) - gained(row, ends[case][0]))
                for case, row in with_interval.items()
            }
            covered = {case: float(low <= own[case]["hidden"] <= high) for case, (low, high) in ends.items()}
            size = {case: abs(value) for case, value in optimism.items()}
            share = f"{sum(covered.values()):.0f} of {len(covered)}, {percent(covered)}"
            print(
                f"| {name}: {kind} | {len(own)} | {percent(optimism)} | {percent(size)} | {percent(width)} | {share} |"
            )


def read(file: str, words: list[str]) -> tuple[list[Row], list[str]]:
    every = [json.loads(line) for line in Path(file).read_text().splitlines()]
    if words[0] == "--tasks":
        tasks = words[1].split(",")
        every, words = [row for row in every if row["task"] in tasks], words[2:]
    return every, words


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["rows", folder, *benches]:
            for row in rows(Path(folder), [Path(bench) for bench in benches]):
                print(json.dumps(row))
        case ["scores", file, *words] if words:
            print_scores(*read(file, words))
        case ["reports", file, *words] if words:
            print_reports(*read(file, words))
        case _:
            sys.exit(__doc__)
