# expect: selected-before-split 12
import pandas as pd, numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.metrics import roc_auc_score
class FeatureSelector:
    def __init__(self, n):
        self.n = n
        self.selected = []
    def fit(self, X, y):
        rf = RandomForestClassifier(n_estimators=100)
        rf.fit(X, y)
        imp = rf.feature_importances_
        order = np.argsort(imp)[::-1]
        self.selected = [X.columns[i] for i in order[: self.n]]
        return self
    def transform(self, X):
        return X[self.selected]
    def fit_transform(self, X, y):
        return self.fit(X, y).transform(X)
def main():
    df = pd.read_csv("train.csv")
    y = df.pop("target")
    X = FeatureSelector(30).fit_transform(df, y)
    oof = np.zeros(len(X))
    skf = StratifiedKFold(n_splits=5, shuffle=True, random_state=42)
    for tr, va in skf.split(X, y):
        m = RandomForestClassifier(n_estimators=500)
        m.fit(X.iloc[tr], y.iloc[tr])
        oof[va] = m.predict_proba(X.iloc[va])[:, 1]
    print(f"Final Validation Performance: {roc_auc_score(y, oof):.5f}")
main()
