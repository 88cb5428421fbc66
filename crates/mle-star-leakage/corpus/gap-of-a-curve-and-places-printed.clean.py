import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import accuracy_score, roc_auc_score, roc_curve
from sklearn.model_selection import train_test_split

df = pd.read_csv("clients.csv")
X, y = df.drop(columns=["left"]), df["left"]
scores = []
for seed in range(20):
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=seed)
    model = RandomForestClassifier(random_state=seed).fit(X_train, y_train)
    scores.append(accuracy_score(y_test, model.predict(X_test)))
    p = model.predict_proba(X_test)[:, 1]
    false, true, _ = roc_curve(y_test, p)
    print(f"AUC {roc_auc_score(y_test, p):.3f}, KS {np.max(true - false):.3f}")
scores = pd.Series(scores)
print("luckiest seed", scores.idxmax(), "unluckiest", int(np.argmin(scores)))
print("mean accuracy", scores.mean())
