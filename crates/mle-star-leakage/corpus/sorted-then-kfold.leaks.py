# expect: shuffled-time 12
import numpy as np
import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import KFold, TimeSeriesSplit

prices = pd.read_csv("input/prices.csv", parse_dates=["date"]).sort_values(by="date")
features = ["open", "volume"]
errors = []
splitter = KFold(n_splits=5, shuffle=True, random_state=0)
for trn, val in splitter.split(prices):
    a, b = prices.iloc[trn], prices.iloc[val]
    model = Ridge().fit(a[features], a["close"])
    errors.append(mean_absolute_error(b["close"], model.predict(b[features])))
print("Final Validation Performance:", np.mean(errors))
