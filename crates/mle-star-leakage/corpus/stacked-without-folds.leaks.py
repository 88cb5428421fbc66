# expect: target-statistics 15
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
level_one = []
for model in base:
    model.fit(X, y)
    level_one.append(model.predict_proba(X))
Z = np.hstack(level_one)
Z_tr, Z_va, y_tr, y_va = train_test_split(Z, y, test_size=0.2, random_state=5)
meta = LogisticRegression(max_iter=1000)
meta.fit(Z_tr, y_tr)
print("Final Validation Performance:", accuracy_score(y_va, meta.predict(Z_va)))
