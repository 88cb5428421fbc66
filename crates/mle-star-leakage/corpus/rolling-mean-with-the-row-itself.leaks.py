# expect: target-statistics 7
import pandas as pd
from lightgbm import LGBMRegressor
from sklearn.metrics import mean_absolute_error

df = pd.read_csv("sales.csv", parse_dates=["date"]).sort_values(["store", "date"])
df["level"] = df.groupby("store")["sales"].transform(lambda s: s.rolling(7).mean())
train = df[df["date"] < "2023-01-01"]
valid = df[df["date"] >= "2023-01-01"]
cols = ["store", "level"]
model = LGBMRegressor().fit(train[cols], train["sales"])
print("Final Validation Performance:", mean_absolute_error(valid["sales"], model.predict(valid[cols])))
