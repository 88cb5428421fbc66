# expect: scored-on-training-rows 20
import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Ridge, RidgeCV
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import KFold, cross_val_predict

df = pd.read_csv("input/houses.csv")
y = np.log(df["price"])
X = df[["beds", "baths", "sqft", "lot"]]
cv = KFold(5, shuffle=True, random_state=0)
level1 = np.column_stack([
    cross_val_predict(RandomForestRegressor(n_estimators=200), X, y, cv=cv),
    cross_val_predict(Ridge(), X, y, cv=cv),
])
meta = RidgeCV()
meta.fit(level1, y)
final = meta.predict(level1)
rmse = np.sqrt(mean_squared_error(y, final))
print(f"Final Validation Performance: {rmse:.5f}")
