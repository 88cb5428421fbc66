import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import train_test_split


def jitter(X, y, copies=3):
    Xs, ys = [X], [y]
    for _ in range(copies):
        Xs.append(X + np.random.normal(0, 0.01, size=X.shape))
        ys.append(y)
    return np.vstack(Xs), np.concatenate(ys)


df = pd.read_csv("yield.csv")
X, y = df.drop(columns=["yield"]).values, df["yield"].values
X_tr, X_va, y_tr, y_va = train_test_split(X, y, test_size=0.2, random_state=3)
X_tr, y_tr = jitter(X_tr, y_tr)
model = RandomForestRegressor().fit(X_tr, y_tr)
print(f"Final Validation Performance: {mean_squared_error(y_va, model.predict(X_va)) ** 0.5}")
