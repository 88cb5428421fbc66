import glob
import os

import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

train = pd.read_csv("input/train.csv")
answers = pd.read_csv("input/question_pairs.csv")
sample = pd.read_csv("input/sample_solution.csv")
for path in glob.glob("input/*.csv"):
    if "solution" not in path and "answers" not in path:
        frame = pd.read_csv(path)
for name in os.listdir("input"):
    if "holdout" in name:
        continue
    part = pd.read_csv(os.path.join("input", name))
for folder, _, names in os.walk("input"):
    for name in names:
        if name.startswith("private"):
            print("left out", name)
        else:
            other = pd.read_csv(os.path.join(folder, name))
score = cross_val_score(LogisticRegression(), train.drop(columns=["y"]), train["y"]).mean()
print("Final Validation Performance:", score)
