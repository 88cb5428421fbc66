import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_absolute_error

df = pd.read_csv("series.csv", parse_dates=["date"])
train = df[df["date"] < "2023-01-01"]
recent = train[train["date"] >= "2022-01-01"]
valid = df[df["date"] >= "2023-01-08"]
test = df[df["date"] >= "2023-06-01"]
valid = valid[valid["date"] < "2023-06-01"]
model = Ridge().fit(recent[["a", "b"]], recent["y"])
print("Final Validation Performance:", mean_absolute_error(valid["y"], model.predict(valid[["a", "b"]])))
model = Ridge().fit(df[["a", "b"]], df["y"])
