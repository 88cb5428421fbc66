import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier
from sklearn.metrics import accuracy_score
from sklearn.model_selection import StratifiedKFold

df = pd.read_csv("train.csv")
X, y = df.drop(columns=["y"]), df["y"].values
oof = np.zeros(len(df))
for trn, val in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
    model = LGBMClassifier().fit(X.iloc[trn], y[trn])
    pred = model.predict(X.iloc[val])
    oof[val] = pred
print(f"Final Validation Performance: {accuracy_score(y, oof)}")
