import pandas as pd
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import r2_score

crops = pd.read_csv("crops.csv")
X = crops.drop(columns=["harvest"])
y = crops["harvest"]
fit = crops["year"] < 2018
check = crops["year"] >= 2018
model = RandomForestRegressor().fit(X[fit], y[fit])
print("Final Validation Performance:", r2_score(y[check], model.predict(X[check])))
