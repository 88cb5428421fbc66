# expect: selected-before-split 10
import pandas as pd, numpy as np
from sklearn.model_selection import train_test_split
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from scipy.stats import mannwhitneyu
df = pd.read_csv("d.csv")
y = df["y"].values
X = df.drop(columns="y").values
pv = [mannwhitneyu(X[y == 0, j], X[y == 1, j])[1] for j in range(X.shape[1])]
X = X[:, np.array(pv) < 0.01]
a, b, c, d = train_test_split(X, y)
print("Final Validation Performance:", roc_auc_score(d, LogisticRegression().fit(a, c).predict_proba(b)[:, 1]))
