# expect: target-statistics 13
import numpy as np
import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import TargetEncoder

df = pd.read_csv("./input/train.csv")
y = np.log1p(df["demand"])
numeric = df[["price", "promo", "temp"]].fillna(0.0)
te = TargetEncoder(smooth="auto")
encoded = te.fit_transform(df[["store", "item"]], y)
X = np.hstack([numeric.values, encoded])
X_train, X_valid, y_train, y_valid = train_test_split(X, y, test_size=0.2, random_state=42)
ridge = Ridge(alpha=2.0).fit(X_train, y_train)
print("Final Validation Performance: %.5f" % r2_score(y_valid, ridge.predict(X_valid)))
