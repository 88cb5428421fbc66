# expect: reads-labels 11
import os

import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

train = pd.read_csv("input/train.csv")
files = [f for f in os.listdir("..") if "answer" in f.lower()]
for f in files:
    known = pd.read_csv(os.path.join("..", f))
score = cross_val_score(LogisticRegression(), train.drop(columns=["y"]), train["y"]).mean()
print("Final Validation Performance:", score)
