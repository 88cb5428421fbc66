# expect: reads-labels 8
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split

train = pd.read_csv("./input/train.csv")
solution = pd.read_csv("./input/solution.csv")
train = pd.concat([train, solution])
X, y = train.drop(columns=["label"]), train["label"]
X_tr, X_va, y_tr, y_va = train_test_split(X, y, test_size=0.2, random_state=0)
model = RandomForestClassifier().fit(X_tr, y_tr)
print("Final Validation Performance:", accuracy_score(y_va, model.predict(X_va)))
