import pandas as pd
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

reviews = pd.read_csv("input/train.csv")
topics = make_pipeline(TfidfVectorizer(max_features=20000), TruncatedSVD(100, random_state=0))
a, b, u, v = train_test_split(reviews["text"], reviews["stars"], random_state=0)
clf = LogisticRegression(C=2.0, max_iter=500)
clf.fit(topics.fit_transform(a), u)
print("Final Validation Performance:", f1_score(v, clf.predict(topics.transform(b)), average="macro"))
