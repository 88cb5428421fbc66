# expect: scored-on-training-rows 13
import numpy as np, pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_predict
from sklearn.metrics import log_loss
df = pd.read_csv("d.csv")
X, y = df.drop(columns="y"), df["y"]
raw = cross_val_predict(RandomForestClassifier(), X, y, cv=5, method="predict_proba")[:, 1]
platt = LogisticRegression()
platt.fit(raw.reshape(-1, 1), y)
cal = platt.predict_proba(raw.reshape(-1, 1))[:, 1]
print("Final Validation Performance:", log_loss(y, cal))
