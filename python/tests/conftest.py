"""What tests share. The program is the one that `mle_star` finds; the gate names it with MLE_STAR_BIN."""

from pathlib import Path
from typing import Any

import mle_star
import pandas as pd
import pytest
from sklearn.datasets import load_wine

ROOT = Path(__file__).parents[2]
#: A run of one model, without search: it takes a few seconds.
TINY: dict[str, Any] = {
    "num_retrieved_models": 1,
    "num_parallel_solutions": 1,
    "outer_loop_steps": 1,
    "inner_loop_steps": 1,
    "ensemble_rounds": 1,
    "ensemble_selection": "off",
    "probes": "off",
}


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test has a current folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MLE_STAR_RUNS_DIR", raising=False)


@pytest.fixture(scope="session")
def wine() -> pd.DataFrame:
    """178 wines of three kinds, 13 numbers each."""
    return load_wine(as_frame=True).frame


@pytest.fixture(scope="session")
def finished(wine: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> mle_star.Run:
    """A run of twenty seconds, with refinement and held-out rows."""
    folder = tmp_path_factory.mktemp("runs")
    return mle_star.run(
        wine, target="target", metric="log loss", time_limit=20, agents="offline", folder=folder, quiet=True
    )


#: Checks of scikit-learn that start runs. Two others that do are tried each time.
LONG = {
    "check_class_weight_classifiers",
    "check_classifier_data_not_an_array",
    "check_classifiers_classes",
    "check_classifiers_train",
    "check_dont_overwrite_parameters",
    "check_dtype_object",
    "check_estimators_dtypes",
    "check_estimators_fit_returns_self",
    "check_estimators_overwrite_params",
    "check_estimators_pickle",
    "check_f_contiguous_array_estimator",
    "check_fit2d_1feature",
    "check_fit2d_predict1d",
    "check_fit_check_is_fitted",
    "check_fit_idempotent",
    "check_fit_score_takes_y",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_n_features_in",
    "check_pipeline_consistency",
    "check_positive_only_tag_during_fit",
    "check_readonly_memmap_input",
    "check_regressor_data_not_an_array",
    "check_regressors_int",
    "check_regressors_no_decision_function",
    "check_regressors_train",
    "check_supervised_y_2d",
}


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "deep: takes too long for every commit")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        check = item.callspec.params.get("check") if hasattr(item, "callspec") else None
        if check is not None and check.func.__name__ in LONG:
            item.add_marker(pytest.mark.deep)
