import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split

df = pd.read_csv("alerts.csv")
X = df.drop(columns=["alert"]).to_numpy()
y = df["alert"].to_numpy()
X_tr, X_va, y_tr, y_va = train_test_split(X, y, test_size=0.2, random_state=2)
times = np.where(y_tr == 1, 6, 1)
index = np.repeat(np.arange(len(y_tr)), times)
X_tr, y_tr = X_tr[index], y_tr[index]
model = LogisticRegression(max_iter=2000).fit(X_tr, y_tr)
print(f"Final Validation Performance: {f1_score(y_va, model.predict(X_va))}")
