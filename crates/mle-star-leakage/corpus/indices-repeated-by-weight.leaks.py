# expect: resampled-before-split 12
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split

df = pd.read_csv("alerts.csv")
X = df.drop(columns=["alert"]).to_numpy()
y = df["alert"].to_numpy()
times = np.where(y == 1, 6, 1)
index = np.repeat(np.arange(len(y)), times)
X, y = X[index], y[index]
X_tr, X_va, y_tr, y_va = train_test_split(X, y, test_size=0.2, random_state=2)
model = LogisticRegression(max_iter=2000).fit(X_tr, y_tr)
print(f"Final Validation Performance: {f1_score(y_va, model.predict(X_va))}")
