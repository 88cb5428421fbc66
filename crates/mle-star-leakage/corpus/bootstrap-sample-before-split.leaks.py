# expect: resampled-before-split 8
import pandas as pd
from lightgbm import LGBMRegressor
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import train_test_split

frame = pd.read_csv("./input/rides.csv")
frame = frame.sample(n=20000, replace=True, random_state=1)
fit, check = train_test_split(frame, test_size=0.2, random_state=1)
inputs = ["distance", "hour", "passengers"]
model = LGBMRegressor(n_estimators=500)
model.fit(fit[inputs], fit["fare"])
mae = mean_absolute_error(check["fare"], model.predict(check[inputs]))
print("Final Validation Performance: " + str(mae))
