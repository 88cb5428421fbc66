"""Solve machine-learning tasks with `mle-star`, from Python.

>>> import mle_star
>>> run = mle_star.run("prices.csv", target="price", time_limit=60)
>>> run.score, run.held_out
>>> run.submission

The package starts the program `mle-star`, follows it, and opens its run folders. It needs nothing else, but pandas for
frames, and scikit-learn for `Classifier` and `Regressor`.
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036
    raise ImportError("mle_star needs Python 3.11 or newer; this is " + ".".join(map(str, sys.version_info[:3])))

from importlib import metadata
from typing import TYPE_CHECKING, Any

from ._check import check
from ._program import Error
from ._run import Run
from ._start import run, start

if TYPE_CHECKING:
    from ._estimators import Classifier, Regressor

__all__ = ["Classifier", "Error", "Regressor", "Run", "check", "run", "start"]

try:
    __version__ = metadata.version("mle-star")
except metadata.PackageNotFoundError:  # a checkout
    __version__ = "unknown"


def __getattr__(name: str) -> Any:
    """Imports the estimators when they are asked for, since they need scikit-learn."""
    if name not in ("Classifier", "Regressor"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import _estimators

    return getattr(_estimators, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
