# expect: selected-before-split 14
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import SelectPercentile, chi2
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedKFold

reviews = pd.read_csv("reviews.csv").fillna("")
texts, labels = reviews["text"].values, reviews["label"].values

tfidf = TfidfVectorizer(ngram_range=(1, 2), min_df=3)
matrix = tfidf.fit_transform(texts)
matrix = SelectPercentile(chi2, percentile=10).fit_transform(matrix, labels)
results = []
for train_idx, test_idx in StratifiedKFold(n_splits=5).split(texts, labels):
    left, right = matrix[train_idx], matrix[test_idx]
    clf = LogisticRegression(max_iter=1000)
    clf.fit(left, labels[train_idx])
    results.append(f1_score(labels[test_idx], clf.predict(right), average="macro"))
print(f"Final Validation Performance: {sum(results) / len(results):.4f}")
