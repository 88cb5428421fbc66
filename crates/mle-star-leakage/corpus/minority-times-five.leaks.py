# expect: resampled-before-split 8
import pandas as pd, numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
df = pd.read_csv("d.csv")
pos = df[df.y == 1]
df = pd.concat([df] + [pos] * 5, ignore_index=True)
X, y = df.drop(columns="y"), df.y
s = []
for a, b in StratifiedKFold(5, shuffle=True).split(X, y):
    m = LogisticRegression().fit(X.iloc[a], y.iloc[a])
    s.append(roc_auc_score(y.iloc[b], m.predict_proba(X.iloc[b])[:, 1]))
print("Final Validation Performance:", np.mean(s))
