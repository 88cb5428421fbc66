"""Who made the predictions in a file: models that know the labels of their rows, or models that do not?

A call is a dictionary: the hashes of the predicted `rows`, the `values` with a column for each output, and what is known
of the model: `name`, `line`, and `by`, which says what knows the labels. It is empty if nothing does, and `?` if that is
not certain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mle_star_rows import are_distinct

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

FEWEST = 20
"""A finding has at least this many rows."""


def knows(call: dict[str, Any]) -> bool:
    """Are the labels of the predicted rows certainly known?"""
    return call["by"] not in ("", "?")


def judged(cells: list[str], calls: list[dict[str, Any]], orders: list[Any]) -> dict[str, Any]:
    """Who predicted the values of a column. The orders are those of as many rows."""
    import numpy as np

    try:
        values = np.array([float(cell) for cell in cells])
    except ValueError:
        values = np.zeros(0)
    found = {"verdict": "unknown"}
    if len(values) >= FEWEST and np.isfinite(values).all() and (values != values.round()).any():
        _, counts = np.unique(values, return_counts=True)
        if len(counts) >= FEWEST and counts.max() <= len(values) / 2:
            found = judged_numbers(values, calls)
        return blended(values, calls, orders) if found["verdict"] == "unknown" else found
    return judged_labels(np.array([plain(cell) for cell in cells]), calls, orders)


def judged_numbers(values: Any, calls: list[dict[str, Any]]) -> dict[str, Any]:
    """Values are known again, because models hardly predict the same ones by chance."""
    import numpy as np

    own, clean, knowing = np.zeros(len(values), bool), np.zeros(len(values), bool), {}
    for call in [*calls, *means(calls)]:
        if call["values"].dtype.kind not in "fiu":
            continue
        predicted = call["values"].ravel().astype(np.float64)
        with np.errstate(over="ignore"):
            predicted = np.unique(np.concatenate([predicted, np.expm1(predicted), np.exp(predicted)]))
        predicted = predicted[np.isfinite(predicted)]
        found = is_in(values, predicted)
        # Where shifted values are found as well, equal values say nothing.
        if knows(call) and is_in(values * (1 + 3e-5), predicted).mean() <= 0.05:
            by = (call["name"], call["line"], call["by"])
            knowing[by] = knowing.get(by, np.zeros(len(values), bool)) | found
        elif not knows(call):
            own |= found
            clean |= found & (call["by"] == "")
    best = max(knowing, key=lambda by: (knowing[by] & ~own).sum(), default=None)
    leaks = sum((found & ~own for found in knowing.values()), np.zeros(len(values), bool))
    if best is not None and leaks.sum() >= max(FEWEST, len(values) / 2):
        return leak(best, int(leaks.sum()), len(values))
    if clean.mean() >= 0.5:
        return {"verdict": "clean", "rows": int(clean.sum()), "of": len(values)}
    return {"verdict": "unknown"}


def is_in(values: Any, predicted: Any) -> Any:
    """Is a value predicted, up to the digits that single precision has?"""
    import numpy as np

    if not len(predicted):
        return np.zeros(len(values), bool)
    after = np.searchsorted(predicted, values).clip(0, len(predicted) - 1)
    before = (after - 1).clip(0)
    distance = np.minimum(abs(predicted[after] - values), abs(predicted[before] - values))
    return distance <= 1e-6 * abs(values)


def means(calls: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The means of predictions for the same rows."""
    import numpy as np

    of_rows: dict[Any, list[dict[str, Any]]] = {}
    for call in calls:
        if call["values"].dtype.kind in "fiu":
            key = (call["rows"].tobytes(), call["values"].shape[1], call["by"])
            of_rows.setdefault(key, []).append(call)
    for same in of_rows.values():
        if len(same) > 1:
            yield {**same[0], "values": np.mean([call["values"] for call in same], axis=0)}


def blended(values: Any, calls: list[dict[str, Any]], orders: list[Any]) -> dict[str, Any]:
    """Values are weighted sums of what several models predicted, up to rounding. Nothing is a sum of others by chance."""
    for rows in orders:
        if not are_distinct(rows):
            continue
        others, knowing = [call for call in calls if not knows(call)], [call for call in calls if knows(call)]
        if is_sum(values, outputs(rows, others)):
            is_clean = all(call["by"] == "" for call in others)
            return {"verdict": "clean", "rows": len(values), "of": len(values)} if is_clean else {"verdict": "unknown"}
        if is_sum(values, outputs(rows, knowing)):
            call = knowing[-1]
            return leak((call["name"], call["line"], call["by"]), len(values), len(values))
    return {"verdict": "unknown"}


def outputs(rows: Any, calls: list[dict[str, Any]]) -> list[Any]:
    """The outputs of each model for these rows, for which several folds may have been predicted one by one."""
    of_model: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    times: dict[tuple[Any, ...], int] = {}
    for call in calls:
        if call["values"].dtype.kind in "fiu":
            model = (call["name"], call["line"], call["values"].shape[1])
            same = (*model, call["rows"].tobytes())
            times[same] = times.get(same, 0) + 1
            of_model.setdefault((*model, times[same]), []).append(call)
    found = []
    for of_one in of_model.values():
        for at in range(of_one[0]["values"].shape[1]):
            chosen = [{**call, "values": call["values"][:, [at]].astype(float)} for call in of_one]
            is_placed, _, scores = placed(rows, chosen)
            if is_placed.all():
                found.append(scores)
    return found


def is_sum(values: Any, outputs: list[Any]) -> bool:
    """Are the values a constant and a weighted sum of the outputs?"""
    import numpy as np

    if not outputs or len(values) < 10 * (len(outputs) + 1):
        return False
    table = np.column_stack([np.ones(len(values)), *outputs])
    weights, *_ = np.linalg.lstsq(table, values, rcond=None)
    return bool(abs(table @ weights - values).max() <= 1e-5 * values.std())


def judged_labels(labels: Any, calls: list[dict[str, Any]], orders: list[Any]) -> dict[str, Any]:
    """Labels are known again by their places: all of them have to agree."""
    import numpy as np

    names, counts = np.unique(labels, return_counts=True)
    names = sorted(names, key=lambda name: (number(name), name))
    if len(names) < 2 or len(labels) - counts.max() < FEWEST:
        return {"verdict": "unknown"}
    found = {"verdict": "unknown"}
    for rows in orders:
        if not are_distinct(rows):
            continue
        others, knowing = [call for call in calls if not knows(call)], [call for call in calls if knows(call)]
        by_others, _, _ = placed(rows, others)
        is_placed, values, scores = placed(rows, knowing, names)
        is_clean, of_clean, scores_of_clean = placed(rows, [call for call in others if call["by"] == ""], names)
        if is_clean.mean() >= 0.5 and agree(labels, names, of_clean, scores_of_clean, is_clean):
            found = {"verdict": "clean", "rows": int(is_clean.sum()), "of": len(labels)}
        if by_others.mean() < 0.2 and is_placed.mean() >= 0.99:
            if agree(labels, names, values, scores, is_placed):
                call = knowing[-1]
                return leak((call["name"], call["line"], call["by"]), int(is_placed.sum()), len(labels))
    return found


def agree(labels: Any, names: Any, values: Any, scores: Any, at: Any) -> bool:
    """Are the labels the predicted ones, or else those of the scores above a threshold?"""
    same = values[at] == labels[at]
    return bool(same.all()) or len(names) == 2 and is_threshold(scores[at], labels[at] == names[1])


def placed(rows: Any, calls: list[dict[str, Any]], names: Sequence[str] = ()) -> tuple[Any, Any, Any]:
    """Which of these rows were predicted, as which of the named labels, and with which scores of the second one."""
    import numpy as np

    is_placed, scores = np.zeros(len(rows), bool), np.full(len(rows), np.nan)
    values = np.full(len(rows), "", dtype=object)
    order = np.argsort(rows)
    for call in calls:
        places = order[np.searchsorted(rows[order], call["rows"]).clip(0, len(rows) - 1)]
        is_here = rows[places] == call["rows"]
        places, predicted = places[is_here], call["values"][is_here]
        is_placed[places] = True
        if predicted.dtype.kind == "f" and predicted.shape[1] <= 2:
            scores[places] = predicted[:, -1]
        values[places] = labels_of(predicted, names)
    return is_placed, values, scores


def labels_of(predicted: Any, names: Sequence[str]) -> list[str]:
    """The predicted labels: themselves, their numbers, or a score for each of them."""
    if predicted.shape[1] > 1:
        numbers = predicted.argmax(axis=1) if predicted.shape[1] == len(names) else []
        return [names[number] for number in numbers] or [""] * len(predicted)
    labels = [plain(str(value)) for value in predicted[:, 0]] if names else [""] * len(predicted)
    numbers = {str(number): name for number, name in enumerate(names)}
    if set(labels) <= numbers.keys() and not set(labels) <= set(names):
        return [numbers[label] for label in labels]
    return labels


def is_threshold(scores: Any, is_second: Any) -> bool:
    """Do exactly the higher scores have the second label?"""
    import numpy as np

    if not np.isfinite(scores).all() or is_second.all() or not is_second.any():
        return False
    return bool(scores[is_second].min() >= scores[~is_second].max())


def number(name: str) -> float:
    """The place of a label among numbers, or after them."""
    try:
        return float(name)
    except ValueError:
        return float("inf")


def plain(cell: str) -> str:
    """A label without what differs between files: `1.0` is `1`, and `True` is `1`."""
    text = cell.strip()
    if text.lower() in ("true", "false"):
        return str(int(text.lower() == "true"))
    try:
        return format(float(text), ".12g")
    except ValueError:
        return text


def leak(by: tuple[str, int, str], rows: int, of: int) -> dict[str, Any]:
    """The finding."""
    return {"verdict": "leak", "estimator": by[0], "line": by[1], "by": by[2], "rows": rows, "of": of}
