# expect: same-rows 8
import pandas as pd
from sklearn.metrics import mean_squared_error
from sklearn.neighbors import KNeighborsRegressor

table = pd.read_csv("./input/train.csv")
inputs = ["lat", "lon", "age"]
valid = table.sample(2000, random_state=5)
train = table
knn = KNeighborsRegressor(n_neighbors=10)
knn.fit(train[inputs], train["value"])
rmse = mean_squared_error(valid["value"], knn.predict(valid[inputs])) ** 0.5
print("Final Validation Performance:", rmse)
