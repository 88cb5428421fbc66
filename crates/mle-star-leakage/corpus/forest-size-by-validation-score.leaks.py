# expect: chosen-on-scored-rows 12
import pandas as pd, numpy as np
from sklearn.model_selection import train_test_split
from sklearn.linear_model import Ridge
df = pd.read_csv("d.csv")
a, b, c, d = train_test_split(df.drop(columns="y"), df["y"])
best_s, best_seed = -1, None
for n in range(100, 3000, 100):
    from sklearn.ensemble import RandomForestRegressor
    m = RandomForestRegressor(n_estimators=n).fit(a, c)
    s = m.score(b, d)
    if s > best_s:
        best_s, best_n = s, n
print(f"Final Validation Performance: {best_s}")
