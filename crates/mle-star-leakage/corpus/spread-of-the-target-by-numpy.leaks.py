# expect: constant-score 15
import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold

df = pd.read_csv("train.csv")
X, y = df.drop(columns=["y"]), df["y"]
scores = []
for trn, val in KFold(5).split(X):
    model = RandomForestRegressor().fit(X.iloc[trn], y.iloc[trn])
    pred = model.predict(X.iloc[val])
    scores.append(np.sqrt(np.mean((y.iloc[val] - y.iloc[val].mean()) ** 2)))
print("Final Validation Performance:", np.mean(scores))
