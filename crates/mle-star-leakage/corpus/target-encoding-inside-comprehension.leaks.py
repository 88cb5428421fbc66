# expect: target-statistics 10
import numpy as np
import pandas as pd
from sklearn.linear_model import LinearRegression
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import train_test_split

df = pd.read_csv("./input/train.csv")
lookup = {name: group["price"].mean() for name, group in df.groupby("brand")}
df["brand_price"] = df["brand"].map(df.groupby("brand")["price"].median())
part, held = train_test_split(df, test_size=0.2, random_state=0)
cols = ["brand_price", "mileage"]
line = LinearRegression().fit(part[cols], part["price"])
rmse = np.sqrt(mean_squared_error(held["price"], line.predict(held[cols])))
print(f"Final Validation Performance: {rmse:.3f}")
