import numpy as np
import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import TargetEncoder

df = pd.read_csv("./input/train.csv")
y = np.log1p(df["demand"])
numeric = df[["price", "promo", "temp"]].fillna(0.0)
n_train, n_valid, c_train, c_valid, y_train, y_valid = train_test_split(
    numeric, df[["store", "item"]], y, test_size=0.2, random_state=42)
te = TargetEncoder(smooth="auto")
X_train = np.hstack([n_train.values, te.fit_transform(c_train, y_train)])
X_valid = np.hstack([n_valid.values, te.transform(c_valid)])
ridge = Ridge(alpha=2.0).fit(X_train, y_train)
print("Final Validation Performance: %.5f" % r2_score(y_valid, ridge.predict(X_valid)))
