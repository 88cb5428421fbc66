# expect: chosen-on-scored-rows 16
import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import matthews_corrcoef
from sklearn.model_selection import train_test_split

df = pd.read_csv("input/train.csv")
X, y = df.drop(columns=["failure"]), df["failure"]
X_tr, X_va, y_tr, y_va = train_test_split(X, y, test_size=0.2, random_state=0)
rf = RandomForestClassifier(n_estimators=300).fit(X_tr, y_tr)
p = rf.predict_proba(X_va)[:, 1]
best = -1
for t in np.linspace(0.05, 0.95, 91):
    mcc = matthews_corrcoef(y_va, (p >= t).astype(int))
    if mcc > best:
        best = mcc
print("Final Validation Performance:", best)
