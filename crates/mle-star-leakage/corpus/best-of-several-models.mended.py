import pandas as pd
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.model_selection import cross_val_score, train_test_split

df = pd.read_csv("./input/train.csv")
X, y = df.drop(columns=["label"]), df["label"]
X_tr, X_va, y_tr, y_va = train_test_split(X, y, random_state=0)
models = {"lr": LogisticRegression(), "rf": RandomForestClassifier(), "gb": GradientBoostingClassifier()}
scores = {}
for name, model in models.items():
    scores[name] = cross_val_score(model, X_tr, y_tr, cv=5).mean()
best = max(scores, key=scores.get)
final = RandomForestClassifier().fit(X_tr, y_tr)
print("Final Validation Performance:", accuracy_score(y_va, final.predict(X_va)))
