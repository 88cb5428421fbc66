import numpy as np
import pandas as pd
from catboost import CatBoostRegressor
from lightgbm import LGBMRegressor
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import KFold

df = pd.read_csv("train.csv")
X, y = df.drop(columns=["cost"]), df["cost"]
models = {"lgb": LGBMRegressor(), "cat": CatBoostRegressor(verbose=0), "et": ExtraTreesRegressor()}
oofs = {name: np.zeros(len(df)) for name in models}
for trn, val in KFold(5, shuffle=True, random_state=0).split(X):
    for name, model in models.items():
        model.fit(X.iloc[trn], y.iloc[trn])
        oofs[name][val] = model.predict(X.iloc[val])


def rmse(a, b):
    return np.sqrt(mean_squared_error(a, b))


current = np.mean(list(oofs.values()), axis=0)
best_score = rmse(y, current)
print(f"Final Validation Performance: {best_score}")
