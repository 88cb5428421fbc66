# expect: selected-before-split 8
import pandas as pd, numpy as np
from sklearn.feature_selection import RFE
from sklearn.svm import SVC
from sklearn.model_selection import cross_val_score
X = pd.read_csv("X.csv"); y = pd.read_csv("y.csv")["label"]
rfe = RFE(estimator=SVC(kernel="linear"), n_features_to_select=20, step=1)
rfe = rfe.fit(X, y)
feats = [f for f, s in zip(X.columns, rfe.support_) if s]
X_sel = X.loc[:, feats]
print("Final Validation Performance: %.4f" % cross_val_score(SVC(), X_sel, y, cv=10).mean())
