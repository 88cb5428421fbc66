import pandas as pd
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.metrics import mean_absolute_percentage_error

sales = pd.read_csv("./input/sales.csv")
n = 1200
fit_part = sales[:1200]
check_part = sales[1200:]
x_cols = ["price", "promo", "holiday"]
gbr = GradientBoostingRegressor()
gbr.fit(fit_part[x_cols], fit_part["units"])
error = mean_absolute_percentage_error(check_part["units"], gbr.predict(check_part[x_cols]))
print("Final Validation Performance: %.4f" % error)
