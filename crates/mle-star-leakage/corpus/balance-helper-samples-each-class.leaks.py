# expect: resampled-before-split 13
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import train_test_split


def balance(df, label):
    largest = df[label].value_counts().max()
    parts = []
    for value in df[label].unique():
        part = df[df[label] == value]
        parts.append(part.sample(largest, replace=True, random_state=0))
    return pd.concat(parts).sample(frac=1, random_state=0).reset_index(drop=True)


df = pd.read_csv("faults.csv")
df = balance(df, "fault")
train, valid = train_test_split(df, test_size=0.2, random_state=4)
clf = RandomForestClassifier(n_estimators=300)
clf.fit(train.drop(columns="fault"), train["fault"])
pred = clf.predict(valid.drop(columns="fault"))
print("Final Validation Performance:", balanced_accuracy_score(valid["fault"], pred))
