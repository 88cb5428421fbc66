import numpy as np
import pandas as pd
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import KFold

df = pd.read_csv("wind.csv")
X, y = df.drop(columns=["power"]), df["power"]
model = GradientBoostingRegressor(n_estimators=100)
errors = []
for trn, val in KFold(5, shuffle=True, random_state=0).split(X):
    model.fit(X.iloc[trn], y.iloc[trn])
    errors.append(mean_absolute_error(y.iloc[val], model.predict(X.iloc[val])))
print(f"Final Validation Performance: {np.mean(errors)}")
