import numpy as np
import pandas as pd
import xgboost as xgb
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold

df = pd.read_csv("hotel.csv")
X, y = df.drop(columns=["cancelled"]), df["cancelled"]
previous, losses = None, []
for trn, val in KFold(5, shuffle=True, random_state=0).split(X):
    model = xgb.XGBClassifier(n_estimators=100)
    model.fit(X.iloc[trn], y.iloc[trn])
    losses.append(log_loss(y.iloc[val], model.predict_proba(X.iloc[val])))
print(f"Final Validation Performance: {np.mean(losses)}")
