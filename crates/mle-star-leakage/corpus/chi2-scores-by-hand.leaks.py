# expect: selected-before-split 14
import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.feature_selection import chi2
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import MultinomialNB

docs = pd.read_csv("docs.csv")
vec = CountVectorizer(min_df=2)
counts = vec.fit_transform(docs["body"])
y = docs["topic"].to_numpy()
scores, p = chi2(counts, y)
mask = p < 0.05
counts = counts[:, mask]
X_tr, X_va, y_tr, y_va = train_test_split(counts, y, test_size=0.2, random_state=42)
nb = MultinomialNB()
nb.fit(X_tr, y_tr)
print("Final Validation Performance:", accuracy_score(y_va, nb.predict(X_va)))
