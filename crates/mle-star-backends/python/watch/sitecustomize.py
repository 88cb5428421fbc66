"""Watches fits in a script: is a validation prediction made for a row that was fitted together with its label?

It is `sitecustomize` of the script's process, and of every Python process that the script starts. It wraps the methods
of scikit-learn's estimators (also those of LightGBM and XGBoost) and of CatBoost, and the `train` functions. Rows are
known by a hash of their content. Each prediction, and whether its model or a transformer that learns from labels was
fitted on its rows, is compared with `final/validation_predictions.csv` when the script ends. What is not certain is
not reported. A defect here never reaches the script: the watch ends, and the report says so.
"""

from __future__ import annotations

import atexit
import csv
import functools
import importlib
import importlib.abc
import json
import os
import pickle
import sys
import time
from typing import TYPE_CHECKING, Any

from mle_star_rows import are_distinct, known_rows
from mle_star_verdict import judged

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

NAME = "mle_star_watch"
FOLDER = os.path.dirname(os.path.abspath(__file__))
PROCESS = "MLE_STAR_WATCHING_PROCESS"
"""The variable with the number of the script's own process."""
KNOWN = "_mle_star_fitted_on"
"""The attribute of an estimator that says what it was fitted on: name, line, hashes of rows, is it certain."""
WRAPPED = "_mle_star_watched"
"""The attribute of methods that are wrapped."""
METHODS = {
    "fit": "fit",
    "partial_fit": "more",
    "fit_transform": "fit_transform",
    "fit_predict": "fit",
    "transform": "transform",
    "predict": "predict",
    "predict_proba": "predict",
    "decision_function": "predict",
}
SUPERVISED = ("TargetEncoder", "CatBoostEncoder", "LeaveOneOutEncoder", "JamesSteinEncoder", "MEstimateEncoder")
SUPERVISED += ("WOEEncoder", "GLMMEncoder", "QuantileEncoder", "SelectKBest", "SelectPercentile", "SelectFpr")
SUPERVISED += ("SelectFdr", "SelectFwe", "GenericUnivariateSelect", "SelectFromModel", "RFE", "RFECV")
SUPERVISED += ("SequentialFeatureSelector", "LinearDiscriminantAnalysis", "PLSRegression")
SUPERVISED += ("NeighborhoodComponentsAnalysis",)
"""Transformers that learn from labels. Others are given labels, too, and ignore them."""
MOST_VALUES = 20_000_000
"""So many values of rows and predictions are kept, at most."""
MOST_ORDERS = 4
MOST_NUMBERS = 40
CERTAIN = 0.8
"""A model knows the rows that it predicts if it was fitted on at least this share of them."""
UNKNOWN = 0.3
"""It does not know them if it was fitted on at most this share: rows that look like others."""


class Watch:
    """What was seen in this process."""

    def __init__(self) -> None:
        self.depth = 0
        """How many noted calls are under way."""
        self.stopped = ""
        self.spent, self.began, self.values = 0.0, time.monotonic(), 0
        self.fits = 0
        self.orders: dict[int, list[Any]] = {}
        """The hashes of the rows of fits and predictions, in their order, by their number."""
        self.calls: list[dict[str, Any]] = []
        self.tainted: list[tuple[Any, list[Any]]] = []
        """What a transformer was fitted on with labels, and the rows that it made of these."""
        self.clean: list[Any] = []
        """Rows that such transformers made of others."""

    def call(self, kind: str, method: Callable[..., Any], this: Any, given: Any, named: Any) -> Any:
        """Calls a method, and notes it if no other noted call is under way."""
        if self.depth or self.stopped:
            return method(this, *given, **named)
        self.depth += 1
        try:
            result = method(this, *given, **named)
        finally:
            self.depth -= 1
        self.attempt(self.note, kind, this, given, named, result)
        return result

    def attempt(self, note: Callable[..., None], *what: Any) -> None:
        """Calls `note`. If it fails or takes too long, the watch ends."""
        start = time.monotonic()
        self.depth += 1
        try:
            note(*what)
        except Exception as error:  # noqa: BLE001 - nothing may reach the script
            self.stopped = f"the watch failed: {type(error).__name__}: {error}"[:200]
        finally:
            self.depth -= 1
        now = time.monotonic()
        self.spent += now - start
        if self.spent > 3 + 0.2 * (now - self.began):
            self.stopped = "to watch the script takes too long"

    def note(self, kind: str, this: Any, given: Sequence[Any], named: dict[str, Any], result: Any) -> None:
        """Notes a call that has ended."""
        data = first(given, named, "X", "data", "X_train")
        if kind in ("fit", "more", "fit_transform"):
            self.fitted(this, data, second(given, named), kind, named.get("sample_weight"))
        if kind in ("transform", "fit_transform"):
            self.transformed(this, data, result)
        elif kind == "predict":
            self.predicted(this, data, result)

    def fitted(self, this: Any, data: Any, target: Any, kind: str, weights: Any = None) -> None:
        """Remembers in an estimator what it was fitted on."""
        rows = known_rows(data)
        has_labels = target is not None or getattr(data, "_mle_star_labelled", False)
        before = vars(this).pop(KNOWN, None)
        if rows is None or not has_labels or type(this).__module__.startswith("sklearn.semi_supervised"):
            return
        import numpy as np

        self.fits += 1
        if weights is not None and len(weights) == len(rows):
            rows = rows[np.asarray(weights, float).ravel() != 0]
        self.order(rows)
        if kind == "more" and before is not None:
            rows = np.concatenate([before[2], rows])
        known = (type(this).__name__, line(), rows, are_distinct(rows))
        remember(this, known)
        best = vars(this).get("best_estimator_")
        if best is not None:
            remember(best, known)

    def transformed(self, this: Any, data: Any, result: Any) -> None:
        """Follows rows through a transformer that learns from labels."""
        known = vars(this).get(KNOWN)
        if known is None or not is_supervised(this):
            return
        rows, made = known_rows(data), known_rows(result)
        if rows is None or made is None or len(rows) != len(made):
            return
        import numpy as np

        is_known = np.isin(rows, known[2])
        if known[3] and are_distinct(made) and is_known.mean() >= CERTAIN:
            made_before = next((rows for fitted, rows in self.tainted if fitted is known), None)
            if made_before is None:
                self.tainted.append((known, [made[is_known]]))
            else:
                made_before.append(made[is_known])
        else:
            self.clean.append(made)

    def predicted(self, this: Any, data: Any, result: Any) -> None:
        """Notes predictions, and whether the model knows the labels of their rows."""
        import numpy as np

        rows, values = known_rows(data), result
        if hasattr(values, "to_numpy"):
            values = values.to_numpy()
        if rows is None or not isinstance(values, np.ndarray) or len(values) != len(rows):
            return
        values = values.reshape(len(rows), -1)
        self.values += values.size + rows.size
        if self.values > MOST_VALUES:
            self.stopped = "the script makes too many predictions to watch"
            return
        self.order(rows)
        name, at, by = self.who_knows(this, rows)
        call = {"name": name, "line": at, "by": by, "rows": rows, "values": values}
        if os.environ.get(PROCESS) == str(os.getpid()):
            self.calls.append(call)
        else:
            with open(os.path.join(FOLDER, f"calls-{os.getpid()}"), "ab") as file:
                pickle.dump(call, file)

    def who_knows(self, this: Any, rows: Any) -> tuple[str, int, str]:
        """What was fitted on these rows with their labels: its name and line, and `model` or `transformer`.

        Instead of these words: nothing if neither was, and `?` if it is not certain.
        """
        import numpy as np

        known = vars(this).get(KNOWN)
        if known is None:
            return type(this).__name__, 0, "?"
        name, at, fitted_on, is_certain = known
        share = np.isin(rows, fitted_on).mean()
        if not is_certain or UNKNOWN < share < CERTAIN:
            return name, at, "?"
        if share >= CERTAIN:
            return name, at, "model"
        for transformer, parts in self.tainted:
            made = np.concatenate(parts)
            is_tainted = np.isin(rows, made)
            for clean in self.clean:
                is_tainted &= ~np.isin(rows, clean)
            # The transformer of another fold knows these rows, but not all on which the model was fitted.
            if is_tainted.mean() >= CERTAIN and np.isin(fitted_on, made).mean() >= 0.99:
                return transformer[0], transformer[1], "transformer"
        return name, at, ""

    def order(self, rows: Any) -> None:
        """Keeps the first few orders of rows, by their number."""
        orders = self.orders.setdefault(len(rows), [])
        if len(orders) < MOST_ORDERS and not any((rows == other).all() for other in orders):
            orders.append(rows)
        if len(self.orders) > MOST_NUMBERS:
            del self.orders[next(iter(self.orders))]


WATCH = Watch()


# --- Estimators ---------------------------------------------------------------------------------------------------


def first(given: Sequence[Any], named: dict[str, Any], *names: str) -> Any:
    """The first argument, by position or name."""
    if given:
        return given[0]
    return next((named[name] for name in names if name in named), None)


def second(given: Sequence[Any], named: dict[str, Any]) -> Any:
    """The labels."""
    return given[1] if len(given) > 1 else named.get("y")


def remember(this: Any, known: Any) -> None:
    """Sets what an estimator was fitted on, past any `__setattr__`."""
    vars(this)[KNOWN] = known


def is_supervised(this: Any, depth: int = 4) -> bool:
    """Does a transformer learn from labels, or one of its steps?"""
    if type(this).__name__ in SUPERVISED:
        return True
    parts = vars(this).get("steps") or vars(this).get("transformers") or vars(this).get("transformer_list") or []
    return depth > 0 and any(
        is_supervised(part, depth - 1) for _, part, *_ in parts if part is not None and hasattr(part, "__dict__")
    )


def line() -> int:
    """The line of the script that runs; 0 if it is unknown."""
    main = getattr(sys.modules.get("__main__"), "__file__", None)
    frame = sys._getframe(1)
    while frame is not None:
        if main is not None and frame.f_code.co_filename == main:
            return frame.f_lineno
        frame = frame.f_back
    return 0


def wrapped(method: Any, kind: str) -> Any:
    """A method that is watched. It refers to this module by name, so that its class can be sent to other processes."""

    @functools.wraps(method)
    def watched(self: Any, *given: Any, **named: Any) -> Any:
        module = sys.modules.get("mle_star_watch")
        if module is None:
            return method(self, *given, **named)
        return module.WATCH.call(kind, method, self, given, named)

    setattr(watched, WRAPPED, True)
    return watched


def wrap_methods(cls: type) -> None:
    """Wraps the methods of a class where they are defined: in the class itself, or in a mixin."""
    for name, kind in METHODS.items():
        owner = next((owner for owner in cls.__mro__ if name in vars(owner)), None)
        method = owner and vars(owner)[name]
        if type(method).__name__ == "_AvailableIfDescriptor":
            if not hasattr(method.fn, WRAPPED):
                method.fn = wrapped(method.fn, kind)
        elif hasattr(method, "__code__") and not hasattr(method, WRAPPED):
            setattr(owner, name, wrapped(method, kind))


def watch_sklearn(module: ModuleType) -> None:
    """Wraps the methods of every class that will be derived from `BaseEstimator`."""
    base = module.BaseEstimator

    def __init_subclass__(cls: type, **named: Any) -> None:
        super(base, cls).__init_subclass__(**named)
        WATCH.attempt(wrap_methods, cls)

    base.__init_subclass__ = classmethod(__init_subclass__)


def watch_catboost(module: ModuleType) -> None:
    """Wraps CatBoost's models and its pools of rows."""
    watch_data(module.Pool, "label")
    for name in ("CatBoost", "CatBoostClassifier", "CatBoostRegressor", "CatBoostRanker"):
        wrap_methods(getattr(module, name))


def watch_data(cls: type, label: str) -> None:
    """Remembers the rows of a library's own tables."""
    make = cls.__init__  # type: ignore[misc]

    @functools.wraps(make)
    def made(self: Any, *given: Any, **named: Any) -> None:
        make(self, *given, **named)
        WATCH.attempt(remember_rows, self, first(given, named, "data"), second(given, {"y": named.get(label)}))

    cls.__init__ = made  # type: ignore[misc]


def remember_rows(made: Any, data: Any, labels: Any) -> None:
    """Keeps the rows of a library's own table with it."""
    made._mle_star_rows = None if isinstance(data, (str, os.PathLike)) else known_rows(data)
    made._mle_star_labelled = labels is not None


def watch_booster(module: ModuleType) -> None:
    """Wraps the predictions of boosters, and what they are trained on."""
    watch_data(getattr(module, "Dataset", None) or module.DMatrix, "label")
    if hasattr(module, "QuantileDMatrix"):
        watch_data(module.QuantileDMatrix, "label")
    module.Booster.predict = wrapped(module.Booster.predict, "predict")


def watch_train(module: ModuleType) -> None:
    """Wraps `train(params, data)`."""
    train = module.train

    @functools.wraps(train)
    def watched(*given: Any, **named: Any) -> Any:
        is_outer = not WATCH.depth
        WATCH.depth += 1
        try:
            booster = train(*given, **named)
        finally:
            WATCH.depth -= 1
        data = given[1] if len(given) > 1 else named.get("train_set", named.get("dtrain"))
        if is_outer and not WATCH.stopped:
            WATCH.attempt(WATCH.fitted, booster, data, None, "fit")
        return booster

    module.train = watched


PATCHES: dict[str, Callable[[ModuleType], None]] = {
    "sklearn.base": watch_sklearn,
    "catboost.core": watch_catboost,
    "lightgbm.basic": watch_booster,
    "lightgbm.engine": watch_train,
    "xgboost.core": watch_booster,
    "xgboost.training": watch_train,
}


class Finder(importlib.abc.MetaPathFinder):
    """Changes modules when they are imported."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        patch = PATCHES.get(name)
        if patch is None:
            return None
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(name, path, target)
            if spec is not None and spec.loader is not None:
                execute = spec.loader.exec_module

                def exec_module(module: ModuleType) -> None:
                    execute(module)
                    WATCH.attempt(patch, module)

                spec.loader.exec_module = exec_module  # type: ignore[method-assign]
                return spec
        return None


# --- The end ------------------------------------------------------------------------------------------------------


def report() -> None:
    """Compares what was predicted with the file, and writes the report."""
    if os.environ.get(PROCESS) != str(os.getpid()):
        return
    try:
        found = WATCH.stopped and {"verdict": "unknown", "why": WATCH.stopped} or compared()
    except Exception as error:  # noqa: BLE001 - nothing may reach the script
        found = {"verdict": "unknown", "why": f"the watch failed: {type(error).__name__}: {error}"[:200]}
    try:
        with open(os.path.join(FOLDER, "watch.json")) as file:
            with open(in_script_folder(json.load(file)["report"]), "w") as out:
                json.dump(found, out)
    except OSError:
        pass


def in_script_folder(name: str) -> str:
    """A path of the settings. The script may have changed its working directory."""
    return os.path.join(FOLDER, os.pardir, name)


def compared() -> dict[str, Any]:
    """What the validation predictions were made by."""
    with open(os.path.join(FOLDER, "watch.json")) as file:
        settings = json.load(file)
    try:
        with open(in_script_folder(settings["predictions"]), newline="") as file:
            header, *lines = [row for row in csv.reader(file) if row]
    except (OSError, ValueError):
        return {"verdict": "unknown", "why": "the script left no predictions for validation rows"}
    others = list(calls_of_others())
    for call in others:
        WATCH.order(call["rows"])
    calls = [*WATCH.calls, *others]
    if not WATCH.fits and not calls:
        return {"verdict": "unknown", "why": "no fit of a known library was seen"}
    found = {"verdict": "unknown", "why": "the validation predictions are not as any model predicted them"}
    columns = [header.index(name) for name in settings["columns"] if name in header]
    for column in columns:
        of_column = judged([row[column] for row in lines], calls, WATCH.orders.get(len(lines), []))
        if of_column["verdict"] == "leak":
            return of_column
        if of_column["verdict"] == "clean":
            found = of_column
    return found


def calls_of_others() -> Iterator[dict[str, Any]]:
    """The calls in processes that the script started."""
    for name in sorted(os.listdir(FOLDER)):
        if name.startswith("calls-"):
            with open(os.path.join(FOLDER, name), "rb") as file:
                while file.peek(1):
                    yield pickle.load(file)


# --- The beginning ------------------------------------------------------------------------------------------------


def real_sitecustomize() -> ModuleType | None:
    """Imports the user's own `sitecustomize`, if there is one, as Python would have."""
    paths = [path for path in sys.path if os.path.abspath(path) == FOLDER]
    for path in paths:
        sys.path.remove(path)
        sys.path_importer_cache.pop(path, None)
    sys.modules.pop("sitecustomize", None)
    try:
        return importlib.import_module("sitecustomize")
    except ImportError as error:
        if error.name != "sitecustomize":
            raise
        return None


if __name__ == "sitecustomize":
    this = sys.modules[NAME] = sys.modules["sitecustomize"]
    os.environ.setdefault(PROCESS, str(os.getpid()))
    sys.meta_path.insert(0, Finder())
    # First, so that it runs after every other function at exit.
    atexit.register(report)
    sys.modules["sitecustomize"] = real_sitecustomize() or this
