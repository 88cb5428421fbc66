# expect: chosen-on-scored-rows 25
import numpy as np
import optuna
import pandas as pd
from lightgbm import LGBMClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

train = pd.read_csv("input/train.csv")
y = train["is_click"]
X = train.drop(columns=["is_click"])
p1, p2 = np.zeros(len(X)), np.zeros(len(X))
for trn, val in StratifiedKFold(n_splits=5, shuffle=True, random_state=5).split(X, y):
    p1[val] = LGBMClassifier().fit(X.iloc[trn], y.iloc[trn]).predict_proba(X.iloc[val])[:, 1]
    p2[val] = RandomForestClassifier().fit(X.iloc[trn], y.iloc[trn]).predict_proba(X.iloc[val])[:, 1]


def objective(trial):
    w = trial.suggest_float("w", 0.0, 1.0)
    return roc_auc_score(y, w * p1 + (1 - w) * p2)


study = optuna.create_study(direction="maximize")
study.optimize(objective, n_trials=200)
print(f"Final Validation Performance: {study.best_value}")
