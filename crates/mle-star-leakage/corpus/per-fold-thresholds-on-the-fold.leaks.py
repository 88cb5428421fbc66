# expect: chosen-on-scored-rows 15
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.model_selection import KFold

data = pd.read_csv("input/risk.csv")
X, y = data.drop(columns=["risk"]).to_numpy(), data["risk"].to_numpy()
grid = np.linspace(0.2, 0.8, 61)
accuracies = []
for trn, val in KFold(5, shuffle=True, random_state=0).split(X):
    model = LogisticRegression(max_iter=500).fit(X[trn], y[trn])
    proba = model.predict_proba(X[val])[:, 1]
    cut = max(grid, key=lambda t: accuracy_score(y[val], proba > t))
    accuracies.append(accuracy_score(y[val], proba > cut))
print("Final Validation Performance:", np.mean(accuracies))
