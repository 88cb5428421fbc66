# expect: selected-before-split 15
import lightgbm as lgb
import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

train = pd.read_csv("train.csv")
TARGET = "defaulted"
cols = [c for c in train.columns if c not in (TARGET, "loan_id")]
X, y = train[cols], train[TARGET]
params = dict(n_estimators=400, learning_rate=0.05, verbose=-1)

scout = lgb.LGBMClassifier(**params)
scout.fit(X, y)
top = pd.Series(scout.feature_importances_, index=cols).nlargest(40).index
X = X[top]

oof = np.zeros(len(X))
for fold, (trn, val) in enumerate(StratifiedKFold(5, shuffle=True, random_state=3).split(X, y)):
    X_trn, X_val = X.iloc[trn], X.iloc[val]
    model = lgb.LGBMClassifier(**params)
    model.fit(X_trn, y.iloc[trn])
    oof[val] = model.predict_proba(X_val)[:, 1]
print("Final Validation Performance:", roc_auc_score(y, oof))
