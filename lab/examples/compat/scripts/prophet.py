import numpy as np
import pandas as pd

days = pd.date_range("2020-01-01", periods=400)
values = 10 + np.sin(np.arange(400) * 2 * np.pi / 7) + np.random.default_rng(0).normal(0, 0.1, 400)

from prophet import Prophet

fitted = Prophet().fit(pd.DataFrame({"ds": days, "y": values}))
ahead = fitted.predict(fitted.make_future_dataframe(7))
score = float(np.abs(ahead["yhat"].tail(7) - 10).max())
assert score < 2
print("Final Validation Performance:", score)
