import numpy as np
import pandas as pd
from sklearn.linear_model import LinearRegression
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import train_test_split

df = pd.read_csv("./input/train.csv")
part, held = train_test_split(df, test_size=0.2, random_state=0)
level = part.groupby("brand")["price"].median()
part["brand_price"] = part["brand"].map(level)
held["brand_price"] = held["brand"].map(level).fillna(level.median())
cols = ["brand_price", "mileage"]
line = LinearRegression().fit(part[cols], part["price"])
rmse = np.sqrt(mean_squared_error(held["price"], line.predict(held[cols])))
print(f"Final Validation Performance: {rmse:.3f}")
