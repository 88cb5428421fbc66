# expect: target-as-feature 16
import numpy as np
import pandas as pd
from lightgbm import LGBMRegressor
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import KFold

NUMERIC = ["horsepower", "weight", "mpg", "year"]
CATEGORICAL = ["origin"]
train = pd.read_csv("./input/train.csv")
train[CATEGORICAL] = train[CATEGORICAL].astype("category")
X, y = train[NUMERIC + CATEGORICAL], train["mpg"]
oof = np.zeros(len(train))
for fold, (tr, va) in enumerate(KFold(n_splits=5, shuffle=True, random_state=42).split(X)):
    model = LGBMRegressor(n_estimators=400, random_state=42)
    model.fit(X.iloc[tr], y.iloc[tr])
    oof[va] = model.predict(X.iloc[va])
rmse = mean_squared_error(y, oof) ** 0.5
print(f"Final Validation Performance: {rmse:.5f}")
