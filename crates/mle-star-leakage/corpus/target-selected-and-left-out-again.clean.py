import numpy as np
import pandas as pd
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import train_test_split

columns = ["price", "size", "rooms"]
table = pd.read_csv("input/train.csv")[columns].dropna()
fit, val = train_test_split(table, random_state=0)
scores = []
for x_fit, x_val in [
    (fit.drop(columns="price"), val.drop(columns=["price"])),
    (fit.iloc[:, 1:], val.iloc[:, 1:]),
    (fit.loc[:, fit.columns != "price"], val.loc[:, val.columns != "price"]),
    (fit[[name for name in columns if name != "price"]], val[columns[1:]]),
    (fit[columns].values[:, 1:], val[columns].to_numpy()[:, 1:]),
    (fit[fit.columns.difference(["price"])], val[val.columns.difference(["price"])]),
    (fit.select_dtypes("number").drop("price", axis=1), val.select_dtypes("number").drop("price", axis=1)),
]:
    model = ExtraTreesRegressor(n_estimators=100, random_state=0).fit(x_fit, np.log1p(fit["price"]))
    scores.append(mean_squared_error(np.log1p(val["price"]), model.predict(x_val)) ** 0.5)
    plain = ExtraTreesRegressor(n_estimators=100, random_state=0).fit(x_fit, fit["price"])
    scores.append(mean_squared_error(val["price"], plain.predict(x_val)) ** 0.5)
popped = fit.copy()
answers = popped.pop("price")
inner = val.copy()
truth = inner.pop("price")
model = ExtraTreesRegressor(random_state=0).fit(popped, answers)
scores.append(mean_squared_error(truth, model.predict(inner)) ** 0.5)
x = fit[columns]
del x["price"]
model = ExtraTreesRegressor(random_state=0).fit(x, fit["price"])
scores.append(mean_squared_error(truth, model.predict(inner)) ** 0.5)
print(f"Final Validation Performance: {np.mean(scores)}")
