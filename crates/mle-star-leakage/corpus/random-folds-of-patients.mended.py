# facts: {"split": {"kind": "groups", "column": "patient"}}
import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold, KFold

scans = pd.read_csv("./input/scans.csv")
y = scans["lesion"].values
X = scans.drop(columns=["lesion", "patient"])
scores = []
for trn, val in GroupKFold(5).split(X, y, groups=scans["patient"]):
    model = RandomForestClassifier(300).fit(X.iloc[trn], y[trn])
    scores.append(roc_auc_score(y[val], model.predict_proba(X.iloc[val])[:, 1]))
print("Final Validation Performance:", np.mean(scores))
