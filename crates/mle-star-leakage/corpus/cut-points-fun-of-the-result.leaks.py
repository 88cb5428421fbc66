# expect: chosen-on-scored-rows 19
import numpy as np
import pandas as pd
from scipy.optimize import minimize
from sklearn.linear_model import Ridge
from sklearn.metrics import cohen_kappa_score
from sklearn.model_selection import train_test_split

df = pd.read_csv("pets.csv")
X_tr, X_va, y_tr, y_va = train_test_split(df.drop(columns=["speed"]), df["speed"], random_state=0)
raw = Ridge().fit(X_tr, y_tr).predict(X_va)


def loss(cuts):
    grades = np.searchsorted(np.sort(cuts), raw)
    return -cohen_kappa_score(y_va, grades, weights="quadratic")


best = minimize(loss, x0=[0.5, 1.5, 2.5], method="Nelder-Mead")
score = -best.fun
print(f"Final Validation Performance: {score}")
