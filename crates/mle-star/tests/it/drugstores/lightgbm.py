import lightgbm as lgb
import numpy as np
import pandas as pd

train = pd.read_csv("./input/train.csv", parse_dates=["date"])
folds = pd.read_csv("./input/folds.csv").set_index("row_id").reindex(train["row_id"])["fold"].to_numpy()
y = np.log1p(train["target"].to_numpy())

# Features
features = train.drop(columns=["target"])
features["weekday"] = features["date"].dt.dayofweek
features["week"] = features["date"].dt.isocalendar().week.astype(int)
for name in ["store", "store_type", "assortment", "state"]:
    features[name] = features[name].astype("category")
features = features.drop(columns=["row_id"])

# Training
params = {"n_estimators": 400, "learning_rate": 0.03, "num_leaves": 31, "random_state": 42, "verbose": -1}
oof = np.full(len(train), np.nan)
for fold in range(5):
    held = folds == fold
    fit = train["date"] < train["date"][held].min()
    model = lgb.LGBMRegressor(**params)
    model.fit(features[fit].drop(columns=["date"]), y[fit])
    oof[held] = np.expm1(model.predict(features[held].drop(columns=["date"])))

held = ~np.isnan(oof)
truth, predicted = train["target"][held], oof[held]
errors = 200 * np.abs(truth - predicted) / (np.abs(truth) + np.abs(predicted))
pd.DataFrame({"row_id": train["row_id"][held], "target": predicted}).to_csv("./final/validation_predictions.csv", index=False)
final_validation_score = errors.mean()
print(f"Final Validation Performance: {final_validation_score}")
