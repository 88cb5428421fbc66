import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_absolute_error

df = pd.read_csv("a.csv")
for region in ["north", "south", "west"]:
    part = df[df["region"] == region]
    cheap = part[part["price"] <= 10]
    dear = part[part["price"] > 20]
    model = Ridge().fit(cheap[["a", "b"]], cheap["y"])
    print("Final Validation Performance:", mean_absolute_error(dear["y"], model.predict(dear[["a", "b"]])))
