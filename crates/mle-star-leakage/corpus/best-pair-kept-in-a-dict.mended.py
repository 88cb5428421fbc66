import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

df = pd.read_csv("./input/train.csv")
X_tr, X_va, y_tr, y_va = train_test_split(df.drop(columns=["y"]), df["y"], test_size=0.2, random_state=0)
p1 = LGBMClassifier().fit(X_tr, y_tr).predict_proba(X_va)[:, 1]
p2 = LogisticRegression(max_iter=900).fit(X_tr, y_tr).predict_proba(X_va)[:, 1]
print("Final Validation Performance:", roc_auc_score(y_va, 0.6 * p1 + 0.4 * p2))
