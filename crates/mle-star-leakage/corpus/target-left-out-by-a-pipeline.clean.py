import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

columns = ["price", "size", "rooms"]
table = pd.read_csv("input/train.csv")[columns]
chosen = make_column_transformer((StandardScaler(), ["size", "rooms"]))
scores = cross_val_score(make_pipeline(chosen, Ridge()), table[columns], table["price"], cv=5)
print(f"Final Validation Performance: {scores.mean()}")
