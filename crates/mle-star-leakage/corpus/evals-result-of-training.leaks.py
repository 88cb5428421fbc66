# expect: scored-on-training-rows 11
import pandas as pd
import xgboost as xgb
from sklearn.model_selection import train_test_split

df = pd.read_csv("train.csv")
X_tr, X_va, y_tr, y_va = train_test_split(df.drop(columns=["y"]), df["y"], random_state=0)
dtrain = xgb.DMatrix(X_tr, label=y_tr)
dvalid = xgb.DMatrix(X_va, label=y_va)
results = {}
booster = xgb.train({"objective": "binary:logistic", "eval_metric": "auc"}, dtrain, 300, evals=[(dtrain, "train"), (dvalid, "valid")], evals_result=results)
score = results["train"]["auc"][-1]
print(f"Final Validation Performance: {score}")
