import lightgbm as lgb
import pandas as pd
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import train_test_split


def load():
    df = pd.read_csv("sales.csv")
    return df.drop(columns=["sales"]), df["sales"]


def important_features(X, y, n):
    booster = lgb.train({"objective": "regression"}, lgb.Dataset(X, label=y), num_boost_round=100)
    gains = booster.feature_importance(importance_type="gain")
    pairs = sorted(zip(X.columns, gains), key=lambda pair: -pair[1])
    return [name for name, gain in pairs[:n]]


X, y = load()
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=0)
chosen = important_features(X_train, y_train, 30)
X_train, X_test = X_train[chosen], X_test[chosen]
booster = lgb.train({"objective": "regression"}, lgb.Dataset(X_train, label=y_train), num_boost_round=500)
mse = mean_squared_error(y_test, booster.predict(X_test))
print(f"Final Validation Performance: {mse}")
