# expect: same-rows 7
import pandas as pd
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import mean_absolute_error

df = pd.read_csv("./input/train.csv")
valid = df.sample(frac=0.2, random_state=0)
train = df
features = ["rooms", "area", "floor"]
model = RandomForestRegressor(n_estimators=300, random_state=0)
model.fit(train[features], train["rent"])
print("Final Validation Performance:", mean_absolute_error(valid["rent"], model.predict(valid[features])))
