"""Runs as estimators of scikit-learn."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, Unpack

from . import _frames
from ._program import Error
from ._run import Run
from ._settings import Settings
from ._start import run

try:
    import numpy as np
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
    from sklearn.preprocessing import LabelEncoder
    from sklearn.utils import check_consistent_length, column_or_1d
    from sklearn.utils.metaestimators import available_if
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import assert_all_finite, check_is_fitted, validate_data
except ImportError as error:
    raise Error(
        "Classifier and Regressor need scikit-learn 1.6 or newer", "install it with `pip install scikit-learn pandas`"
    ) from error

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray


class _Estimator(BaseEstimator):  # type: ignore[misc]
    """What both estimators share.

    Parameters are those of `mle_star.run`: any key of the configuration is one, too. Every public attribute without an
    underscore at its end is a parameter, so that keys take part in `get_params`, `clone` and grid search.

    All rows of `fit` are training rows. They are also the test table of the run, without their target; what is held out
    of them is the program's choice (docs/trust.md).
    """

    def __init__(
        self,
        *,
        metric: str | None = None,
        direction: str | None = None,
        time_limit: float | str | None = None,
        agents: str = "auto",
        folder: str | os.PathLike[str] | None = None,
        quiet: bool = False,
        **settings: Unpack[Settings],
    ) -> None:
        self.metric = metric
        self.direction = direction
        self.time_limit = time_limit
        self.agents = agents
        self.folder = folder
        self.quiet = quiet
        for name, value in settings.items():
            setattr(self, name, value)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters, settings included."""
        return {
            name: value for name, value in vars(self).items() if not name.startswith("_") and not name.endswith("_")
        }

    def set_params(self, **params: Any) -> Self:
        """Sets parameters; `fit` refuses one that the program does not know."""
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        return tags

    def _checked(self, X: Any, y: Any, dtype: type | None) -> tuple[pd.DataFrame, NDArray[Any]]:
        """The features, and the target as it was given."""
        if y is None:
            raise ValueError(f"This {type(self).__name__} requires y to be passed, but the target y is None.")
        features = self._features(X, reset=True)
        y = column_or_1d(y, dtype=dtype, warn=True)
        check_consistent_length(features, y)
        assert_all_finite(y, input_name="y")
        return features, y

    def _fit(self, features: pd.DataFrame, y: NDArray[Any], default_metric: str) -> None:
        """Runs on these rows. The target is a column of numbers."""
        self._target, self._id = (_free(name, features) for name in ("target", "row_id"))
        self._names = list(features.columns)
        rows = np.arange(len(features))
        test = features.assign(**{self._id: rows})
        train = features.assign(**{self._id: rows + len(rows), self._target: y})
        params = self.get_params()
        params["metric"] = params["metric"] or (None if params.get("metric_file") else default_metric)
        self.run_: Run = run(train, test=test, target=self._target, id_column=self._id, **params)

    def _predicted(self, X: Any) -> pd.DataFrame:
        """The run's predictions for these rows: a column for the target, or one for each class."""
        check_is_fitted(self, "run_")
        features = self._features(X, reset=False)
        if set(features.columns) != set(self._names):
            # An array has the columns of the frame that was learned from, and the other way round.
            features = features.set_axis(self._names, axis=1)
        predicted = self.run_.predict(features.assign(**{self._id: np.arange(len(features))}))
        return predicted.drop(columns=self._id)

    def _features(self, X: Any, *, reset: bool) -> pd.DataFrame:
        """The features as a frame whose columns have names and plain types."""
        if _frames.is_frame(X) and not _frames.is_pandas(X):
            X = _frames.as_pandas(X)
        if _frames.is_pandas(X):
            validate_data(self, X, reset=reset, skip_check_array=True)
            if X.shape[0] == 0 or X.shape[1] == 0:
                raise ValueError(
                    f"Found array with {X.shape[0]} sample(s) and {X.shape[1]} feature(s); at least one is needed."
                )
            # An index is no feature, whatever its name is.
            return _frames.plain(X.reset_index(drop=True))
        array = validate_data(self, X, reset=reset, dtype=None, ensure_all_finite="allow-nan")
        names = [f"x{position}" for position in range(array.shape[1])]
        return _frames.plain(_frames.pandas().DataFrame(array, columns=names).infer_objects())


class Classifier(ClassifierMixin, _Estimator):  # type: ignore[misc]
    """A classifier that a run makes.

    `metric` is log loss by default, so that classes have probabilities. With a metric of labels, such as `"accuracy"`,
    there is no `predict_proba`.

    Attributes:
        run_: The run.
        classes_: The labels. In the run, the target is their position here; a metric of two classes takes the second
            one as the positive.
        n_features_in_, feature_names_in_: The features of `fit`.
    """

    def fit(self, X: Any, y: Any) -> Self:
        """Starts a run on these rows and waits for it, as `mle_star.run` does."""
        features, y = self._checked(X, y, dtype=None)
        check_classification_targets(y)
        encoder = LabelEncoder().fit(y)
        if len(encoder.classes_) < 2:
            raise ValueError(f"Classifier can't train when only one class is present: {encoder.classes_[0]!r}")
        self._fit(features, encoder.transform(y), "log loss")
        self.classes_ = encoder.classes_
        self._has_probabilities = _asks_for_probabilities(self.run_.path, self._target)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of each row."""
        predicted = self._predicted(X)
        if self._has_probabilities:
            codes = self._probabilities(predicted).argmax(axis=1)
        else:
            codes = predicted[self._target].to_numpy(dtype=int)
        return self.classes_[codes]  # type: ignore[no-any-return]

    @available_if(lambda self: getattr(self, "_has_probabilities", True))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probabilities of the classes, in the order of `classes_`."""
        return self._probabilities(self._predicted(X))

    def _probabilities(self, predicted: pd.DataFrame) -> NDArray[np.float64]:
        if self._target in predicted:
            of_second = predicted[self._target].to_numpy(dtype=float)
            return np.column_stack([1 - of_second, of_second])
        return predicted[[str(code) for code in range(len(self.classes_))]].to_numpy(dtype=float)


class Regressor(RegressorMixin, _Estimator):  # type: ignore[misc]
    """A regressor that a run makes. `metric` is RMSE by default.

    Attributes:
        run_: The run.
        n_features_in_, feature_names_in_: The features of `fit`.
    """

    def fit(self, X: Any, y: Any) -> Self:
        """Starts a run on these rows and waits for it, as `mle_star.run` does."""
        features, y = self._checked(X, y, dtype=float)
        if len(np.unique(y)) < 2:
            raise ValueError(f"Regressor can't learn from a target that is {y[0]:g} in all rows, n_samples={len(y)}")
        self._fit(features, y, "RMSE")
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The value of each row."""
        return self._predicted(X)[self._target].to_numpy(dtype=float)


def _free(name: str, features: pd.DataFrame) -> str:
    """The name, longer if a feature has it; names are compared as the program does."""
    taken = {str(column).strip().casefold() for column in features.columns}
    while name in taken:
        name += "_"
    return name


def _asks_for_probabilities(run: Path, target: str) -> bool:
    """Whether the sample submission has a column for each class, or a half where a label would be 0 or 1."""
    sample = _frames.read(run / "input/sample_submission.csv")
    return target not in sample or bool((sample[target] % 1 != 0).any())
