import numpy as np
import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.model_selection import train_test_split

df = pd.read_csv("train.csv")
X_tr, X_va, y_tr, y_va = train_test_split(df.drop(columns=["y"]), df["y"], random_state=0)
p = Ridge().fit(X_tr, y_tr).predict(X_va)
rss = ((y_va - p) ** 2).sum()
tss = ((y_va - y_va.mean()) ** 2).sum()
print("spread", y_va.std())
print("Final Validation Performance:", 1 - rss / tss)
