# expect: reads-labels 11
import json
import os

import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

BASE = "/data"
train = pd.read_csv(os.path.join(BASE, "train.csv"))
with open(os.path.join(BASE, "hidden", "answers.json")) as file:
    known = json.load(file)
score = cross_val_score(LogisticRegression(), train.drop(columns=["y"]), train["y"]).mean()
print("Final Validation Performance:", score)
