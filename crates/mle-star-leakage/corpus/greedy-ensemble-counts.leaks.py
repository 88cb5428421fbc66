# expect: chosen-on-scored-rows 21
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_predict

df = pd.read_csv("train.csv")
X, y = df.drop(columns=["y"]), df["y"]
preds = [
    cross_val_predict(model, X, y, cv=5, method="predict_proba")[:, 1]
    for model in (LogisticRegression(), RandomForestClassifier(), RandomForestClassifier(max_depth=4))
]


def hill_climb(preds, y, rounds=50):
    total, chosen, best = np.zeros(len(y)), [], 0.0
    for _ in range(rounds):
        scores = [roc_auc_score(y, (total + p) / (len(chosen) + 1)) for p in preds]
        pick = int(np.argmax(scores))
        total = total + preds[pick]
        chosen.append(pick)
        best = scores[pick]
    return best


print(f"Final Validation Performance: {hill_climb(preds, y)}")
