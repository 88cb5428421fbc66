import numpy as np
import pandas as pd
from sklearn.linear_model import SGDRegressor
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import TimeSeriesSplit

df = pd.read_csv("series.csv", parse_dates=["date"]).sort_values("date")
X, y = df.drop(columns=["value", "date"]), df["value"]
errors = []
model = SGDRegressor()
for trn, val in TimeSeriesSplit(n_splits=4).split(X):
    model.partial_fit(X.iloc[trn], y.iloc[trn])
    errors.append(mean_absolute_error(y.iloc[val], model.predict(X.iloc[val])))
recent = df[df["date"] >= "2024-01-01"]
old = df[df["date"] < "2024-01-01"]
print(f"Final Validation Performance: {np.mean(errors)}")
