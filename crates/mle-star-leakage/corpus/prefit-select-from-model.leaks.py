# expect: selected-before-split 8
import pandas as pd
from xgboost import XGBClassifier
from sklearn.feature_selection import SelectFromModel
from sklearn.model_selection import StratifiedKFold, cross_val_score
df = pd.read_csv("a.csv")
X, y = df.drop(columns="y"), df["y"]
xgb = XGBClassifier().fit(X, y)
sfm = SelectFromModel(xgb, threshold="mean", prefit=True)
X_new = sfm.transform(X)
print("Final Validation Performance:", cross_val_score(XGBClassifier(), X_new, y, cv=StratifiedKFold(5)).mean())
