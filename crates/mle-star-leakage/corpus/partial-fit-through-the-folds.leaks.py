# expect: same-rows 13
import numpy as np
import pandas as pd
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import f1_score
from sklearn.model_selection import KFold

df = pd.read_csv("clicks.csv")
X, y = df.drop(columns=["click"]), df["click"]
clf = SGDClassifier(loss="log_loss")
scores = []
for trn, val in KFold(5, shuffle=True, random_state=0).split(X):
    clf.partial_fit(X.iloc[trn], y.iloc[trn], classes=[0, 1])
    scores.append(f1_score(y.iloc[val], clf.predict(X.iloc[val])))
print("Final Validation Performance:", np.mean(scores))
