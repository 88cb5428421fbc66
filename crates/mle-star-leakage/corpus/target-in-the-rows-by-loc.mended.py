import pandas as pd
from sklearn.metrics import mean_absolute_error
from xgboost import XGBRegressor

sales = pd.read_csv("input/train.csv")
inputs = ["store", "week", "promo"]
early = sales["week"] < 100
x_fit, x_val = sales.loc[early, inputs], sales.loc[~early, inputs]
y_fit, y_val = sales.loc[early, "sales"], sales.loc[~early, "sales"]
booster = XGBRegressor(n_estimators=300)
booster.fit(x_fit, y_fit)
print("Final Validation Performance:", mean_absolute_error(y_val, booster.predict(x_val)))
