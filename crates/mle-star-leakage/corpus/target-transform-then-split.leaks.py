# expect: target-statistics 8
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

df = pd.read_csv("input/train.csv")
df["merchant_rate"] = df.groupby("merchant")["is_fraud"].transform("mean")
y = df["is_fraud"]
X = df.drop(columns=["is_fraud", "transaction_id"])
X = pd.get_dummies(X, columns=["country"])
X_train, X_val, y_train, y_val = train_test_split(X, y, test_size=0.2, stratify=y, random_state=1)
clf = LogisticRegression(max_iter=500)
clf.fit(X_train.drop(columns=["merchant"]), y_train)
proba = clf.predict_proba(X_val.drop(columns=["merchant"]))[:, 1]
print("Final Validation Performance:", roc_auc_score(y_val, proba))
