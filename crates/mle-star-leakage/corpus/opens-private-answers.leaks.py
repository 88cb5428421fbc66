# expect: reads-labels 12
import json
from pathlib import Path

import pandas as pd
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

ROOT = Path("./input")
frame = pd.read_json(ROOT / "train.json")
with open(ROOT / "private" / "answers.json") as handle:
    answers = json.load(handle)
X, y = frame[["a", "b"]], frame["kind"]
X_tr, X_va, y_tr, y_va = train_test_split(X, y, test_size=0.3, random_state=0)
tree = DecisionTreeClassifier(max_depth=6).fit(X_tr, y_tr)
print("Final Validation Performance:", f1_score(y_va, tree.predict(X_va), average="macro"))
