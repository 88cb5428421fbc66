import numpy as np
import pandas as pd
from lightgbm import LGBMRegressor
from sklearn.model_selection import KFold
from sklearn.metrics import mean_absolute_error
train_data = pd.read_csv("./input/train.csv")
cols = train_data.select_dtypes(include=[np.number]).columns
train_data[cols] = train_data[cols].fillna(train_data[cols].median())
X = train_data.drop(["row_id", "target"], axis=1)
y = train_data["target"]
model = LGBMRegressor()
scores = []
for a, b in KFold(5).split(X):
    model.fit(X.iloc[a], y.iloc[a])
    scores.append(mean_absolute_error(y.iloc[b], model.predict(X.iloc[b])))
print(f"Final Validation Performance: {np.mean(scores)}")
