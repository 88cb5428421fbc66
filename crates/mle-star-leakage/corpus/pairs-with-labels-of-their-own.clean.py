import random

import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split

df = pd.read_csv("questions.csv")
rows = []
for _, row in df.iterrows():
    rows.append({"left": row["question"], "right": row["good"], "label": 1})
    rows.append({"left": row["question"], "right": row["bad"], "label": 0})
pairs = pd.DataFrame(rows)
train, valid = train_test_split(pairs, test_size=0.2, random_state=0)
model = LogisticRegression().fit(train[["left", "right"]], train["label"])
print("pairs", model.score(valid[["left", "right"]], valid["label"]))
left, labels = [], []
for question, answer in zip(df["question"], df["good"]):
    left.append(question + answer)
    labels.append(1)
    left.append(question + random.choice(["a", "b"]))
    labels.append(0)
a, b, c, d = train_test_split(left, labels, test_size=0.2, random_state=0)
model = LogisticRegression().fit(a, c)
print("Final Validation Performance:", accuracy_score(d, model.predict(b)))
