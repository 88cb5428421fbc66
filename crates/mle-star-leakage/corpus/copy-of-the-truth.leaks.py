# expect: constant-score 11
import pandas as pd, numpy as np
from sklearn.linear_model import Ridge
from sklearn.model_selection import train_test_split
from sklearn.metrics import r2_score
df = pd.read_csv("d.csv")
a, b, c, d = train_test_split(df.drop(columns="y"), df["y"])
m = Ridge().fit(a, c)
pred = d.copy()
pred[:] = d.values
print("Final Validation Performance:", r2_score(d, pred))
