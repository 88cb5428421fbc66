import numpy as np
import pandas as pd
from sklearn.metrics import cohen_kappa_score
from sklearn.model_selection import KFold
from xgboost import XGBClassifier

train = pd.read_csv("./input/train.csv")
X = train.drop(columns=["grade", "essay_id"])
y = train["grade"]
pred = np.zeros(len(train))
for trn, val in KFold(n_splits=5, shuffle=True, random_state=1).split(X):
    clf = XGBClassifier(n_estimators=150)
    clf.fit(X.iloc[trn], y.iloc[trn])
    pred[val] = clf.predict(X.iloc[val])
print("Final Validation Performance:", cohen_kappa_score(y, pred, weights="quadratic"))
