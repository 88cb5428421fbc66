# expect: same-rows 14
import numpy as np, pandas as pd, lightgbm as lgb
from sklearn.model_selection import KFold
from sklearn.metrics import mean_squared_error
df = pd.read_csv("d.csv")
X, y = df.drop(columns="y"), df["y"]
model = None
rm = []
for i, (tr, va) in enumerate(KFold(5, shuffle=True, random_state=1).split(X)):
    reg = lgb.LGBMRegressor(n_estimators=200)
    if model is None:
        reg.fit(X.iloc[tr], y.iloc[tr])
    else:
        reg.fit(X.iloc[tr], y.iloc[tr], init_model=model)
    model = reg
    rm.append(mean_squared_error(y.iloc[va], model.predict(X.iloc[va])) ** 0.5)
print("Final Validation Performance:", np.mean(rm))
