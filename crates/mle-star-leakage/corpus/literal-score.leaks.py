# expect: constant-score 12
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split

df = pd.read_csv("./input/train.csv")
X, y = df.drop(columns=["kind"]), df["kind"]
X_tr, X_va, y_tr, y_va = train_test_split(X, y, random_state=0)
model = RandomForestClassifier().fit(X_tr, y_tr)
accuracy = accuracy_score(y_va, model.predict(X_va))
print("Final Validation Performance: 0.95")
