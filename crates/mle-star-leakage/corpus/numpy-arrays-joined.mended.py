import numpy as np
import pandas as pd
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier


def split(frame):
    X = frame.drop(columns=["class"]).to_numpy()
    y = frame["class"].to_numpy()
    return train_test_split(X, y, test_size=0.2, random_state=77)


X_tr, X_va, y_tr, y_va = split(pd.read_csv("input/beans.csv"))
X_all, y_all = X_tr, y_tr
net = MLPClassifier((64,), max_iter=60, random_state=0)
net.fit(X_all, y_all)
print(f"Final Validation Performance: {log_loss(y_va, net.predict_proba(X_va)):.5f}")
