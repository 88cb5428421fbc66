import numpy as np
import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_absolute_error

sales = pd.read_csv("input/train.csv", parse_dates=["day"]).sort_values("day")
# The value of today predicts that of tomorrow.
sales["tomorrow"] = sales["sales"].shift(-1)
sales["lag"] = sales["sales"].shift(7)
sales = sales.dropna()
fit, val = sales.iloc[:-60], sales.iloc[-60:]
model = Ridge().fit(fit[["sales", "lag"]], fit["tomorrow"])
first = mean_absolute_error(val["tomorrow"], model.predict(val[["sales", "lag"]]))
# The row before, without a new name.
X = sales[["sales", "lag"]].iloc[:-1]
y = sales["sales"].iloc[1:]
cut = len(X) - 60
second = Ridge().fit(X[:cut], y[:cut])
score = mean_absolute_error(y[cut:], second.predict(X[cut:]))
# The column holds other values under the same name.
lagged = sales.copy()
lagged["sales"] = lagged["sales"].shift(1)
whole = sales[["sales", "lag"]].shift(1)[["sales", "lag"]]
early = np.arange(len(sales)) < 300
third = Ridge().fit(lagged[["sales", "lag"]][early], sales["sales"][early])
fourth = Ridge().fit(whole[early], sales["sales"][early])
more = mean_absolute_error(sales["sales"][~early], third.predict(lagged[["sales", "lag"]][~early]))
most = mean_absolute_error(sales["sales"][~early], fourth.predict(whole[~early]))
print(f"Final Validation Performance: {(first + score + more + most) / 4}")
