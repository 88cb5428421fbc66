# expect: chosen-on-scored-rows 25
import numpy as np
import pandas as pd
from scipy.optimize import minimize
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_predict, train_test_split

df = pd.read_csv("./input/train.csv")
y = df["outcome"]
X = df.drop(columns=["outcome"])
X_fit, X_val, y_fit, y_val = train_test_split(X, y, test_size=0.25, random_state=1)
models = [LogisticRegression(max_iter=500), RandomForestClassifier(300), ExtraTreesClassifier(300)]
inner = [cross_val_predict(m, X_fit, y_fit, cv=5, method="predict_proba") for m in models]
valid = [m.fit(X_fit, y_fit).predict_proba(X_val) for m in models]


def blend(weights, parts):
    weights = np.abs(weights) / np.abs(weights).sum()
    return weights[0] * parts[0] + weights[1] * parts[1] + weights[2] * parts[2]


start = np.array([1 / 3, 1 / 3, 1 / 3])
found = minimize(lambda w: log_loss(y_val, blend(w, valid)), start, method="Nelder-Mead")
print("Final Validation Performance:", log_loss(y_val, blend(found.x, valid)))
