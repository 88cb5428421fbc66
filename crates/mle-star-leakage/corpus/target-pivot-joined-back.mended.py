import pandas as pd
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import train_test_split

sales = pd.read_csv("input/sales.csv", parse_dates=["day"])
sales["weekday"] = sales["day"].dt.dayofweek
counts = sales.groupby("store").size().rename("units_profile").reset_index()
sales = sales.merge(counts, on="store", how="left")
y = sales["units"]
X = sales.drop(columns=["units", "day"])
X_a, X_b, y_a, y_b = train_test_split(X, y, test_size=0.3, random_state=2)
model = GradientBoostingRegressor(n_estimators=300).fit(X_a, y_a)
print("Final Validation Performance:", mean_absolute_error(y_b, model.predict(X_b)))
