import itertools
import numpy as np
import pandas as pd
from sklearn.linear_model import Lasso
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import cross_val_predict

df = pd.read_csv("./input/train.csv")
y = df["minutes"]
X = df.drop(columns=["minutes", "trip"])
pred = cross_val_predict(Lasso(alpha=0.1), X, y, cv=5)
lowest = mean_absolute_error(y, pred)
print(f"Final Validation Performance: {lowest:.4f}")
