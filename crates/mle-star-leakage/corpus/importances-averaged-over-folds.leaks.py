# expect: selected-before-split 13
import lightgbm as lgb
import numpy as np
import pandas as pd
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import KFold

df = pd.read_csv("train.csv")
X, y = df.drop(columns=["y"]), df["y"]
folds = KFold(5, shuffle=True, random_state=0)
importances, errors = [], []
for trn, val in folds.split(X):
    model = lgb.LGBMRegressor().fit(X.iloc[trn], y.iloc[trn])
    importances.append(model.feature_importances_)
    errors.append(mean_squared_error(y.iloc[val], model.predict(X.iloc[val])))
mean = np.mean(importances, axis=0)
kept = X.columns[np.argsort(mean)[-20:]]
errors = []
for trn, val in folds.split(X):
    model = lgb.LGBMRegressor().fit(X.iloc[trn][kept], y.iloc[trn])
    errors.append(mean_squared_error(y.iloc[val], model.predict(X.iloc[val][kept])))
print("Final Validation Performance:", np.mean(errors))
