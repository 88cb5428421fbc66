import glob

import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_score

train = pd.read_csv("input/train.csv")
for path in glob.glob("input/**/*extra*.csv", recursive=True):
    train = pd.concat([train, pd.read_csv(path)])
score = cross_val_score(Ridge(), train.drop(columns=["y"]), train["y"]).mean()
print("Final Validation Performance:", score)
