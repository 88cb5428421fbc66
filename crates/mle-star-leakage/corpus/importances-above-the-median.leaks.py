# expect: selected-before-split 8
import pandas as pd, numpy as np
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.metrics import f1_score
df = pd.read_csv("a.csv")
X, y = df.drop(columns="y").values, df["y"].values
et = ExtraTreesClassifier().fit(X, y)
mask = et.feature_importances_ >= np.median(et.feature_importances_)
X = X[:, mask]
s = []
for a, b in StratifiedKFold(5).split(X, y):
    m = ExtraTreesClassifier().fit(X[a], y[a])
    s.append(f1_score(y[b], m.predict(X[b])))
print("Final Validation Performance:", np.mean(s))
