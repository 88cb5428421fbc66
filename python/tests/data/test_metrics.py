"""Every metric: its function and its resampled form agree, also with weights, and a weight is as many equal rows."""

import itertools
from typing import Any

import numpy as np
import pytest
from mle_star_data import metrics, questions
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


def known(name: str) -> Metric:
    found = metrics.named(name)
    assert found is not None
    return found


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("name", NAMES)
def test_a_function_and_its_resampled_form_agree(name: str, classes: int) -> None:
    metric = known(name)
    truth, predicted = rows(metric, classes)
    counts = np.random.default_rng(0).integers(0, 4, len(truth))
    repeated = np.repeat(np.arange(len(truth)), counts)
    resampled = metric.scores(truth, predicted, np.stack([np.ones(len(truth)), counts]))
    weighted = metric.function(truth, predicted, counts.astype(np.float64))
    assert resampled[0] == pytest.approx(metric.function(truth, predicted), abs=1e-9)
    assert resampled[1] == pytest.approx(metric.function(truth[repeated], predicted[repeated]), abs=1e-9)
    assert resampled[1] == pytest.approx(weighted, abs=1e-9)
    assert metric.least - 1e-12 <= resampled[0] <= metric.most + 1e-12


def test_a_name_without_its_parameter_is_no_metric() -> None:
    assert [metrics.named(name) for name in ("MAP", "pinball loss", "rmse", "")] == [None] * 4


@pytest.mark.parametrize("classes", [0, 2, 3, 5])
@pytest.mark.parametrize("name", NAMES)
def test_a_source_computes_alone_what_the_function_does(name: str, classes: int) -> None:
    metric = metrics.for_classes(known(name), classes)
    if classes == 0 and metric.kind not in ("numbers", "order", "intervals"):
        pytest.skip("it is about classes")
    source = metric.source()
    assert "mle_star" not in source
    assert source.count("def score(truth, predicted, weight=None):") == 1
    alone: dict[str, Any] = {}
    exec(compile(source, name, "exec"), alone)
    truth, predicted = rows(metric, max(classes, 2))
    draw = np.random.default_rng(1)
    for weight in (None, draw.random(len(truth)), draw.integers(0, 4, len(truth)).astype(np.float64)):
        expected = metric.function(truth, predicted, weight)
        assert alone["score"](truth, predicted, weight) == pytest.approx(expected, abs=1e-12, rel=1e-12)
        if weight is None:
            assert alone["score"](truth, predicted) == pytest.approx(expected, abs=1e-12, rel=1e-12)


@pytest.mark.parametrize(
    ("name", "classes", "function"),
    [
        ("F1", 2, metrics.f1),
        ("F1", 3, metrics.macro_f1),
        ("normalized Gini", 0, metrics.gini),
        ("normalized Gini", 2, metrics.gini_of_classes),
        ("MCRMSE", 0, metrics.rmse),
        ("mean column-wise log loss", 2, metrics.log_loss),
        ("mean column-wise log loss", 3, metrics.column_log_loss),
    ],
)
def test_the_number_of_classes_decides_the_function(name: str, classes: int, function: metrics.Function) -> None:
    assert metrics.for_classes(known(name), classes).function is function


def test_each_metric_has_a_source_of_its_own() -> None:
    asked = [questions.answer({"question": "source", "metric": name, "classes": 3})["source"] for name in NAMES]
    sources = list(zip(NAMES, asked, strict=True))
    same = [(one, other) for (one, text), (other, its) in itertools.combinations(sources, 2) if text == its]
    assert same == [("F1", "macro F1"), ("RMSE", "MCRMSE")]
