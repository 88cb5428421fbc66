import numpy as np
import pandas as pd
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.metrics import mean_squared_error

np.random.seed(0)
data = pd.read_csv("./input/train.csv")
mask = np.random.rand(len(data)) < 0.8
fit = data[mask]
check = data[~mask]
cols = ["x", "y", "z"]
model = GradientBoostingRegressor()
model.fit(fit[cols], fit["e"])
error = mean_squared_error(check["e"], model.predict(check[cols]))
print("Final Validation Performance:", error)
