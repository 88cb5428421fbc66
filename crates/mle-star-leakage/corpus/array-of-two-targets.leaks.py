# expect: target-statistics 9
import numpy as np
import pandas as pd
from sklearn.model_selection import KFold
from sklearn.multioutput import MultiOutputRegressor
from sklearn.linear_model import Ridge
labels = ["x", "y"]
data = pd.read_csv("input/train.csv")
rate = data.groupby("cell")["y"].mean()
data["cell_y"] = data["cell"].map(rate)
X = data.drop(columns=labels + ["cell"]).to_numpy()
Y = data[labels].values
oof = np.zeros(Y.shape)
for train, valid in KFold(5, shuffle=True, random_state=0).split(X):
    oof[valid] = MultiOutputRegressor(Ridge()).fit(X[train], Y[train]).predict(X[valid])
print("Final Validation Performance:", np.sqrt(np.mean((Y - oof) ** 2)))
