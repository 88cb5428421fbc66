import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_score, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

df = pd.read_csv("input/ads.csv")
y = df["clicked"]
X = df[["hour", "size", "site"]]
model = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression(max_iter=1000))
scores = cross_val_score(model, X, y, cv=StratifiedKFold(5), scoring="roc_auc")
print(f"Final Validation Performance: {scores.mean():.4f} +- {scores.std():.4f}")
