import random

import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline


def drop_words(text, share=0.1):
    return " ".join(word for word in text.split() if random.random() > share)


def augment(texts, labels):
    more_texts, more_labels = [], []
    for text, label in zip(texts, labels):
        more_texts.append(text)
        more_labels.append(label)
        more_texts.append(drop_words(text))
        more_labels.append(label)
    return more_texts, more_labels


tweets = pd.read_csv("tweets.csv")
texts, labels = tweets["text"], tweets["mood"]
fit_texts, val_texts, fit_labels, val_labels = train_test_split(texts, labels, test_size=0.2, random_state=0)
fit_texts, fit_labels = augment(fit_texts, fit_labels)
model = make_pipeline(TfidfVectorizer(), LogisticRegression(max_iter=1000))
model.fit(fit_texts, fit_labels)
print("Final Validation Performance:", accuracy_score(val_labels, model.predict(val_texts)))
