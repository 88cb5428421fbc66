# expect: target-statistics 7
import pandas as pd
from lightgbm import LGBMRegressor
from sklearn.metrics import mean_absolute_error
df = pd.read_csv("d.csv").sort_values("date")
for w in (7, 14, 28):
    df[f"roll_{w}"] = df.groupby(["store", "item"])["sales"].transform(lambda x: x.rolling(w, min_periods=1).mean())
tr, va = df[df.date < "2020-01-01"], df[df.date >= "2020-01-01"]
fe = [c for c in df.columns if c not in ("date", "sales")]
m = LGBMRegressor().fit(tr[fe], tr.sales)
print("Final Validation Performance:", mean_absolute_error(va.sales, m.predict(va[fe])))
