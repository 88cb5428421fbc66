# expect: selected-before-split 13
import lightgbm as lgb
import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

train = pd.read_csv("./input/train.csv")
y = train["target"]
X = train.drop(columns=["target", "ID_code"])

probe = lgb.LGBMClassifier(n_estimators=100)
probe.fit(X, y)
importance = pd.Series(probe.feature_importances_, index=X.columns)
keep = importance.sort_values(ascending=False).head(60).index
X = X[keep]

scores = []
for trn, val in StratifiedKFold(n_splits=5, shuffle=True, random_state=1).split(X, y):
    x_fit, x_val = X.iloc[trn], X.iloc[val]
    model = lgb.LGBMClassifier(n_estimators=500, learning_rate=0.03)
    model.fit(x_fit, y.iloc[trn])
    scores.append(roc_auc_score(y.iloc[val], model.predict_proba(x_val)[:, 1]))
print(f"Final Validation Performance: {np.mean(scores)}")
