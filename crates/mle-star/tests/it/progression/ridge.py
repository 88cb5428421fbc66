import numpy as np
import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.metrics import root_mean_squared_error
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

train = pd.read_csv("./input/train.csv")
folds = pd.read_csv("./input/folds.csv").set_index("id").loc[train["id"], "fold"].to_numpy()
y = train["target"].to_numpy()

# Features
features = train.drop(columns=["target"])
features["sex"] = (features["sex"] == "a").astype(float)
features["bmi_bp"] = features["bmi"] * features["bp"]
features = features.drop(columns=["id"])

# Training
params = {"alpha": 3.0, "fit_intercept": True}
oof = np.zeros(len(train))
for fold in np.unique(folds):
    fit, held = folds != fold, folds == fold
    model = make_pipeline(StandardScaler(), Ridge(**params))
    model.fit(features[fit], y[fit])
    oof[held] = model.predict(features[held])
    print(f"Fold {fold + 1}: {root_mean_squared_error(y[held], oof[held]):.2f}")

pd.DataFrame({"id": train["id"], "target": oof}).to_csv("./final/validation_predictions.csv", index=False)
final_validation_score = root_mean_squared_error(y, oof)
print(f"Final Validation Performance: {final_validation_score}")
