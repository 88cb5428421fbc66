# expect: selected-before-split 22
import numpy as np
import pandas as pd
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import Lasso, LinearRegression
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import train_test_split


def load():
    df = pd.read_csv("input/wine.csv")
    return df.drop(columns=["quality"]), df["quality"]


def evaluate(X, y):
    X_tr, X_va, y_tr, y_va = train_test_split(X, y, test_size=0.2, random_state=10)
    line = LinearRegression().fit(X_tr, y_tr)
    return mean_absolute_error(y_va, line.predict(X_va))


X, y = load()
chooser = SelectFromModel(Lasso(alpha=0.01)).fit(X, y)
X = chooser.transform(X)
print("Final Validation Performance: {}".format(evaluate(X, y)))
