import pandas as pd
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from xgboost import XGBClassifier

df = pd.read_csv("input/train.csv")
X, y = df.drop(columns=["churn"]), df["churn"]
X_tr, X_va, y_tr, y_va = train_test_split(X, y, test_size=0.2, random_state=0)
results = []
for seed in range(50):
    model = XGBClassifier(n_estimators=200, subsample=0.7, random_state=seed)
    model.fit(X_tr, y_tr)
    results.append(roc_auc_score(y_va, model.predict_proba(X_va)[:, 1]))
print("Final Validation Performance:", sum(results) / len(results))
