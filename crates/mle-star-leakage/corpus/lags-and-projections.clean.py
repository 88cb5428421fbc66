import pandas as pd
from sklearn.cross_decomposition import PLSRegression
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import mean_absolute_error

df = pd.read_csv("sales.csv", parse_dates=["date"])
df = df.sort_values(["store", "date"])
df["lag7"] = df.groupby("store")["sales"].shift(7)
df["mean_lag"] = df.groupby("store")["lag7"].transform(lambda s: s.rolling(7).mean())
df["level"] = df.groupby("store")["sales"].transform(lambda s: s.shift(1).expanding().mean())
df["trend"] = df["sales"].shift(28).rolling(28).mean()
lagged = df.groupby("store")["sales"].shift(1)
df["recent"] = lagged.groupby(df["store"]).rolling(3).mean().reset_index(0, drop=True)
df["price_mean"] = df["price"].rolling(7).mean()
train, valid = df[df["date"] < "2023-01-01"], df[df["date"] >= "2023-01-01"]
cols = ["lag7", "mean_lag", "level", "trend", "recent", "price_mean"]
pls = PLSRegression().fit(train[cols], train["sales"])
print("Final Validation Performance:", mean_absolute_error(valid["sales"], pls.predict(valid[cols])))
lda = LinearDiscriminantAnalysis()
df["after"] = df["sales"].rolling(7).mean()
df.plot()
