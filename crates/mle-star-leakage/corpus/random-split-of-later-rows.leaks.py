# expect: rows-in-folds-of-groups 11
# facts: {"split": {"kind": "time", "column": "date"}}
import pandas as pd
from lightgbm import LGBMRegressor
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import train_test_split

sales = pd.read_csv("./input/sales.csv", parse_dates=["date"])
sales["month"] = sales["date"].dt.month
cols = ["month", "price", "promo"]
fit, check = train_test_split(sales, test_size=0.2, random_state=0)
model = LGBMRegressor().fit(fit[cols], fit["units"])
print("Final Validation Performance:", mean_absolute_error(check["units"], model.predict(check[cols])))
