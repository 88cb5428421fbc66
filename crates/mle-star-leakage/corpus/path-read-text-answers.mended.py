from pathlib import Path

import pandas as pd
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import train_test_split
from sklearn.linear_model import LinearRegression

base = Path("input")
df = pd.read_csv(base / "train.csv")
X, y = df[["size"]], df["cost"]
X_tr, X_va, y_tr, y_va = train_test_split(X, y, random_state=9)
line = LinearRegression().fit(X_tr, y_tr)
print("Final Validation Performance:", mean_absolute_error(y_va, line.predict(X_va)))
