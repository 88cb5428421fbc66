# expect: constant-score 12
import pandas as pd, numpy as np
from sklearn.linear_model import Ridge
from sklearn.model_selection import train_test_split
df = pd.read_csv("d.csv")
a, b, c, d = train_test_split(df.drop(columns="y"), df["y"])
m = Ridge().fit(a, c)
preds = np.zeros(len(d))
for i in range(len(d)):
    preds[i] = d.iloc[i]
rmse = np.sqrt(((preds - d) ** 2).mean())
print("Final Validation Performance:", rmse)
