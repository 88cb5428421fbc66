import pandas as pd
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.feature_selection import SelectPercentile, chi2
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import MultinomialNB

reviews = pd.read_csv("./input/reviews.csv")
hashed = HashingVectorizer(alternate_sign=False, n_features=2**16).transform(reviews["text"])
y = reviews["positive"]
select = SelectPercentile(chi2, percentile=20)
total = 0.0
skf = StratifiedKFold(n_splits=4, shuffle=True, random_state=21)
for fit, check in skf.split(hashed, y):
    x_fit, x_check = hashed[fit], hashed[check]
    x_fit = select.fit_transform(x_fit, y[fit])
    x_check = select.transform(x_check)
    bayes = MultinomialNB(alpha=0.3).fit(x_fit, y[fit])
    total += f1_score(y[check], bayes.predict(x_check)) / 4
print(f"Final Validation Performance: {total:.4f}")
