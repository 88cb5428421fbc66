import numpy as np
import pandas as pd
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.model_selection import cross_val_predict, train_test_split

train = pd.read_csv("./input/train.csv")
y = train["species"]
X = train.drop(columns=["species"])
base = [RandomForestClassifier(n_estimators=300, random_state=0), ExtraTreesClassifier(n_estimators=300, random_state=0)]
X_tr, X_va, y_tr, y_va = train_test_split(X, y, test_size=0.2, random_state=5)
Z_tr = np.hstack([cross_val_predict(m, X_tr, y_tr, cv=5, method="predict_proba") for m in base])
Z_va = np.hstack([m.fit(X_tr, y_tr).predict_proba(X_va) for m in base])
meta = LogisticRegression(max_iter=1000)
meta.fit(Z_tr, y_tr)
print("Final Validation Performance:", accuracy_score(y_va, meta.predict(Z_va)))
