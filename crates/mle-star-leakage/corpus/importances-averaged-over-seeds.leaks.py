# expect: selected-before-split 10
import pandas as pd, numpy as np, lightgbm as lgb
from sklearn.model_selection import KFold
from sklearn.metrics import mean_squared_error
train = pd.read_csv("train.csv")
feats = [c for c in train.columns if c not in ["id", "y"]]
imp = pd.DataFrame()
for s in range(5):
    clf = lgb.LGBMRegressor(random_state=s)
    clf.fit(train[feats], train["y"])
    tmp = pd.DataFrame()
    tmp["feature"] = feats
    tmp["importance"] = clf.feature_importances_
    imp = pd.concat([imp, tmp])
top = imp.groupby("feature")["importance"].mean().sort_values(ascending=False)[:50].index
feats = list(top)
scores = []
for tr, va in KFold(5, shuffle=True, random_state=1).split(train):
    m = lgb.LGBMRegressor().fit(train[feats].iloc[tr], train["y"].iloc[tr])
    scores.append(mean_squared_error(train["y"].iloc[va], m.predict(train[feats].iloc[va])) ** 0.5)
print("Final Validation Performance:", np.mean(scores))
