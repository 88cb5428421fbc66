import pandas as pd
import xgboost as xgb
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import train_test_split

df = pd.read_csv("./input/train.csv")
X, y = df.drop(columns=["value"]), df["value"]
X_tr, X_va, y_tr, y_va = train_test_split(X, y, test_size=0.2, random_state=0)
X_tr, X_es, y_tr, y_es = train_test_split(X_tr, y_tr, test_size=0.1, random_state=0)
dtrain = xgb.DMatrix(X_tr, label=y_tr)
dvalid = xgb.DMatrix(X_va, label=y_va)
stop = xgb.DMatrix(X_es, label=y_es)
params = {"max_depth": 6, "eta": 0.05, "objective": "reg:squarederror"}
booster = xgb.train(params, dtrain, 3000, evals=[(dtrain, "fit"), (stop, "stop")], early_stopping_rounds=50)
pred = booster.predict(dvalid)
print("Final Validation Performance:", mean_squared_error(y_va, pred) ** 0.5)
