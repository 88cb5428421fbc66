import numpy as np
import pandas as pd

days = pd.date_range("2020-01-01", periods=400)
values = 10 + np.sin(np.arange(400) * 2 * np.pi / 7) + np.random.default_rng(0).normal(0, 0.1, 400)

import pmdarima

fitted = pmdarima.auto_arima(values[:100], m=7, start_p=0, start_q=0, start_P=0, start_Q=0, max_p=1, max_q=1)
score = float(np.abs(fitted.predict(7) - 10).max())
assert score < 2
print("Final Validation Performance:", score)
