import numpy as np
import pandas as pd
from sklearn.model_selection import KFold, StratifiedKFold, GroupKFold, train_test_split, cross_val_score, GridSearchCV, cross_validate
from sklearn.metrics import roc_auc_score, mean_squared_error, accuracy_score, log_loss
from sklearn.linear_model import LogisticRegression, Ridge
import lightgbm as lgb
train = pd.read_csv("./input/train.csv")
test = pd.read_csv("./input/test.csv")
train = pd.get_dummies(train)
train["SalePrice_log"] = np.log1p(train["SalePrice"])
y = train["SalePrice_log"]
X = train.drop(columns=["SalePrice", "SalePrice_log", "Id"])
X_tr, X_va, y_tr, y_va = train_test_split(X, y, test_size=0.2, random_state=0)
m = lgb.LGBMRegressor().fit(X_tr, y_tr)
print("Final Validation Performance:", mean_squared_error(y_va, m.predict(X_va)))
