# expect: resampled-before-split 19
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline


def shuffle_words(text):
    words = text.split()
    return " ".join(sorted(words, key=hash))


def with_copies(df):
    rows = []
    for _, row in df.iterrows():
        rows.append({"comment": row["comment"], "toxic": row["toxic"]})
        rows.append({"comment": shuffle_words(row["comment"]), "toxic": row["toxic"]})
    return pd.DataFrame(rows)


df = pd.read_csv("comments.csv")
df = with_copies(df)
train, valid = train_test_split(df, test_size=0.2, random_state=9)
model = Pipeline([("tfidf", TfidfVectorizer()), ("clf", SGDClassifier())])
model.fit(train["comment"], train["toxic"])
print(f"Final Validation Performance: {f1_score(valid['toxic'], model.predict(valid['comment']))}")
