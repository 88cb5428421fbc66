# expect: stopped-on-scored-rows 16
import lightgbm as lgb
import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, train_test_split

train = pd.read_csv("./input/train.csv")
y = train["target"]
X = train.drop(columns=["target"])
oof = np.zeros(len(X))
for trn, val in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
    a, ya = X.iloc[trn], y.iloc[trn]
    b, yb = X.iloc[val], y.iloc[val]
    model = lgb.LGBMClassifier(n_estimators=5000, learning_rate=0.02)
    model.fit(a, ya, eval_set=[(b, yb)], callbacks=[lgb.early_stopping(100)])
    oof[val] = model.predict_proba(X.iloc[val])[:, 1]
print("Final Validation Performance:", roc_auc_score(y, oof))
