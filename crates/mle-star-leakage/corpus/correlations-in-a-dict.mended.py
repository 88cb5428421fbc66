import numpy as np
import pandas as pd
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold

df = pd.read_csv("energy.csv")
y = df["load"].values
X = df.drop(columns="load")


def strongest(frame, target, k=10):
    strength = {}
    for name in frame.columns:
        strength[name] = abs(np.corrcoef(frame[name], target)[0, 1])
    ranked = sorted(strength.items(), key=lambda item: item[1], reverse=True)
    return [name for name, _ in ranked[:k]]


scores = []
for trn, val in KFold(n_splits=5, shuffle=True, random_state=0).split(X):
    names = strongest(X.iloc[trn], y[trn])
    model = LinearRegression().fit(X.iloc[trn][names], y[trn])
    scores.append(r2_score(y[val], model.predict(X.iloc[val][names])))
print("Final Validation Performance:", np.mean(scores))
