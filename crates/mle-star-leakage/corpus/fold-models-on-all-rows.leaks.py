# expect: scored-on-training-rows 18
import lightgbm as lgb
import numpy as np
import pandas as pd
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import KFold

train = pd.read_csv("./input/train.csv")
features = [c for c in train.columns if c not in ["id", "yield"]]
models = []
oof = np.zeros(len(train))
for trn, val in KFold(5, shuffle=True, random_state=19).split(train):
    model = lgb.LGBMRegressor(n_estimators=400)
    model.fit(train[features].iloc[trn], train["yield"].iloc[trn])
    models.append(model)
for model in models:
    oof += model.predict(train[features]) / len(models)
score = mean_squared_error(train["yield"], oof) ** 0.5
print(f"Final Validation Performance: {score}")
