# expect: target-statistics 10
import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_absolute_error


def add_features(df):
    df = df.copy()
    for window in [3, 7]:
        df[f"median_{window}"] = df["load"].rolling(window, center=True).median()
    return df.fillna(0)


df = add_features(pd.read_csv("load.csv"))
X, y = df.drop(columns=["load", "time"]), df["load"]
n = int(len(df) * 0.75)
model = Ridge().fit(X[:n], y[:n])
print("Final Validation Performance:", mean_absolute_error(y[n:], model.predict(X[n:])))
