# expect: selected-before-split 14
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import RFE
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline

df = pd.read_csv("churn.csv")
y = df["churned"]
X = df.drop(columns=["churned"])

forest = RandomForestClassifier(n_estimators=200, random_state=7)
rfe = RFE(forest, n_features_to_select=12)
rfe.fit(X, y)
kept = X.columns[rfe.support_]
print("kept:", list(kept))
X = X[kept]
model = forest
cv = StratifiedKFold(n_splits=5, shuffle=True, random_state=0)
scores = cross_val_score(model, X, y, cv=cv, scoring="roc_auc")
print(f"Final Validation Performance: {scores.mean()}")
