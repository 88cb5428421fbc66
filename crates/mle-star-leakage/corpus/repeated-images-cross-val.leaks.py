# expect: resampled-before-split 10
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

raw = pd.read_csv("./input/symbols.csv")
y = raw["symbol"].to_numpy()
X = raw.drop(columns="symbol").to_numpy(dtype=np.float32)
X = np.repeat(X, 3, axis=0)
y = np.repeat(y, 3, axis=0)
clf = LogisticRegression(max_iter=200)
print(f"Final Validation Performance: {cross_val_score(clf, X, y, cv=5).mean()}")
