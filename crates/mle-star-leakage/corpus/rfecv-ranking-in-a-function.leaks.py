# expect: selected-before-split 12
import numpy as np
import pandas as pd
from sklearn.feature_selection import RFECV
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import train_test_split


def choose_columns(X, y, top=15):
    selector = RFECV(Ridge(alpha=1.0), step=1, cv=3)
    selector.fit(X.values, y.values)
    order = np.argsort(selector.ranking_)
    return [X.columns[i] for i in order[:top]]


def main():
    data = pd.read_csv("houses.csv")
    target = "price"
    features = [c for c in data.columns if c != target]
    features = choose_columns(data[features], data[target])
    train, valid = train_test_split(data, test_size=0.2, random_state=1)
    model = Ridge(alpha=1.0)
    model.fit(train[features], train[target])
    pred = model.predict(valid[features])
    rmse = np.sqrt(mean_squared_error(valid[target], pred))
    print(f"Final Validation Performance: {rmse:.5f}")


if __name__ == "__main__":
    main()
