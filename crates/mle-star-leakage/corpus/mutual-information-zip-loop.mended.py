import pandas as pd
from sklearn.feature_selection import mutual_info_classif
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

df = pd.read_csv("marketing.csv")
X = df.drop("response", axis=1)
y = df["response"]
X_tr, X_va, y_tr, y_va = train_test_split(X, y, test_size=0.2, random_state=10)
mi = mutual_info_classif(X_tr, y_tr, random_state=0)
mi_scores = dict(zip(X.columns, mi))
keep = [c for c, v in mi_scores.items() if v > 0.01]
clf = LogisticRegression().fit(X_tr[keep], y_tr)
print("Final Validation Performance:", roc_auc_score(y_va, clf.predict_proba(X_va[keep])[:, 1]))
