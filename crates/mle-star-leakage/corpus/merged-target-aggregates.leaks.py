# expect: target-statistics 10
import numpy as np
import pandas as pd
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import KFold
from xgboost import XGBRegressor


def add_price_stats(frame, source):
    stats = source.groupby("model")["price"].agg(["mean", "std"]).reset_index()
    stats.columns = ["model", "model_price_mean", "model_price_std"]
    return frame.merge(stats, on="model", how="left")


def main():
    train = pd.read_csv("./input/cars.csv")
    train["age"] = 2024 - train["year"]
    train = add_price_stats(train, train)
    folds = KFold(n_splits=5, shuffle=True, random_state=3)
    fold_scores = []
    for fit_rows, valid_rows in folds.split(train):
        fit, valid = train.iloc[fit_rows], train.iloc[valid_rows]
        columns = [c for c in fit.columns if c not in ("price", "id", "model")]
        model = XGBRegressor(n_estimators=400, max_depth=6)
        model.fit(fit[columns], fit["price"])
        fold_scores.append(mean_absolute_error(valid["price"], model.predict(valid[columns])))
    print(f"Final Validation Performance: {sum(fold_scores) / len(fold_scores):.3f}")


if __name__ == "__main__":
    main()
