import numpy as np
import pandas as pd
from sklearn.linear_model import Ridge

df = pd.read_csv("./input/train.csv")
y = df["log_price"].values
X = df[["a", "b", "c"]].values
cut = int(len(df) * 0.8)
model = Ridge(alpha=0.5)
model.fit(X[:cut], y[:cut])
pred = model.predict(X[cut:])
rmse = np.sqrt(np.mean((y[cut:] - pred) ** 2))
print(f"Final Validation Performance: {rmse:.4f}")
