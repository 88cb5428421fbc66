import pandas as pd
from lightgbm import LGBMRegressor
from sklearn.metrics import mean_absolute_error

df = pd.read_csv("demand.csv", parse_dates=["date"])
features = ["store", "item", "price"]
train = df[(df["date"] >= "2021-01-01") & (df["date"] < "2023-06-01")]
valid = df[df["date"] >= "2023-06-01"]
model = LGBMRegressor().fit(train[features], train["units"])
mae = mean_absolute_error(valid["units"], model.predict(valid[features]))
print(f"Final Validation Performance: {mae}")
