import numpy as np
import pandas as pd
from lightgbm import LGBMRegressor
from sklearn.metrics import mean_absolute_error

df = pd.read_csv("sales.csv", parse_dates=["date"]).sort_values("date")
df["lag"] = df.groupby("shop")["sales"].shift(7)
df["target_next"] = df.groupby("shop")["sales"].shift(-7)
df["level"] = df.groupby("shop")["lag"].transform(lambda s: s.rolling(14).mean())
features, errors = ["lag", "level"], []
starts = pd.date_range("2023-01-01", periods=4, freq="28D")
for start in starts:
    end = start + pd.Timedelta(days=28)
    fit = df[df["date"] < start]
    check = df[(df["date"] >= start) & (df["date"] < end)]
    recent = fit[fit["date"] >= start - pd.Timedelta(days=365)]
    model = LGBMRegressor().fit(recent[features], recent["sales"])
    errors.append(mean_absolute_error(check["sales"], model.predict(check[features])))
n = len(df)
for i in range(3):
    a, b = df.iloc[: n - 100 * (i + 1)], df.iloc[n - 100 * (i + 1) : n - 100 * i]
    model = LGBMRegressor().fit(a[features], a["sales"])
    errors.append(mean_absolute_error(b["sales"], model.predict(b[features])))
first, second, third = df.iloc[0:600], df.iloc[600:800], df.iloc[800:1000]
model = LGBMRegressor().fit(first[features], first["sales"])
errors.append(mean_absolute_error(second["sales"], model.predict(second[features])))
print("Final Validation Performance:", np.mean(errors))
