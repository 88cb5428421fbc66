import lightgbm as lgb
import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

train = pd.read_csv("./input/train.csv")
weather = pd.read_csv("./input/weather.csv")
y = train["delayed"]

# Features
features = train.drop(columns=["delayed"]).merge(weather, on=["origin", "time_hour"], how="left")
features["dep_minute"] = features["sched_dep_time"] // 100 * 60 + features["sched_dep_time"] % 100
for name in ["carrier", "tailnum", "origin", "dest"]:
    features[name] = features[name].astype("category")
features = features.drop(columns=["id", "time_hour"])

# Training
params = {"n_estimators": 400, "learning_rate": 0.03, "num_leaves": 31, "random_state": 42, "verbose": -1}
folds = StratifiedKFold(n_splits=5, shuffle=True, random_state=42)
oof = np.zeros(len(train))
for number, (fit, held) in enumerate(folds.split(features, y), 1):
    model = lgb.LGBMClassifier(**params)
    model.fit(features.iloc[fit], y.iloc[fit])
    oof[held] = model.predict_proba(features.iloc[held])[:, 1]
    print(f"Fold {number}: {roc_auc_score(y.iloc[held], oof[held]):.4f}")

pd.DataFrame({"id": train["id"], "delayed": oof}).to_csv("./final/validation_predictions.csv", index=False)
final_validation_score = roc_auc_score(y, oof)
print(f"Final Validation Performance: {final_validation_score}")
