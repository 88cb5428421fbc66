import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import resample


def balance(frame, label):
    groups = [part for _, part in frame.groupby(label)]
    size = max(len(part) for part in groups)
    return pd.concat([resample(part, replace=True, n_samples=size, random_state=0) for part in groups])


def augment(texts, labels):
    out_texts, out_labels = list(texts), list(labels)
    for text, label in zip(texts, labels):
        out_texts.append(text[::-1])
        out_labels.append(label)
    return out_texts, out_labels


df = pd.read_csv("train.csv")
whole = pd.DataFrame()
for name, part in df.groupby("source"):
    whole = pd.concat([whole, part[part["size"] > part["size"].mean()]])
frames = []
for source in df["source"].unique():
    frames.append(df[df["source"] == source])
df = pd.concat(frames)
scores = []
for trn, val in StratifiedKFold(5, shuffle=True, random_state=0).split(df, df["y"]):
    train, valid = df.iloc[trn], df.iloc[val]
    train = balance(train, "y")
    rare = train[train["y"] == 1]
    train = pd.concat([train, rare, rare.sample(frac=0.5, replace=True)])
    model = LogisticRegression().fit(train[["a", "b"]], train["y"])
    scores.append(f1_score(valid["y"], model.predict(valid[["a", "b"]])))
print("Final Validation Performance:", np.mean(scores))
