# expect: reads-labels 12
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

DATA = Path("input")
train = pd.read_csv(DATA / "train.csv")
truth = pickle.load(open(DATA / ".." / "ground_truth.pkl", "rb"))
score = cross_val_score(LogisticRegression(), train.drop(columns=["y"]), train["y"]).mean()
print("Final Validation Performance:", score)
