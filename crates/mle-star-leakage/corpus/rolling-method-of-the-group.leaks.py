# expect: target-statistics 8
import pandas as pd
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import mean_squared_error

TARGET = "kwh"
df = pd.read_csv("meters.csv").sort_values(["meter", "hour"])
df["recent"] = df.groupby("meter")[TARGET].rolling(24, min_periods=1).mean().reset_index(level=0, drop=True)
cut = int(len(df) * 0.8)
train, valid = df.iloc[:cut], df.iloc[cut:]
features = ["recent", "hour"]
model = RandomForestRegressor().fit(train[features], train[TARGET])
print(f"Final Validation Performance: {mean_squared_error(valid[TARGET], model.predict(valid[features])) ** 0.5}")
