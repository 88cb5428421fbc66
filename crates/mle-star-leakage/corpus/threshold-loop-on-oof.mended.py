import numpy as np
import pandas as pd
import lightgbm as lgb
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedKFold

train = pd.read_csv("./input/train.csv")
y = train["toxic"].values
X = train.drop(columns=["toxic", "id"])
oof = np.zeros(len(train))
folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))
for trn, val in folds:
    model = lgb.LGBMClassifier(n_estimators=200)
    model.fit(X.iloc[trn], y[trn])
    oof[val] = model.predict_proba(X.iloc[val])[:, 1]


def best_threshold(truth, proba):
    best, chosen = 0.0, 0.5
    for t in np.arange(0.1, 0.9, 0.01):
        score = f1_score(truth, proba > t)
        if score > best:
            best, chosen = score, t
    return chosen


labels = np.zeros(len(train))
for trn, val in folds:
    labels[val] = oof[val] > best_threshold(y[trn], oof[trn])
final = f1_score(y, labels)
print(f"Final Validation Performance: {final:.5f}")
