"""`Classifier` and `Regressor`, with scikit-learn's own checks."""

import pickle
import warnings
from pathlib import Path
from typing import Any

import mle_star
import numpy as np
import pandas as pd
import pytest
from conftest import TINY
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

OFFLINE: dict[str, Any] = {"agents": "offline", "time_limit": 120, "quiet": True, **TINY}


def otherwise(_: object) -> dict[str, str]:
    """What scikit-learn checks and the estimators do otherwise, and why."""
    return {"check_no_attributes_set_in_init": "settings are parameters by keyword; get_params has them"}


@parametrize_with_checks(
    [mle_star.Classifier(**OFFLINE), mle_star.Regressor(**OFFLINE)], expected_failed_checks=otherwise
)
def test_scikit_learn_agrees(estimator: Any, check: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)


@pytest.fixture(scope="module")
def tumours() -> tuple[pd.DataFrame, "np.ndarray[Any, Any]"]:
    """Labels that are words, a category, missing values, an index of texts, and names that the run uses itself."""
    data = load_breast_cancer(as_frame=True)
    features = data.frame[["mean radius", "mean texture", "mean area", "mean symmetry"]].iloc[:300]
    features = features.set_axis([f"person {row}" for row in range(len(features))])
    features = features.rename(columns={"mean area": "target", "mean symmetry": "Row_ID"})
    features["size"] = pd.cut(features["mean radius"], 3, labels=["small", "middle", "large"])
    features.loc[features.index[::7], "mean texture"] = np.nan
    return features, data.target_names[data.target[:300]]


@pytest.fixture(scope="module")
def fitted(tumours: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    features, labels = tumours
    return mle_star.Classifier(**OFFLINE, folder=tmp_path_factory.mktemp("runs")).fit(features[:200], labels[:200])


def test_a_classifier_learns_words(fitted: Any, tumours: Any) -> None:
    features, labels = tumours
    assert fitted.classes_.tolist() == ["benign", "malignant"]
    assert fitted.feature_names_in_.tolist() == list(features)
    assert fitted.n_features_in_ == 5
    assert fitted.run_.status == "finished"
    assert fitted.score(features[200:], labels[200:]) > 0.85
    probabilities = fitted.predict_proba(features[200:])
    assert probabilities.shape == (100, 2)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert (fitted.predict(features[200:]) == fitted.classes_[probabilities.argmax(axis=1)]).all()


def test_rows_are_predicted_alike_in_any_order(fitted: Any, tumours: Any) -> None:
    features, _ = tumours
    rows = np.array([250, 210, 299])
    np.testing.assert_allclose(
        fitted.predict_proba(features.iloc[rows]), fitted.predict_proba(features)[rows], atol=1e-6
    )


def test_a_fitted_estimator_is_pickled(fitted: Any, tumours: Any) -> None:
    features, _ = tumours
    again = pickle.loads(pickle.dumps(fitted))
    assert again.run_.path == fitted.run_.path
    with warnings.catch_warnings():
        # That an array has no names.
        warnings.simplefilter("ignore")
        of_array = again.predict(features[200:].to_numpy())
    assert (of_array == fitted.predict(features[200:])).all()


def test_what_does_not_fit_is_refused(fitted: Any, tumours: Any) -> None:
    features, labels = tumours
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict(features.rename(columns={"size": "breadth"}))
    unknown = mle_star.Classifier(agents="offline", quiet=True, sed=3)
    with pytest.raises(mle_star.Error, match="did you mean seed"):
        unknown.fit(features, labels)
    with pytest.raises(NotFittedError):
        unknown.predict(features)
    with pytest.raises(ValueError, match="one class"):
        unknown.fit(features[:2], ["a", "a"])
    with pytest.raises(mle_star.Error, match="holds dict objects"):
        unknown.fit(features.assign(odd=[{}] * len(features)), labels)


def test_settings_are_parameters() -> None:
    estimator = mle_star.Regressor(metric="MAE", seed=3, ignore_columns=["a"])
    assert estimator.get_params() == clone(estimator).get_params()
    assert estimator.get_params()["seed"] == 3
    assert estimator.set_params(seed=4, holdout=0.2).get_params()["holdout"] == 0.2
    assert "seed=4" in repr(estimator)


@pytest.mark.deep
def test_without_probabilities() -> None:
    labels = np.repeat([10, 20], 40)
    numbers = np.random.default_rng(0).normal(size=(80, 3)) + labels[:, None] / 4
    estimator = mle_star.Classifier(metric="accuracy", **OFFLINE).fit(numbers, labels)
    assert estimator.score(numbers, labels) > 0.9
    assert set(estimator.predict(numbers)) == {10, 20}
    assert not hasattr(estimator, "predict_proba")


@pytest.mark.deep
def test_a_regressor_is_searched_in_a_pipeline(tmp_path: Path) -> None:
    features, values = load_diabetes(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), mle_star.Regressor(**OFFLINE, folder=tmp_path))
    search = GridSearchCV(pipeline, {"regressor__seed": [1, 2]}, cv=2, refit=False, error_score="raise")
    search.fit(features, values)
    assert (search.cv_results_["mean_test_score"] > 0.2).all()
