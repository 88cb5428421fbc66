import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_score

df = pd.read_csv("train.csv")
target = "y"
corr = df.drop(columns=[target]).corr().abs()
cols = [c for c in corr.columns if (corr[c] > 0.95).sum() < 3]
score = cross_val_score(Ridge(), df[cols], df[target], cv=5).mean()
print(f"Final Validation Performance: {score}")
