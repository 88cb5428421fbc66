from functools import partial

import numpy as np
import pandas as pd
from lightgbm import LGBMRegressor
from scipy.optimize import minimize
from sklearn.metrics import cohen_kappa_score
from sklearn.model_selection import KFold


class OptimizedRounder:
    def __init__(self):
        self.coef_ = [0.5, 1.5, 2.5, 3.5]

    def loss(self, coef, X, y):
        pred = np.digitize(X, coef)
        return -cohen_kappa_score(y, pred, weights="quadratic")

    def fit(self, X, y):
        loss = partial(self.loss, X=X, y=y)
        self.coef_ = minimize(loss, self.coef_, method="nelder-mead").x

    def predict(self, X):
        return np.digitize(X, self.coef_)


df = pd.read_csv("essays.csv")
X, y = df.drop(columns=["grade"]), df["grade"]
oof = np.zeros(len(df))
for trn, val in KFold(5, shuffle=True, random_state=0).split(X):
    model = LGBMRegressor()
    model.fit(X.iloc[trn], y.iloc[trn])
    oof[val] = model.predict(X.iloc[val])
final = np.digitize(oof, [0.5, 1.5, 2.5, 3.5])
print("Final Validation Performance:", cohen_kappa_score(y, final, weights="quadratic"))
