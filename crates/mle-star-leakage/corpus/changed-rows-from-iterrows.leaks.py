# expect: resampled-before-split 13
import pandas as pd
from sklearn.model_selection import train_test_split
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.svm import LinearSVC
from sklearn.metrics import accuracy_score
df = pd.read_csv("d.csv")
new_rows = []
for i, row in df.iterrows():
    new = row.copy()
    new["text"] = row["text"].replace("good", "great")
    new_rows.append(new)
df = pd.concat([df, pd.DataFrame(new_rows)], ignore_index=True)
a, b = train_test_split(df, test_size=0.2)
v = TfidfVectorizer()
m = LinearSVC().fit(v.fit_transform(a["text"]), a["label"])
print("Final Validation Performance:", accuracy_score(b["label"], m.predict(v.transform(b["text"]))))
