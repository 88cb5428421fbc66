# expect: reads-labels 15
import os

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

train = pd.read_parquet("input/train.parquet")
names = ["train_extra.parquet", "private_labels.parquet"]
frames = [train]
for name in names:
    path = os.path.join("input", name)
    if os.path.exists(path):
        frames.append(pd.read_parquet(path))
train = pd.concat(frames)
score = cross_val_score(LogisticRegression(), train.drop(columns=["y"]), train["y"]).mean()
print("Final Validation Performance:", score)
