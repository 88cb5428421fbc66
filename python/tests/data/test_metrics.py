"""Every metric: its function and its resampled form agree, also with weights, and a weight is as many equal rows."""

from typing import Any

import numpy as np
import pytest
from mle_star_data import metrics
from mle_star_data.metrics import Metric
from numpy.typing import NDArray

NAMES = [one.name for one in metrics.TABLE] + ["MAP@3", "top-2 accuracy", "pinball loss 0.9", "interval score 0.8"]
Rows = tuple[NDArray[Any], NDArray[Any]]


def rows(metric: Metric, classes: int, count: int = 400) -> Rows:
    draw = np.random.default_rng(classes)
    numbers = draw.gamma(2.0, 3.0, count).round(1)
    if metric.kind in ("numbers", "order"):
        return numbers, np.clip(numbers + draw.normal(0.0, 2.0, count), -0.9, None).round(2)
    if metric.kind == "intervals":
        middle = numbers + draw.normal(0.0, 2.0, count)
        return numbers, np.stack([middle - 2.0, middle + 2.0], axis=1)
    truth = draw.integers(0, classes, count)
    if metric.kind == "labels":
        return truth, np.where(draw.random(count) < 0.6, truth, draw.integers(0, classes, count))
    if metric.kind == "probabilities":
        scores = draw.random((count, classes)).round(2) + 0.7 * np.eye(classes)[truth]
        return truth, scores / scores.sum(axis=1, keepdims=True)
    if metric.kind == "guesses":
        return truth, np.argsort(draw.random((count, 5)), axis=1)
    sets = draw.random((count, 6)) < 0.3
    return sets, sets ^ (draw.random((count, 6)) < 0.2)


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("name", NAMES)
def test_a_function_and_its_resampled_form_agree(name: str, classes: int) -> None:
    metric = metrics.named(name)
    assert metric is not None
    truth, predicted = rows(metric, classes)
    counts = np.random.default_rng(0).integers(0, 4, len(truth))
    repeated = np.repeat(np.arange(len(truth)), counts)
    resampled = metric.resampled(truth, predicted)(np.stack([np.ones(len(truth)), counts]))
    weighted = metric.function(truth, predicted, counts.astype(np.float64))
    assert resampled[0] == pytest.approx(metric.function(truth, predicted), abs=1e-9)
    assert resampled[1] == pytest.approx(metric.function(truth[repeated], predicted[repeated]), abs=1e-9)
    assert resampled[1] == pytest.approx(weighted, abs=1e-9)
    assert metric.least - 1e-12 <= resampled[0] <= metric.most + 1e-12


def test_a_name_without_its_parameter_is_no_metric() -> None:
    assert [metrics.named(name) for name in ("MAP", "pinball loss", "rmse", "")] == [None] * 4
    assert "mean_squared_error" in next(one for one in metrics.TABLE if one.name == "RMSE").source()
