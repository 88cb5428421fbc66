# expect: selected-before-split 11
import pandas as pd, numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.metrics import accuracy_score
df = pd.read_csv("a.csv")
corrs = {}
for c in df.columns:
    if c == "y":
        continue
    corrs[c] = df[c].corr(df["y"])
keep = [c for c in corrs if abs(corrs[c]) > 0.05]
X_tr, X_va, y_tr, y_va = train_test_split(df[keep], df["y"], random_state=0)
print("Final Validation Performance:", accuracy_score(y_va, LogisticRegression().fit(X_tr, y_tr).predict(X_va)))
