import numpy as np
import pandas as pd
from sklearn.model_selection import KFold, StratifiedKFold, GroupKFold, train_test_split, cross_val_score, GridSearchCV, cross_validate
from sklearn.metrics import roc_auc_score, mean_squared_error, accuracy_score, log_loss
from sklearn.linear_model import LogisticRegression, Ridge
import lightgbm as lgb
train = pd.read_csv("./input/train.csv")
test = pd.read_csv("./input/test.csv")
X = train.drop(columns=["target"]); y = train["target"]
res = cross_validate(lgb.LGBMClassifier(), X, y, cv=5, scoring="roc_auc", return_train_score=True)
print("CV fit AUC:", res["train_score"].mean())
print("CV results:", res)
print("CV AUC:", res["test_score"].mean())
