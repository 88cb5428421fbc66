import numpy as np
import pandas as pd
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss
from sklearn.model_selection import cross_val_predict
from sklearn.svm import LinearSVC

df = pd.read_csv("train.csv")
X, y = df.drop(columns=["hit"]), df["hit"]
margin = cross_val_predict(LinearSVC(), X, y, cv=5, method="decision_function")
calibrator = IsotonicRegression(out_of_bounds="clip")
p = cross_val_predict(calibrator, margin, y, cv=5)
print("Final Validation Performance:", brier_score_loss(y, p))
