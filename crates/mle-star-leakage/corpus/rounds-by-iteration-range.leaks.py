# expect: chosen-on-scored-rows 12
import numpy as np, pandas as pd, xgboost as xgb
from sklearn.model_selection import train_test_split
from sklearn.metrics import mean_squared_error
df = pd.read_csv("d.csv")
a, b, c, d = train_test_split(df.drop(columns="y"), df["y"], test_size=0.2, random_state=0)
m = xgb.XGBRegressor(n_estimators=1000).fit(a, c)
scores = []
for k in range(1, 1001):
    p = m.predict(b, iteration_range=(0, k))
    scores.append(mean_squared_error(d, p) ** 0.5)
print("Final Validation Performance:", min(scores))
