import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_absolute_error

data = pd.read_csv("series.csv")
target = "value"
train = data.iloc[100:1000]
valid = data.iloc[1000:1400]
cols = [c for c in data.columns if c != target]
model = Ridge().fit(train[cols], train[target])
print("Final Validation Performance:", mean_absolute_error(valid[target], model.predict(valid[cols])))
