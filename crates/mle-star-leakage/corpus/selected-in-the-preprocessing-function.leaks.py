# expect: selected-before-split 15
import numpy as np
import pandas as pd
from sklearn.feature_selection import SelectKBest, mutual_info_regression
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler


def preprocess(df):
    y = df.pop("yield").to_numpy()
    X = df.select_dtypes(include=[np.number]).fillna(0).to_numpy()
    X = SelectKBest(mutual_info_regression, k=20).fit_transform(X, y)
    return X, y


def build():
    return Pipeline([
        ("scale", StandardScaler()),
        ("net", MLPRegressor((64, 32), max_iter=500, random_state=0)),
    ])


X, y = preprocess(pd.read_csv("./input/train.csv"))
fold_scores = []
for fit, check in KFold(4, shuffle=True, random_state=0).split(X):
    net = build().fit(X[fit], y[fit])
    fold_scores.append(r2_score(y[check], net.predict(X[check])))
print(f"Final Validation Performance: {np.mean(fold_scores)}")
