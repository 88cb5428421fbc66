"""The metrics that the program knows: one table.

A function takes the truth, the predictions and, if rows have some, their weights. What it takes is its kind:

- `numbers`: numbers and numbers
- `labels`: places of classes and places of classes
- `probabilities`: places of classes, and a column of probabilities for each class; of two classes, the second is the
  positive one
- `guesses`: places of classes, and columns of places, the best guess first, -1 for none
- `sets`: two matrices that are 1 where a row has a label
- `intervals`: numbers, and two columns with the lower and the upper bound

`order` is a metric of numbers or of two classes with scores that put rows in order. Scripts compute with the source of
the same functions (`Metric.source`), so each of them uses `np`, `metrics` and other functions of this file alone.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from . import resampled
from .resampled import Resampled

if TYPE_CHECKING:
    from sklearn import metrics
else:

    class _Late:
        """`sklearn.metrics`, imported when a score needs it."""

        def __getattr__(self, name: str) -> Any:
            from sklearn import metrics

            return getattr(metrics, name)

    metrics = _Late()

Array = NDArray[Any]
Weight = NDArray[np.float64] | None
Kind = Literal["numbers", "labels", "probabilities", "order", "guesses", "sets", "intervals"]


class Function(Protocol):
    """A score of predictions."""

    def __call__(self, truth: Array, predicted: Array, weight: Weight = None, /) -> float: ...


def rmse(truth: Array, predicted: Array, weight: Weight = None) -> float:
    """The root of the mean squared error."""
    return float(metrics.root_mean_squared_error(truth, predicted, sample_weight=weight))


def mse(truth: Array, predicted: Array, weight: Weight = None) -> float:
    """The mean squared error."""
    return float(metrics.mean_squared_error(truth, predicted, sample_weight=weight))


def mae(truth: Array, predicted: Array, weight: Weight = None) -> float:
    """The mean absolute error."""
    return float(metrics.mean_absolute_error(truth, predicted, sample_weight=weight))


def median_absolute_error(truth: Array, predicted: Array, weight: Weight = None) -> float:
    """The median of the absolute errors; with weights, the middle of two where they divide the rows equally."""
    errors = np.abs(np.asarray(predicted) - truth)
    if weight is None:
        return float(np.median(errors))
    order = np.argsort(errors, kind="stable")
    above = np.cumsum(np.asarray(weight)[order]) / np.sum(weight)
    low, high = (np.searchsorted(above, 0.5 + side) for side in (-1e-12, 1e-12))
    return float((errors[order[low]] + errors[order[high]]) / 2)


def rmsle(truth: Array, predicted: Array, weight: Weight = None) -> float:
    """The root of the mean squared error of the logarithms of one plus the value."""
    return float(metrics.root_mean_squared_log_error(truth, predicted, sample_weight=weight))


def r2(truth: Array, predicted: Array, weight: Weight = None) -> float:
    """The share of the variance that is explained."""
    return float(metrics.r2_score(truth, predicted, sample_weight=weight))


def mape(truth: Array, predicted: Array, weight: Weight = None) -> float:
    """The mean absolute error as a share of the truth, not in percent."""
    return float(metrics.mean_absolute_percentage_error(truth, predicted, sample_weight=weight))


def smape(truth: Array, predicted: Array, weight: Weight = None) -> float:
    """The mean of 200 * |error| / (|truth| + |prediction|), in percent, where 0/0 counts as 0."""
    sizes = np.abs(truth) + np.abs(predicted)
    errors = 200.0 * np.abs(np.asarray(predicted) - truth) / np.where(sizes > 0, sizes, 1.0)
    return float(np.average(errors, weights=weight))


def pearson(truth: Array, predicted: Array, weight: Weight = None) -> float:
    """The linear correlation of truth and prediction."""
    return float(np.clip(weighted_correlation(truth, predicted, weight), -1.0, 1.0))


def spearman(truth: Array, predicted: Array, weight: Weight = None) -> float:
    """The rank correlation of truth and prediction."""
    return float(np.clip(weighted_correlation(ranks(truth, weight), ranks(predicted, weight), weight), -1.0, 1.0))


def gini(truth: Array, predicted: Array, weight: Weight = None) -> float:
    """The normalized Gini coefficient: how the truth goes with the rank of the prediction, compared with its own
    rank."""
    own, others = ranks(truth, weight), ranks(predicted, weight)
    return float(covariance(truth, others, weight) / covariance(truth, own, weight))


def ranks(values: Array, weight: Weight = None) -> Array:
    """The rank of each value, if it were repeated as often as its weight says; equal values share the mean rank."""
    codes = np.unique(values, return_inverse=True)[1]
    tied = np.bincount(codes, weights=weight)
    return np.asarray((np.cumsum(tied) - tied / 2)[codes])


def covariance(one: Array, other: Array, weight: Weight = None) -> float:
    """The weighted covariance."""
    one, other = one - np.average(one, weights=weight), other - np.average(other, weights=weight)
    return float(np.average(one * other, weights=weight))


def weighted_correlation(one: Array, other: Array, weight: Weight = None) -> float:
    """The weighted linear correlation; not a number where a side is constant."""
    if np.ptp(one) == 0 or np.ptp(other) == 0:
        return float("nan")
    spread = covariance(one, one, weight) * covariance(other, other, weight)
    return covariance(one, other, weight) / float(np.sqrt(spread))


def pinball(quantile: float, truth: Array, predicted: Array, weight: Weight = None) -> float:
    """The pinball loss of a quantile."""
    return float(metrics.mean_pinball_loss(truth, predicted, alpha=quantile, sample_weight=weight))


def interval_score(covered: float, truth: Array, predicted: Array, weight: Weight = None) -> float:
    """The width of intervals that should cover this share of the values, and what values outside cost."""
    lower, upper = predicted[:, 0], predicted[:, 1]
    outside = np.maximum(lower - truth, 0.0) + np.maximum(truth - upper, 0.0)
    return float(np.average(upper - lower + 2.0 / (1.0 - covered) * outside, weights=weight))


def accuracy(truth: Array, predicted: Array, weight: Weight = None) -> float:
    """The share of rows whose class is right."""
    return float(metrics.accuracy_score(truth, predicted, sample_weight=weight))


def balanced_accuracy(truth: Array, predicted: Array, weight: Weight = None) -> float:
    """The mean recall of the classes that have rows."""
    return float(metrics.balanced_accuracy_score(truth, predicted, sample_weight=weight))


def f1(truth: Array, predicted: Array, weight: Weight = None) -> float:
    """F1 of the second of two classes."""
    hits = np.asarray(truth) == 1, np.asarray(predicted) == 1
    return float(metrics.f1_score(*hits, sample_weight=weight, zero_division=0.0))


def macro_f1(truth: Array, predicted: Array, weight: Weight = None) -> float:
    """The mean F1 of the classes."""
    return float(metrics.f1_score(truth, predicted, average="macro", sample_weight=weight, zero_division=0.0))


def micro_f1(truth: Array, predicted: Array, weight: Weight = None) -> float:
    """F1 over all decisions."""
    return float(metrics.f1_score(truth, predicted, average="micro", sample_weight=weight, zero_division=0.0))


def weighted_f1(truth: Array, predicted: Array, weight: Weight = None) -> float:
    """The mean F1 of the classes, weighted by their rows."""
    return float(metrics.f1_score(truth, predicted, average="weighted", sample_weight=weight, zero_division=0.0))


def mcc(truth: Array, predicted: Array, weight: Weight = None) -> float:
    """The Matthews correlation coefficient."""
    return float(metrics.matthews_corrcoef(truth, predicted, sample_weight=weight))


def quadratic_kappa(truth: Array, predicted: Array, weight: Weight = None) -> float:
    """Cohen's kappa with quadratic weights, over the positions of all classes."""
    classes = np.arange(max(np.max(truth), np.max(predicted)) + 1)
    return float(metrics.cohen_kappa_score(truth, predicted, labels=classes, weights="quadratic", sample_weight=weight))


def roc_auc(truth: Array, predicted: Array, weight: Weight = None) -> float:
    """The area under the ROC curve: of the second of two classes, else of each class against the rest, averaged."""
    columns = [1] if predicted.shape[1] == 2 else np.unique(truth)
    return float(
        np.mean([metrics.roc_auc_score(truth == one, predicted[:, one], sample_weight=weight) for one in columns])
    )


def average_precision(truth: Array, predicted: Array, weight: Weight = None) -> float:
    """The average precision: of the second of two classes, else of each class against the rest, averaged."""
    columns = [1] if predicted.shape[1] == 2 else np.unique(truth)
    return float(
        np.mean(
            [metrics.average_precision_score(truth == one, predicted[:, one], sample_weight=weight) for one in columns]
        )
    )


def gini_of_classes(truth: Array, predicted: Array, weight: Weight = None) -> float:
    """The normalized Gini coefficient: twice the area under the ROC curve of the second class, less one."""
    return float(2.0 * metrics.roc_auc_score(truth == 1, predicted[:, 1], sample_weight=weight) - 1.0)


def log_loss(truth: Array, predicted: Array, weight: Weight = None) -> float:
    """The logarithmic loss of the class probabilities."""
    classes = np.arange(predicted.shape[1])
    return float(metrics.log_loss(truth, predicted, labels=classes, sample_weight=weight))


def brier(truth: Array, predicted: Array, weight: Weight = None) -> float:
    """The squared error of the class probabilities; of two classes, that of the second."""
    squares = (predicted - np.eye(predicted.shape[1])[truth]) ** 2
    errors = squares[:, 1] if predicted.shape[1] == 2 else squares.sum(axis=1)
    return float(np.average(errors, weights=weight))


def column_roc_auc(truth: Array, predicted: Array, weight: Weight = None) -> float:
    """The area under the ROC curve of each class against the rest, averaged."""
    return float(
        np.mean(
            [metrics.roc_auc_score(truth == one, predicted[:, one], sample_weight=weight) for one in np.unique(truth)]
        )
    )


def column_log_loss(truth: Array, predicted: Array, weight: Weight = None) -> float:
    """The logarithmic loss of each class against the rest, averaged."""
    classes = range(predicted.shape[1])
    losses = [
        metrics.log_loss(truth == one, predicted[:, one], labels=[False, True], sample_weight=weight) for one in classes
    ]
    return float(np.mean(losses))


def map_at(most: int, truth: Array, predicted: Array, weight: Weight = None) -> float:
    """The mean of one divided by the place of the class among so many guesses."""
    found = predicted[:, :most] == np.asarray(truth)[:, None]
    places = np.where(found.any(axis=1), found.argmax(axis=1) + 1.0, np.inf)
    return float(np.average(1.0 / places, weights=weight))


def top_accuracy(most: int, truth: Array, predicted: Array, weight: Weight = None) -> float:
    """The share of rows whose class is among so many guesses."""
    found = predicted[:, :most] == np.asarray(truth)[:, None]
    return float(np.average(found.any(axis=1), weights=weight))


def sample_f1(truth: Array, predicted: Array, weight: Weight = None) -> float:
    """The mean over the rows of the F1 of two sets of labels; that of two empty sets is 1."""
    return float(metrics.f1_score(truth, predicted, average="samples", sample_weight=weight, zero_division=1.0))


def set_micro_f1(truth: Array, predicted: Array, weight: Weight = None) -> float:
    """F1 over all decisions about the labels of all rows' sets."""
    return float(metrics.f1_score(truth, predicted, average="micro", sample_weight=weight, zero_division=0.0))


def set_macro_f1(truth: Array, predicted: Array, weight: Weight = None) -> float:
    """The mean F1 of the labels, each of which is in a row's set or not."""
    has_rows = np.flatnonzero((np.asarray(truth) + np.asarray(predicted)).any(axis=0))
    return float(
        metrics.f1_score(truth, predicted, labels=has_rows, average="macro", sample_weight=weight, zero_division=0.0)
    )


@dataclass(frozen=True)
class Metric:
    """A row of the table."""

    name: str
    kind: Kind
    function: Function
    """The score of rows."""
    resampled: Callable[[Array, Array], Resampled]
    """The same score for any weights of the same rows, for many at once."""
    least: float = 0.0
    """The smallest possible score."""
    most: float = 1.0
    """The largest possible score."""
    is_error: bool = False
    """Whether smaller scores are better."""
    of_column: str | None = None
    """The metric of each column, for a mean over columns."""
    guesses: int = 1
    """How many guesses of a row count."""
    by_order: bool = False
    """Whether the order of predictions counts alone, not how large they are."""

    def source(self) -> str:
        """The function as a text that stands alone: `score(truth, predicted, weight=None)` with what it imports and
        calls."""
        function: Any = self.function
        bound = function.args if isinstance(function, partial) else ()
        function = function.func if isinstance(function, partial) else function
        parts = [_text(function, "score", bound)]
        own, names = vars(sys.modules[__name__]), _names(parts[0])
        waiting = sorted(names)
        while waiting:
            name = waiting.pop()
            if inspect.isfunction(own.get(name)):
                parts.insert(0, _text(own[name], name))
                waiting += sorted(_names(parts[0]) - names)
                names |= _names(parts[0])
        imports = [line for name, line in IMPORTS.items() if name in names]
        return "\n\n\n".join(["\n".join(imports), *parts])

    def sign(self) -> float:
        """What turns a score into one that is better if it is larger."""
        return -1.0 if self.is_error else 1.0


IMPORTS = {"np": "import numpy as np", "metrics": "from sklearn import metrics"}
"""What a text of a function imports for the names that it uses."""


def _text(function: Any, name: str, bound: tuple[Any, ...] = ()) -> str:
    """The source of a function under this name, without types. Its first parameters may have values."""
    lines = inspect.getsource(function).splitlines()
    (node,) = ast.parse("\n".join(lines)).body
    assert isinstance(node, ast.FunctionDef)
    for one in node.args.args:
        one.annotation = None
    values = [f"    {one.arg} = {value!r}" for one, value in zip(node.args.args, bound)]  # noqa: B905
    node.args.args = node.args.args[len(bound) :]
    words, said = node.body[0].lineno - 1, node.body[0].end_lineno
    head = f"def {name}({ast.unparse(node.args)}):"
    return "\n".join([head, *lines[words:said], *values, *lines[said:]])


def _names(text: str) -> set[str]:
    return {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}


INFINITE = float("inf")


def _error(name: str, function: Function, rows: Any, *, most: float = INFINITE, kind: Kind = "numbers") -> Metric:
    return Metric(name, kind, function, rows, most=most, is_error=True)


_OF_ROWS = resampled.mean_of_rows

TABLE: list[Metric] = [
    Metric("accuracy", "labels", accuracy, _OF_ROWS(resampled.hits)),
    Metric("balanced accuracy", "labels", balanced_accuracy, resampled.counts("balanced accuracy")),
    Metric("F1", "labels", f1, resampled.counts("f1")),
    Metric("macro F1", "labels", macro_f1, resampled.counts("macro f1")),
    Metric("micro F1", "labels", micro_f1, _OF_ROWS(resampled.hits)),
    Metric("weighted F1", "labels", weighted_f1, resampled.counts("weighted f1")),
    Metric("ROC-AUC", "probabilities", roc_auc, resampled.curves("roc"), by_order=True),
    Metric("average precision", "probabilities", average_precision, resampled.curves("precision"), by_order=True),
    _error("log loss", log_loss, _OF_ROWS(resampled.log_losses), kind="probabilities"),
    _error("Brier score", brier, _OF_ROWS(resampled.squares_of_classes), most=2.0, kind="probabilities"),
    Metric("MCC", "labels", mcc, resampled.counts("mcc"), least=-1.0),
    Metric("quadratic weighted kappa", "labels", quadratic_kappa, resampled.counts("kappa"), least=-1.0),
    _error("RMSE", rmse, resampled.mean_of_rows(resampled.squares, is_root=True)),
    _error("MSE", mse, _OF_ROWS(resampled.squares)),
    _error("MAE", mae, _OF_ROWS(resampled.sizes)),
    _error("median absolute error", median_absolute_error, resampled.medians),
    Metric("R2", "numbers", r2, resampled.r2, least=-INFINITE),
    _error("RMSLE", rmsle, resampled.mean_of_rows(resampled.log_squares, is_root=True)),
    _error("MAPE", mape, _OF_ROWS(resampled.shares)),
    _error("SMAPE", smape, _OF_ROWS(resampled.symmetric_shares), most=200.0),
    Metric("Spearman correlation", "numbers", spearman, resampled.correlations(True), least=-1.0, by_order=True),
    Metric("Pearson correlation", "numbers", pearson, resampled.correlations(False), least=-1.0),
    Metric("normalized Gini", "order", gini, resampled.ginis, least=-1.0, by_order=True),
    Metric("sample-averaged F1", "sets", sample_f1, _OF_ROWS(resampled.f1_of_sets)),
    Metric("micro F1 of sets", "sets", set_micro_f1, resampled.sets(is_micro=True)),
    Metric("macro F1 of sets", "sets", set_macro_f1, resampled.sets(is_micro=False)),
    Metric(
        "mean column-wise ROC-AUC",
        "probabilities",
        column_roc_auc,
        resampled.curves("roc", each=True),
        by_order=True,
        of_column="ROC-AUC",
    ),
]
_RMSE = next(one for one in TABLE if one.name == "RMSE")
TABLE += [
    Metric("MCRMSE", "numbers", rmse, _RMSE.resampled, most=INFINITE, is_error=True, of_column="RMSE"),
    Metric(
        "mean column-wise log loss",
        "probabilities",
        column_log_loss,
        _OF_ROWS(resampled.column_log_losses),
        most=INFINITE,
        is_error=True,
        of_column="log loss",
    ),
]


def named(name: str) -> Metric | None:
    """The metric of this name, such as `RMSE`, `MAP@3` or `pinball loss 0.9`."""
    found = [one for one in TABLE if one.name == name]
    return found[0] if found else _with_parameter(name)


def _with_parameter(name: str) -> Metric | None:
    if found := re.fullmatch(r"MAP@(\d+)", name):
        most = int(found[1])
        rows = partial(resampled.gains, most, True)
        return Metric(name, "guesses", partial(map_at, most), _OF_ROWS(rows), guesses=most)
    if found := re.fullmatch(r"top-(\d+) accuracy", name):
        most = int(found[1])
        rows = partial(resampled.gains, most, False)
        return Metric(name, "guesses", partial(top_accuracy, most), _OF_ROWS(rows), guesses=most)
    if found := re.fullmatch(r"pinball loss ([\d.]+)", name):
        share = float(found[1])
        return _error(name, partial(pinball, share), _OF_ROWS(partial(resampled.pinballs, share)))
    if found := re.fullmatch(r"interval score ([\d.]+)", name):
        share = float(found[1])
        rows = partial(resampled.interval_scores, share)
        return _error(name, partial(interval_score, share), _OF_ROWS(rows), kind="intervals")
    return None


def for_classes(metric: Metric, classes: int) -> Metric:
    """The metric of a target with so many classes, or 0 for numbers: F1 of more than two is their mean, two classes are
    put in order by probabilities, and a mean over the columns of classes needs three."""
    if metric.name == "F1" and classes != 2:
        return next(one for one in TABLE if one.name == "macro F1")
    if metric.kind == "order" and classes == 2:
        return of_two_classes(metric)
    if metric.of_column is not None and classes <= 2:
        return next(one for one in TABLE if one.name == metric.of_column)
    return metric


def of_two_classes(metric: Metric) -> Metric:
    """A metric of order for a target of two classes, which scripts predict by one score."""
    return Metric(metric.name, "probabilities", gini_of_classes, resampled.curves("gini"), least=-1.0, by_order=True)
