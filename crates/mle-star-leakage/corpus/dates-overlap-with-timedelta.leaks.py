# expect: same-rows 12
import numpy as np
import pandas as pd
from sklearn.metrics import mean_squared_error
from xgboost import XGBRegressor


def split(frame, days=28):
    cutoff = frame["day"].max() - pd.Timedelta(days=days)
    start = frame["day"].max() - pd.Timedelta(days=365)
    fit = frame[frame["day"] > start]
    check = frame[frame["day"] > cutoff]
    return fit, check


frame = pd.read_csv("visits.csv", parse_dates=["day"])
cols = ["weekday", "shop", "promo"]
fit, check = split(frame)
model = XGBRegressor().fit(fit[cols], fit["visits"])
rmse = np.sqrt(mean_squared_error(check["visits"], model.predict(check[cols])))
print(f"Final Validation Performance: {rmse}")
