# expect: chosen-on-scored-rows 14
import numpy as np
import pandas as pd
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

df = pd.read_csv("visits.csv")
X, y = df.drop(columns=["bought"]), df["bought"]
X_tr, X_va, y_tr, y_va = train_test_split(X, y, test_size=0.25, random_state=0)
model = GradientBoostingClassifier(n_estimators=800)
model.fit(X_tr, y_tr)
aucs = [roc_auc_score(y_va, p[:, 1]) for p in model.staged_predict_proba(X_va)]
best = int(np.argmax(aucs))
print("rounds:", best + 1)
print(f"Final Validation Performance: {aucs[best]:.5f}")
