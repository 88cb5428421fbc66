# expect: chosen-on-scored-rows 18
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.ensemble import RandomForestClassifier, ExtraTreesClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_predict

df = pd.read_csv("train.csv")
X, y = df.drop(columns=["y"]), df["y"]
models = [LogisticRegression(), RandomForestClassifier(), ExtraTreesClassifier()]
P = np.stack([cross_val_predict(m, X, y, cv=5, method="predict_proba") for m in models])
rng = np.random.default_rng(0)
best = np.inf
for i in range(5000):
    w = rng.dirichlet(np.ones(3))
    loss = log_loss(y, np.tensordot(w, P, axes=1))
    if loss < best:
        best = loss
print("Final Validation Performance:", best)
