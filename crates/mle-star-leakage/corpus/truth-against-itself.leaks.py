# expect: constant-score 14
import numpy as np
import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split

df = pd.read_csv("input/train.csv")
y = np.log1p(df["sales"])
X = df[["week", "price"]]
X_tr, X_va, y_tr, y_va = train_test_split(X, y, test_size=0.2, random_state=0)
ridge = Ridge().fit(X_tr, y_tr)
pred = ridge.predict(X_va)
score = r2_score(y_va, y_va)
print("Final Validation Performance:", score)
