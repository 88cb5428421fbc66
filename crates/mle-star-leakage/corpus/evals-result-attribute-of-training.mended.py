import lightgbm as lgb
import pandas as pd
from sklearn.model_selection import train_test_split

df = pd.read_csv("train.csv")
X_tr, X_va, y_tr, y_va = train_test_split(df.drop(columns=["y"]), df["y"], random_state=0)
model = lgb.LGBMRegressor(n_estimators=500)
model.fit(X_tr, y_tr, eval_set=[(X_tr, y_tr), (X_va, y_va)], eval_metric="l1", eval_names=["training", "valid"])
history = model.evals_result_["valid"]["l1"]
print("Final Validation Performance:", history[-1])
