# expect: reads-labels 9
import zipfile

import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

train = pd.read_csv("input/train.csv")
with zipfile.ZipFile("input/solution.zip") as archive:
    known = pd.read_csv(archive.open("solution.csv"))
score = cross_val_score(LogisticRegression(), train.drop(columns=["y"]), train["y"]).mean()
print("Final Validation Performance:", score)
