import pandas as pd
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import train_test_split

df = pd.read_csv("./input/load.csv")
df["when"] = pd.to_datetime(df["when"])
df = df.sort_values("when").reset_index(drop=True)
y = df["load"]
X = df[["temp", "hour"]]
X_tr, X_va, y_tr, y_va = train_test_split(X, y, test_size=0.2, shuffle=False)
model = RandomForestRegressor().fit(X_tr, y_tr)
print("Final Validation Performance:", mean_squared_error(y_va, model.predict(X_va)))
