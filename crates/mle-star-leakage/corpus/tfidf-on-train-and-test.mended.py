import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

train = pd.read_csv("./input/train.csv")
test = pd.read_csv("./input/test.csv")
y = train["insult"].values
oof = np.zeros(len(train))
for trn, val in StratifiedKFold(5, shuffle=True, random_state=0).split(train, y):
    vectorizer = TfidfVectorizer(ngram_range=(1, 2), min_df=3)
    a = vectorizer.fit_transform(train["text"].iloc[trn])
    b = vectorizer.transform(train["text"].iloc[val])
    model = LogisticRegression(C=4, max_iter=300)
    model.fit(a, y[trn])
    oof[val] = model.predict_proba(b)[:, 1]
print(f"Final Validation Performance: {roc_auc_score(y, oof):.5f}")
