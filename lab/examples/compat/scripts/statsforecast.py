import numpy as np
import pandas as pd

days = pd.date_range("2020-01-01", periods=400)
values = 10 + np.sin(np.arange(400) * 2 * np.pi / 7) + np.random.default_rng(0).normal(0, 0.1, 400)

from statsforecast import StatsForecast
from statsforecast.models import AutoARIMA, SeasonalNaive

table = pd.DataFrame({"unique_id": np.repeat(["a", "b"], 200), "ds": [*days[:200], *days[:200]], "y": values})
models = [AutoARIMA(season_length=7), SeasonalNaive(season_length=7)]
ahead = StatsForecast(models=models, freq="D", n_jobs=2).forecast(df=table, h=7)
score = float(np.abs(ahead["AutoARIMA"] - 10).max())
assert score < 2
print("Final Validation Performance:", score)
