# expect: target-statistics 7
import pandas as pd
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import train_test_split
df = pd.read_csv("d.csv")
df["ema"] = df.groupby("id")["y"].transform(lambda s: s.ewm(span=5).mean())
df["cum"] = df.groupby("id")["y"].expanding().mean().values
a, b = train_test_split(df)
f = ["ema", "x"]
m = RandomForestRegressor().fit(a[f], a["y"])
print("Final Validation Performance:", mean_squared_error(b["y"], m.predict(b[f])))
