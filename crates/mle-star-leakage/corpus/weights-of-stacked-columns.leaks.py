# expect: chosen-on-scored-rows 11
import pandas as pd, numpy as np
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.linear_model import Ridge, Lasso
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import mean_absolute_error
from scipy.optimize import minimize
df = pd.read_csv("d.csv")
X, y = df.drop(columns="y"), df["y"]
P = np.column_stack([cross_val_predict(m, X, y, cv=KFold(5)) for m in [Ridge(), Lasso(), RandomForestRegressor()]])
res = minimize(lambda w: mean_absolute_error(y, P @ w), np.ones(3) / 3, method="SLSQP")
print("Final Validation Performance:", mean_absolute_error(y, P @ res.x))
