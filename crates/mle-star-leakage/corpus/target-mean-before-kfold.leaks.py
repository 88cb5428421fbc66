# expect: target-statistics 18
"""House prices: a forest over five folds."""
import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import KFold

SEED = 7
TARGET = "SalePrice"

train = pd.read_csv("./input/train.csv")
test = pd.read_csv("./input/test.csv")

train["Age"] = train["YrSold"] - train["YearBuilt"]
test["Age"] = test["YrSold"] - test["YearBuilt"]

means = train.groupby("Neighborhood")[TARGET].mean()
train["HoodPrice"] = train["Neighborhood"].map(means)
test["HoodPrice"] = test["Neighborhood"].map(means)

features = ["LotArea", "OverallQual", "GrLivArea", "Age"]
kf = KFold(n_splits=5, shuffle=True, random_state=SEED)
oof = np.zeros(len(train))
for trn_idx, val_idx in kf.split(train):
    trn, val = train.iloc[trn_idx].copy(), train.iloc[val_idx].copy()
    model = RandomForestRegressor(n_estimators=200, random_state=SEED)
    model.fit(trn[features + ["HoodPrice"]], np.log1p(trn[TARGET]))
    oof[val_idx] = model.predict(val[features + ["HoodPrice"]])

rmse = np.sqrt(mean_squared_error(np.log1p(train[TARGET]), oof))
print(f"Final Validation Performance: {rmse}")
