# expect: scored-on-training-rows 9
import pandas as pd
from sklearn.model_selection import train_test_split
from xgboost import XGBRegressor

df = pd.read_csv("train.csv")
X_tr, X_va, y_tr, y_va = train_test_split(df.drop(columns=["y"]), df["y"], random_state=0)
model = XGBRegressor(n_estimators=300, eval_metric="rmse")
model.fit(X_tr, y_tr, eval_set=[(X_tr, y_tr), (X_va, y_va)], verbose=False)
result = model.evals_result()
print("Final Validation Performance:", result["validation_0"]["rmse"][-1])
