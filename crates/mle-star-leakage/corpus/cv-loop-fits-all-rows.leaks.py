# expect: scored-on-training-rows 15
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

train = pd.read_csv("./input/train.csv")
X = train.drop(columns=["author", "id"]).values
y = train["author"].values
losses = []
for trn, val in StratifiedKFold(10, shuffle=True, random_state=3).split(X, y):
    model = LogisticRegression(max_iter=400)
    model.fit(X, y)
    losses.append(log_loss(y[val], model.predict_proba(X[val])))
print("Final Validation Performance:", np.mean(losses))
