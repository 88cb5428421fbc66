# expect: same-rows 14
import lightgbm as lgb
import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

df = pd.read_csv("loans.csv")
X, y = df.drop(columns=["default"]), df["default"]
booster = None
oof = np.zeros(len(df))
for trn, val in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
    data = lgb.Dataset(X.iloc[trn], label=y.iloc[trn])
    booster = lgb.train({"objective": "binary"}, data, num_boost_round=200, init_model=booster)
    oof[val] = booster.predict(X.iloc[val])
print("Final Validation Performance:", roc_auc_score(y, oof))
