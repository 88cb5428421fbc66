# expect: selected-before-split 11
import pandas as pd
from catboost import CatBoostClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

df = pd.read_csv("claims.csv")
y = df["claim"]
X = df.drop(columns=["claim"])
full = CatBoostClassifier(iterations=300, verbose=0)
full.fit(X, y)
useless = [name for name, imp in zip(X.columns, full.get_feature_importance()) if imp < 0.1]
X = X.drop(columns=useless)

aucs = []
for trn, val in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
    model = CatBoostClassifier(iterations=1000, verbose=0)
    model.fit(X.iloc[trn], y.iloc[trn])
    aucs.append(roc_auc_score(y.iloc[val], model.predict_proba(X.iloc[val])[:, 1]))
print(f"Final Validation Performance: {sum(aucs) / 5}")
