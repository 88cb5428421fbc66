import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score

df = pd.read_csv("input/power.csv").sort_values("hour")
cols = ["wind", "temp", "pressure"]
train = df.iloc[:9000]
valid = df.iloc[9000:]
model = Ridge().fit(train[cols], train["output"])
print(f"Final Validation Performance: {r2_score(valid['output'], model.predict(valid[cols])):.4f}")
