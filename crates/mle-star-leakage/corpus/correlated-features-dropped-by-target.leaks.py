# expect: selected-before-split 8
import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_score

df = pd.read_csv("train.csv")
target = "y"
corr = df.corr()[target].abs().sort_values(ascending=False)
cols = corr[corr > 0.1].index.drop(target)
score = cross_val_score(Ridge(), df[cols], df[target], cv=5).mean()
print(f"Final Validation Performance: {score}")
