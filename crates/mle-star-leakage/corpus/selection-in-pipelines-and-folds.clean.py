import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import RFE, SelectFromModel, SelectKBest, f_classif
from sklearn.linear_model import Lasso, LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import Pipeline

df = pd.read_csv("train.csv")
X, y = df.drop(columns=["y"]), df["y"]
cv = StratifiedKFold(5, shuffle=True, random_state=0)
pipe = Pipeline([("rfe", RFE(LogisticRegression(), n_features_to_select=10)), ("clf", LogisticRegression())])
print("elimination", cross_val_score(pipe, X, y, cv=cv).mean())
scores, importances = [], pd.DataFrame(index=X.columns)
for fold, (trn, val) in enumerate(cv.split(X, y)):
    X_trn, X_val, y_trn, y_val = X.iloc[trn], X.iloc[val], y.iloc[trn], y.iloc[val]
    rf = RandomForestClassifier(200).fit(X_trn, y_trn)
    ranked = pd.Series(rf.feature_importances_, index=X_trn.columns).sort_values(ascending=False)
    kept = ranked.head(20).index.tolist()
    kbest = SelectKBest(f_classif, k=15).fit(X_trn[kept], y_trn)
    kept = [name for name, use in zip(kept, kbest.get_support()) if use]
    model = LGBMClassifier().fit(X_trn[kept], y_trn)
    importances[fold] = pd.Series(model.feature_importances_, index=kept)
    scores.append(roc_auc_score(y_val, model.predict_proba(X_val[kept])[:, 1]))
importances.mean(axis=1).sort_values().to_csv("importances.csv")
print(f"Final Validation Performance: {np.mean(scores):.5f}")
best = SelectFromModel(Lasso(0.01)).fit(X, y)
final = LGBMClassifier().fit(best.transform(X), y)
