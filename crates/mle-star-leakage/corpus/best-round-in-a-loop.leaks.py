# expect: chosen-on-scored-rows 16
import numpy as np
import pandas as pd
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import train_test_split

df = pd.read_csv("flats.csv")
X, y = df.drop(columns=["rent"]), df["rent"]
X_tr, X_va, y_tr, y_va = train_test_split(X, y, test_size=0.2, random_state=0)
best_rmse, best_n = float("inf"), None
for n in range(50, 2000, 50):
    model = GradientBoostingRegressor(n_estimators=n, random_state=0)
    model.fit(X_tr, y_tr)
    rmse = np.sqrt(mean_squared_error(y_va, model.predict(X_va)))
    if rmse < best_rmse:
        best_rmse, best_n = rmse, n
print(f"Final Validation Performance: {best_rmse}")
