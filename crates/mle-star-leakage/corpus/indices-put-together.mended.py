import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

df = pd.read_csv("train.csv")
X, y = df.drop(columns=["y"]), df["y"]
aucs = []
for trn, val in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
    rows = trn
    model = LGBMClassifier().fit(X.iloc[rows], y.iloc[rows])
    aucs.append(roc_auc_score(y.iloc[val], model.predict_proba(X.iloc[val])[:, 1]))
print(f"Final Validation Performance: {np.mean(aucs)}")
