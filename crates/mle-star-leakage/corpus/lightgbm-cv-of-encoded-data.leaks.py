# expect: target-statistics 12
import lightgbm as lgb
import pandas as pd
from category_encoders import WOEEncoder
from sklearn.model_selection import StratifiedKFold
from sklearn.metrics import roc_auc_score
import numpy as np

train = pd.read_csv("./input/train.csv")
y = train["target"]
X = train.drop(columns=["target"])
X = WOEEncoder().fit_transform(X, y)
params = {"objective": "binary", "learning_rate": 0.05, "verbosity": -1}
oof = np.zeros(len(train))
for trn, val in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
    x_trn, x_val = X.iloc[trn], X.iloc[val]
    booster = lgb.train(params, lgb.Dataset(x_trn, label=y.iloc[trn]), num_boost_round=300)
    oof[val] = booster.predict(x_val)
print(f"Final Validation Performance: {roc_auc_score(y, oof)}")
