import numpy as np
import pandas as pd
from catboost import CatBoostRegressor
from lightgbm import LGBMRegressor, early_stopping
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import KFold

train = pd.read_csv("train.csv")
X, y = train.drop(columns=["id", "y"]), train["y"]
oof = {"lgb": np.zeros(len(X)), "cat": np.zeros(len(X))}
truth = np.zeros(len(X))
for trn, val in KFold(5, shuffle=True, random_state=0).split(X):
    lgb = LGBMRegressor(n_estimators=5000)
    lgb.fit(X.iloc[trn], y.iloc[trn], eval_set=[(X.iloc[trn], y.iloc[trn]), (X.iloc[val], y.iloc[val])], callbacks=[early_stopping(100)])
    print(lgb.best_score_["training"]["l2"], lgb.best_score_["valid_1"]["l2"])
    cat = CatBoostRegressor(iterations=2000, verbose=0, od_wait=50, od_type="Iter")
    cat.fit(X.iloc[trn], y.iloc[trn], eval_set=(X.iloc[val], y.iloc[val]))
    oof["lgb"][val] = lgb.predict(X.iloc[val])
    oof["cat"][val] = cat.predict(X.iloc[val])
    truth[val] = y.iloc[val]
    train_rmse = mean_squared_error(y.iloc[trn], lgb.predict(X.iloc[trn])) ** 0.5
    print("train", train_rmse)
blend = 0.5 * oof["lgb"] + 0.5 * oof["cat"]
clipped = np.where(blend < 0, 0, blend)
rmse = np.sqrt(np.mean((truth - clipped) ** 2))
print("spread of the target", y.std(), "mean", y.mean())
print(f"Final Validation Performance: {rmse} (spread {y.std()})")
