import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import SelectPercentile, chi2
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedKFold

reviews = pd.read_csv("reviews.csv").fillna("")
texts, labels = reviews["text"].values, reviews["label"].values

results = []
for train_idx, test_idx in StratifiedKFold(n_splits=5).split(texts, labels):
    tfidf = TfidfVectorizer(ngram_range=(1, 2), min_df=3)
    selector = SelectPercentile(chi2, percentile=10)
    left = selector.fit_transform(tfidf.fit_transform(texts[train_idx]), labels[train_idx])
    right = selector.transform(tfidf.transform(texts[test_idx]))
    clf = LogisticRegression(max_iter=1000)
    clf.fit(left, labels[train_idx])
    results.append(f1_score(labels[test_idx], clf.predict(right), average="macro"))
print(f"Final Validation Performance: {sum(results) / len(results):.4f}")
