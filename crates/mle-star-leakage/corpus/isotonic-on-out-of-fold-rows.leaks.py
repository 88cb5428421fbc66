# expect: scored-on-training-rows 17
import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

df = pd.read_csv("train.csv")
X, y = df.drop(columns=["hit"]), df["hit"]
oof = np.zeros(len(df))
for trn, val in StratifiedKFold(5, shuffle=True, random_state=1).split(X, y):
    model = LGBMClassifier().fit(X.iloc[trn], y.iloc[trn])
    oof[val] = model.predict_proba(X.iloc[val])[:, 1]
iso = IsotonicRegression(out_of_bounds="clip")
iso.fit(oof, y)
score = log_loss(y, iso.predict(oof))
print("Final Validation Performance:", score)
