import json
import sys
import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_absolute_error

settings = json.load(open("settings.json"))
d = pd.read_csv("input/train.csv").sort_values(["store", "day"])
columns = ["sales", "stock"]
followers = [
    d.groupby("store")["sales"].shift(-1),
    d.groupby("store")["sales"].transform(lambda s: s.shift(-1)),
    d.groupby("store")["sales"].apply(lambda s: s.shift(-1)).reset_index(level=0, drop=True),
    d["sales"].rolling(7).mean().shift(-7),
    d["sales"].diff().shift(-1),
    d["sales"].pct_change(),
    d["sales"].rolling(7).sum(),
]
early = d["day"] < 300
total = 0.0
for follower in followers:
    model = Ridge().fit(d.loc[early, columns], follower[early])
    total += mean_absolute_error(follower[~early], model.predict(d.loc[~early, columns]))
left = d[columns].copy()
left.pop(settings["target"])
del d["day"]
model = Ridge().fit(left[early], d["sales"][early])
total += mean_absolute_error(d["sales"][~early], model.predict(left[~early]))
other = d[columns].copy()
del other[sys.argv[1]]
model = Ridge().fit(other[early], d["sales"][early])
total += mean_absolute_error(d["sales"][~early], model.predict(other[~early]))
fewer = d[columns].drop(columns=settings["dropped"])
model = Ridge().fit(fewer[early], d["sales"][early])
total += mean_absolute_error(d["sales"][~early], model.predict(fewer[~early]))
print(f"Final Validation Performance: {total / 10}")
