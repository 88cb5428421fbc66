"""What metric files of Kaggle import from the module of this name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd


class ParticipantVisibleError(Exception):
    """A mistake in a submission."""


class HostVisibleError(Exception):
    """A mistake in the metric or in the true values."""


def verify_valid_probabilities(df: pd.DataFrame, df_name: str) -> None:
    """Checks that a table holds probabilities that add up to 1."""
    if not pd.api.types.is_numeric_dtype(df.values):
        raise ParticipantVisibleError(f"All target values in {df_name} must be numeric")
    if df.min().min() < 0:
        raise ParticipantVisibleError(f"All target values in {df_name} must be at least zero")
    if df.max().max() > 1:
        raise ParticipantVisibleError(f"All target values in {df_name} must be no greater than one")
    if not np.allclose(df.sum(axis=1), 1):
        raise ParticipantVisibleError(f"Target values in {df_name} do not add to one within all rows")


def safe_call_score(
    metric_function: Callable[..., Any], solution: Any, submission: Any, **metric_func_kwargs: Any
) -> Any:
    """Calls a function of the true and the predicted values; its errors are those of the submission."""
    try:
        return metric_function(solution, submission, **metric_func_kwargs)
    except Exception as error:
        raise ParticipantVisibleError(str(error)) from error
