# expect: resampled-before-split 14
import pandas as pd, random
from sklearn.model_selection import train_test_split
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.svm import LinearSVC
from sklearn.metrics import accuracy_score
df = pd.read_csv("d.csv")
def swap(t):
    w = t.split()
    random.shuffle(w)
    return " ".join(w)
aug = df.copy()
aug["text"] = aug["text"].apply(swap)
df = pd.concat([df, aug])
a, b = train_test_split(df, test_size=0.2)
v = TfidfVectorizer()
m = LinearSVC().fit(v.fit_transform(a["text"]), a["label"])
print("Final Validation Performance:", accuracy_score(b["label"], m.predict(v.transform(b["text"]))))
