import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

frame = pd.read_csv("posts.csv")
texts, labels = [], []
for text, label in zip(frame["title"], frame["label"]):
    if len(text) > 3:
        texts.append(text.lower())
    else:
        texts.append(text)
    labels.append(label)
rows = []
for _, row in frame.iterrows():
    record = {"text": row["title"], "label": row["label"]}
    rows.append(record)
frame = pd.DataFrame(rows)
a, b, c, d = train_test_split(texts, labels, test_size=0.2, random_state=0)
model = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(a, c)
print("Final Validation Performance:", accuracy_score(d, model.predict(b)))
