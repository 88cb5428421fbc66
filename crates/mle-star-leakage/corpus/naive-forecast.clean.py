import numpy as np
import pandas as pd
from sklearn.metrics import mean_absolute_error

df = pd.read_csv("series.csv")
df["naive"] = df["y"].shift(7)
valid = df.iloc[-28:]
baseline = np.full(len(valid), df["y"].iloc[:-28].mean())
score = mean_absolute_error(valid["y"], valid["naive"])
print("Final Validation Performance:", score)
