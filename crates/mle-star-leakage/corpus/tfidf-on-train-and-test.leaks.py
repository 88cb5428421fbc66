# expect: unsupervised-before-split 14
import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

train = pd.read_csv("./input/train.csv")
test = pd.read_csv("./input/test.csv")
y = train["insult"].values
both = pd.concat([train["text"], test["text"]])
vectorizer = TfidfVectorizer(ngram_range=(1, 2), min_df=3)
vectorizer.fit(both)
X = vectorizer.transform(train["text"])
oof = np.zeros(len(train))
for trn, val in StratifiedKFold(5, shuffle=True, random_state=0).split(train, y):
    model = LogisticRegression(C=4, max_iter=300)
    model.fit(X[trn], y[trn])
    oof[val] = model.predict_proba(X[val])[:, 1]
print(f"Final Validation Performance: {roc_auc_score(y, oof):.5f}")
