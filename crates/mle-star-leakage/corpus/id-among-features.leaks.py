# expect: id-as-feature 13
# facts: {"ids": ["passenger_id"], "targets": ["survived"]}
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split

train = pd.read_csv("./input/train.csv")
y = train["survived"]
X = train.drop(columns=["survived"])
X_tr, X_va, y_tr, y_va = train_test_split(X, y, random_state=0)
model = RandomForestClassifier(n_estimators=200)
model.fit(X_tr, y_tr)
print("Final Validation Performance:", accuracy_score(y_va, model.predict(X_va)))
