import numpy as np
import pandas as pd

days = pd.date_range("2020-01-01", periods=400)
values = 10 + np.sin(np.arange(400) * 2 * np.pi / 7) + np.random.default_rng(0).normal(0, 0.1, 400)

from sktime.forecasting.exp_smoothing import ExponentialSmoothing

series = pd.Series(values, index=days.to_period("D"))
ahead = ExponentialSmoothing(seasonal="add", sp=7).fit(series).predict(fh=range(1, 8))
score = float(np.abs(ahead - 10).max())
assert score < 2
print("Final Validation Performance:", score)
