# facts: {"ids": ["row_id"], "targets": ["value"]}
import numpy as np
import pandas as pd
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold
from xgboost import XGBRegressor

train = pd.read_csv("./input/train.csv")
features = [c for c in train.columns if c not in ("value", "row_id")]
oof = np.zeros(len(train))
for trn, val in KFold(n_splits=4, shuffle=True, random_state=0).split(train):
    model = XGBRegressor()
    model.fit(train.iloc[trn][features], train.iloc[trn]["value"])
    oof[val] = model.predict(train.iloc[val][features])
print("Final Validation Performance:", r2_score(train["value"], oof))
