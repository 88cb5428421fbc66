# expect: constant-score 10
import pandas as pd, numpy as np
from sklearn.linear_model import Ridge
from sklearn.model_selection import train_test_split
df = pd.read_csv("d.csv")
a, b, c, d = train_test_split(df.drop(columns="y"), df["y"])
m = Ridge().fit(a, c)
def metric(y, p):
    return float(np.std(y))
print("Final Validation Performance:", metric(d, m.predict(b)))
