import numpy as np
import pandas as pd
from imblearn.over_sampling import RandomOverSampler
from sklearn.metrics import average_precision_score
from sklearn.model_selection import StratifiedKFold
from xgboost import XGBClassifier

train = pd.read_csv("../input/claims.csv")
y = train["fraud"].values
X = train.drop(columns=["fraud", "policy"]).values
ros = RandomOverSampler(random_state=4)
oof = np.zeros(len(X))
for trn, val in StratifiedKFold(5, shuffle=True, random_state=4).split(X, y):
    X_fit, y_fit = X[trn], y[trn]
    X_fit, y_fit = ros.fit_resample(X_fit, y_fit)
    model = XGBClassifier(n_estimators=200, max_depth=4)
    model.fit(X_fit, y_fit)
    oof[val] = model.predict_proba(X[val])[:, 1]
print(f"Final Validation Performance: {average_precision_score(y, oof)}")
