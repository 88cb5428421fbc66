# expect: same-rows 10
import pandas as pd
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from xgboost import XGBClassifier

df = pd.read_csv("./input/train.csv")
X, y = df.drop(columns=["bought"]), df["bought"]
X_train, _, y_train, _ = train_test_split(X, y, test_size=0.2, random_state=1)
_, X_valid, _, y_valid = train_test_split(X, y, test_size=0.2, random_state=2)
booster = XGBClassifier(n_estimators=300)
booster.fit(X_train, y_train)
print("Final Validation Performance:", roc_auc_score(y_valid, booster.predict_proba(X_valid)[:, 1]))
