# expect: same-rows 10
import pandas as pd, numpy as np
from sklearn.model_selection import KFold
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_squared_error
df = pd.read_csv("d.csv")
X, y = df.drop(columns="y").values, df["y"].values
s = []
for tr, va in KFold(5).split(X):
    full = np.r_[tr, va]
    m = Ridge().fit(X[full], y[full])
    s.append(mean_squared_error(y[va], m.predict(X[va])))
print("Final Validation Performance:", np.mean(s))
