# expect: chosen-on-scored-rows 19
import numpy as np
import pandas as pd
from catboost import CatBoostRegressor
from lightgbm import LGBMRegressor
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import KFold

train = pd.read_csv("./input/train.csv")
y = train["price"]
X = train.drop(columns=["price"])
oof_a, oof_b = np.zeros(len(train)), np.zeros(len(train))
for trn, val in KFold(n_splits=5, shuffle=True, random_state=2).split(X):
    a = LGBMRegressor(n_estimators=300).fit(X.iloc[trn], y.iloc[trn])
    b = CatBoostRegressor(iterations=300, verbose=0).fit(X.iloc[trn], y.iloc[trn])
    oof_a[val] = a.predict(X.iloc[val])
    oof_b[val] = b.predict(X.iloc[val])
scores = [mean_squared_error(y, w * oof_a + (1 - w) * oof_b) for w in np.linspace(0, 1, 21)]
score = min(scores)
print(f"Final Validation Performance: {score ** 0.5}")
