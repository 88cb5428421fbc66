# expect: chosen-on-scored-rows 9
import numpy as np, pandas as pd
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split
from sklearn.linear_model import LogisticRegression
df = pd.read_csv("d.csv")
a, b, c, d = train_test_split(df.drop(columns="y"), df["y"], test_size=0.2, random_state=0)
p = LogisticRegression().fit(a, c).predict_proba(b)[:, 1]
best = max((f1_score(d, p > t), t) for t in np.linspace(0, 1, 101))
print("Final Validation Performance:", best[0])
