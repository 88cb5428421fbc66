# expect: resampled-before-split 7
import pandas as pd, numpy as np
from sklearn.model_selection import KFold
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import mean_absolute_error
df = pd.read_csv("d.csv")
idx = np.random.choice(df.index, size=len(df) * 2, replace=True)
df = df.loc[idx].reset_index(drop=True)
s = []
for a, b in KFold(5, shuffle=True).split(df):
    m = RandomForestRegressor().fit(df.drop(columns="y").iloc[a], df["y"].iloc[a])
    s.append(mean_absolute_error(df["y"].iloc[b], m.predict(df.drop(columns="y").iloc[b])))
print("Final Validation Performance:", np.mean(s))
