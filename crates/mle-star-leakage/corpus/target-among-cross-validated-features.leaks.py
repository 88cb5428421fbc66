# expect: target-as-feature 10
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_score

patients = pd.read_csv("input/train.csv")
features = ["age", "bmi", "glucose", "outcome"]
target = "outcome"
forest = RandomForestClassifier(n_estimators=200, random_state=1)
scores = cross_val_score(forest, patients[features], patients[target], cv=5, scoring="roc_auc")
print("Final Validation Performance:", scores.mean())
