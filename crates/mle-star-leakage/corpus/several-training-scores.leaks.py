# expect: scored-on-training-rows 6
import pandas as pd, numpy as np
from sklearn.model_selection import cross_validate, KFold
from sklearn.ensemble import GradientBoostingRegressor
df = pd.read_csv("d.csv")
cv = cross_validate(GradientBoostingRegressor(), df.drop(columns="y"), df["y"], cv=KFold(5), scoring=("r2", "neg_root_mean_squared_error"), return_train_score=True)
rmse = -np.mean(cv["train_neg_root_mean_squared_error"])
print("Final Validation Performance:", rmse)
