import numpy as np
import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsRegressor

df = pd.read_csv("./input/homes.csv")
y = df["price"]
X = df[["lat", "lon", "area"]].copy()
X_tr, X_va, y_tr, y_va = train_test_split(X, y, test_size=0.2, random_state=0)
ridge = Ridge().fit(X_tr, y_tr)
print("Final Validation Performance:", mean_absolute_error(y_va, ridge.predict(X_va)))
