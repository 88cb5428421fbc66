# expect: target-statistics 8
import pandas as pd
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import train_test_split
TARGETS = ["heating", "cooling"]
houses = pd.read_csv("./input/train.csv")
houses["town_cooling"] = houses.groupby("town")["cooling"].transform("mean")
fit, val = train_test_split(houses, test_size=0.2, random_state=3)
features = ["area", "windows", "town_cooling"]
model = ExtraTreesRegressor(n_estimators=300, random_state=3)
model.fit(fit[features], fit[TARGETS])
score = mean_absolute_error(val[TARGETS], model.predict(val[features]))
print(f"Final Validation Performance: {score}")
