# expect: same-rows 8
import pandas as pd, numpy as np
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import mean_absolute_error
df = pd.read_csv("d.csv"); df["date"] = pd.to_datetime(df["date"])
cut = pd.Timestamp("2022-07-01")
train = df[df.date >= pd.Timestamp("2020-01-01")].copy()
val = df[(df.date >= cut) & (df.date < pd.Timestamp("2023-01-01"))].copy()
f = ["a", "b"]
m = RandomForestRegressor().fit(train[f], train["y"])
print("Final Validation Performance:", mean_absolute_error(val["y"], m.predict(val[f])))
